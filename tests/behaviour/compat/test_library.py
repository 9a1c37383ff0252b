"""`torch.library.custom_op`: functions as operations."""

from __future__ import annotations

import itertools

import pytest

NUMBERS = itertools.count()


def define(torch, function, annotations, **options):
    """An operation of a new name, with annotations that name the module's own types."""
    function.__annotations__ = annotations
    name = f"testlib{next(NUMBERS)}::{function.__name__}"
    return torch.library.custom_op(name, **{"mutates_args": (), **options})(function)


def scaled_square(torch):
    def square(x, k=2.0):
        assert not torch.is_grad_enabled() or not x.requires_grad
        return x.detach() * x.detach() * k

    return define(torch, square, {"x": torch.Tensor, "k": float, "return": torch.Tensor})


def with_gradient(torch):
    op = scaled_square(torch)

    def setup_context(ctx, inputs, output):
        x, k = inputs
        ctx.save_for_backward(x)
        ctx.k = k

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return grad * 2 * x * ctx.k, None

    op.register_autograd(backward, setup_context=setup_context)
    return op


def test_calls(torch):
    op = with_gradient(torch)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert op(x.detach()).tolist() == [2, 8] and op(x.detach(), k=3.0).tolist() == [3, 12]
    assert op(x=x.detach()).grad_fn is None
    y = op(x)
    space, name = op._qualname.split("::")
    assert y.grad_fn.name() == f"GeneratedBackwardFor_{space}_{name}_defaultBackward"
    assert torch.equal(getattr(getattr(torch.ops, space), name)(x), y)
    assert repr(op) == f"<CustomOpDef({op._qualname})>"


def test_gradients_to_any_order_and_hooks(torch):
    op = with_gradient(torch)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.shape) or t, lambda t: t):
        y = op(x, 3.0)
    assert packed == [(2,)]
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert first.tolist() == [6, 12]
    assert torch.autograd.grad(first.sum(), x)[0].tolist() == [6, 6]


def test_without_a_formula_backward_says_so(torch):
    op = scaled_square(torch)
    y = op(torch.ones(2, requires_grad=True))
    assert y.requires_grad
    with pytest.raises(RuntimeError, match=r"no autograd formula was registered. Please use register_autograd"):
        y.sum().backward()


def test_several_results_and_lists(torch):
    def mix(x, ys):
        return x * 2, ys[0] * 3 + ys[1]

    tensor = torch.Tensor
    op = define(torch, mix, {"x": tensor, "ys": list[tensor], "return": tuple[tensor, tensor]})
    op.register_autograd(lambda ctx, a, b: (a * 2, [b * 3, b]))
    x, y, z = (torch.ones(2, requires_grad=True) for _ in range(3))
    a, b = op(x, [y, z])
    assert a.tolist() == [2, 2] and b.tolist() == [4, 4]
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == [2, 2] and y.grad.tolist() == [3, 3] and z.grad.tolist() == [1, 1]


def test_writing_to_arguments(torch):
    def add_one(x):
        x.add_(1)

    op = define(torch, add_one, {"x": torch.Tensor, "return": None}, mutates_args={"x"})
    x = torch.zeros(2)
    before = x._version
    assert op(x) is None and x.tolist() == [1, 1] and x._version > before
    with pytest.raises(RuntimeError, match="Cannot register autograd formula for non-functional operator"):
        op.register_autograd(lambda ctx, g: g)


def test_results_may_not_be_arguments(torch):
    def same(x):
        return x

    op = define(torch, same, {"x": torch.Tensor, "return": torch.Tensor})
    with pytest.raises(RuntimeError, match="The output of this custom operator"):
        op(torch.ones(2))


def test_arguments_that_do_not_fit(torch):
    op = scaled_square(torch)
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x' but instead found type"):
        op(3)
    with pytest.raises(RuntimeError, match="is missing value for argument 'x'"):
        op()
    with pytest.raises(RuntimeError, match="Unknown keyword argument 'q' for operator"):
        op(torch.ones(1), q=3)


def test_schemas(torch):
    def function(x, n=3, s="ab", b=True, f=0.5, o=None, *, d):
        pass

    function.__annotations__ = {
        "x": list[torch.Tensor],
        "n": int,
        "s": str,
        "b": bool,
        "f": float,
        "o": torch.Tensor | None,
        "d": torch.dtype,
        "return": tuple[torch.Tensor, int],
    }
    assert torch.library.infer_schema(function, mutates_args={"x"}) == (
        '(Tensor(a0!)[] x, SymInt n=3, str s="ab", bool b=True, float f=0.5, Tensor? o=None, *, ScalarType d) -> '
        "(Tensor, SymInt)"
    )
    assert torch.library.infer_schema(function, mutates_args=(), op_name="f").startswith("f(Tensor[] x")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"x": None}, "Parameter x must have a type annotation"),
        ({"return": None}, "No return type annotation was provided"),
        ({"x": dict}, "Parameter x has unsupported type <class 'dict'>"),
        ({"return": str}, "Return has unsupported type <class 'str'>"),
    ],
)
def test_annotations_that_operations_do_not_take(torch, change, match):
    def function(x):
        pass

    annotations = {"x": torch.Tensor, "return": torch.Tensor, **change}
    function.__annotations__ = {k: v for k, v in annotations.items() if v is not None}
    with pytest.raises(ValueError, match=match):
        torch.library.infer_schema(function, mutates_args=())


def test_names_have_a_namespace(torch):
    def function(x):
        return x.clone()

    function.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    with pytest.raises(ValueError):
        torch.library.custom_op("without", mutates_args=())(function)


def test_registering_by_name(torch):
    op = scaled_square(torch)
    torch.library.register_autograd(op._qualname, lambda ctx, g: (g * 7, None))
    x = torch.ones(2, requires_grad=True)
    op(x).sum().backward()
    assert x.grad.tolist() == [7, 7]
    assert torch.library.register_fake(op._qualname, lambda x, k=2.0: torch.empty_like(x)) is not None


def test_kernels(torch):
    op = with_gradient(torch)
    op.register_kernel("cpu")(lambda x, k=2.0: x * 0 + 5)
    assert op(torch.ones(2)).tolist() == [5, 5]
    with op.set_kernel_enabled("cpu", enabled=False):
        assert op(torch.ones(2)).tolist() == [2, 2]
    assert op(torch.ones(2)).tolist() == [5, 5]


def test_kernels_of_some_kinds_of_devices(torch):
    def plus(x):
        return x + 1

    annotations = {"x": torch.Tensor, "return": torch.Tensor}
    op = define(torch, plus, annotations, device_types="cuda")
    with pytest.raises(NotImplementedError, match=r"Could not run .* with arguments from the 'CPU' backend"):
        op(torch.zeros(1))
    op.register_kernel(None)(lambda x: x + 2)
    assert op(torch.zeros(1)).item() == 2
    op.register_kernel(["cpu"])(lambda x: x + 3)
    op.register_kernel(None)(lambda x: x + 4)
    assert op(torch.zeros(1)).item() == 3


def test_vmap_calls_the_registered_rule(torch):
    def inner(x, y):
        return torch.tensor(float(x.numpy() @ y.numpy()))

    op = define(torch, inner, {"x": torch.Tensor, "y": torch.Tensor, "return": torch.Tensor})
    seen = []

    @op.register_vmap
    def rule(info, in_dims, x, y):
        seen.append((info.batch_size, in_dims, x.shape))
        return (x.movedim(in_dims[0], 0) * y).sum(1), 0

    x, y = torch.arange(6.0).reshape(2, 3), torch.ones(2, requires_grad=True)
    found = torch.vmap(op, (1, None))(x, y)
    assert found.tolist() == [3, 5, 7] and seen == [(3, (1, None), (2, 3))]
    found.sum().backward()
    assert y.grad.tolist() == [3, 12]
    assert torch.vmap(lambda one: one + op(y.detach(), y.detach()))(torch.zeros(2)).tolist() == [2, 2]


def test_vmap_without_a_rule_calls_for_each_example(torch):
    def both(x, k):
        return torch.from_numpy(x.detach().numpy() * k), torch.from_numpy(x.detach().numpy() + k)

    tensor = torch.Tensor
    op = define(torch, both, {"x": tensor, "k": float, "return": tuple[tensor, tensor]})
    op.register_autograd(lambda ctx, a, b: (a * 10 + b, None))
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    a, b = torch.vmap(op, (1, None))(x, 2.0)
    assert a.tolist() == [[0, 6], [2, 8], [4, 10]] and b.tolist() == [[2, 5], [3, 6], [4, 7]]
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == [[11] * 3] * 2
    nested = torch.vmap(torch.vmap(op, (0, None)), (0, None))(x.detach().unsqueeze(2), 2.0)[0]
    assert nested.shape == (2, 3, 1) and nested[1, 2].item() == 10
    with pytest.raises(RuntimeError, match="size 0"):
        torch.vmap(op, (0, None))(torch.ones(0, 2), 2.0)
