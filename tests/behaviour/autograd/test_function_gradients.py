"""The backward of a custom function: which gradients it may return, and differentiating it."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("inputs", "returned", "message"),
    [
        (2, lambda g: g, r"function MyBackward returned an incorrect number of gradients \(expected 2, got 1\)"),
        (2, lambda g: (g, g, g), r"incorrect number of gradients \(expected 2, got 3\)"),
        (1, lambda g: (g, None, g), r"incorrect number of gradients \(expected 1, got 3\)"),
        (1, lambda g: (), r"incorrect number of gradients \(expected 1, got 0\)"),
        (1, lambda g: [g], r"expected Variable or None \(got list\)"),
        (1, lambda g: "a", r"expected Variable or None \(got str\)"),
        (1, lambda g: 3, r"expected Variable or None \(got int\)"),
        (1, lambda g: g.dtype, r"expected Variable or None \(got torch.dtype\)"),
        (1, lambda g: g.numpy(), r"expected Variable or None \(got numpy.ndarray\)"),
        (1, lambda g: g.new_ones(5), r"MyBackward returned an invalid gradient at index 0 - got \[5\] but"),
        (1, lambda g: g.new_ones(()), r"got \[\] but expected shape compatible with \[2\]"),
        (1, lambda g: g * 1j, "isFloatingType"),
    ],
)  # fmt: skip
def test_gradients_that_do_not_fit(make_function, leaf, inputs, returned, message):
    leaves = [leaf() for _ in range(inputs)]
    y = make_function(lambda ctx, *a: a[0] * 2, lambda ctx, g: returned(g)).apply(*leaves)
    with pytest.raises(RuntimeError, match=message):
        y.sum().backward()
    assert all(x.grad is None for x in leaves)


@pytest.mark.parametrize("shape", [(2,), (3, 2), (1, 2)])
def test_a_gradient_that_is_too_large_is_summed(torch, make_function, leaf, shape):
    x = leaf()
    make_function(None, lambda ctx, g: torch.ones(shape)).apply(x).sum().backward()
    assert x.grad.tolist() == [len(torch.ones(shape)) if len(shape) > 1 else 1.0] * 2


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "bool"])
def test_a_gradient_of_another_dtype_is_converted(torch, make_function, leaf, dtype):
    x = leaf()
    make_function(None, lambda ctx, g: torch.ones(2, dtype=getattr(torch, dtype))).apply(x).sum().backward()
    assert x.grad.dtype == torch.float32 and x.grad.tolist() == [1.0, 1.0]


def test_none_and_too_many_nones(make_function, leaf):
    x = leaf()
    make_function(None, lambda ctx, g: (g, None, None)).apply(x).sum().backward()
    make_function(None, lambda ctx, g: None).apply(x).sum().backward()
    make_function(None, lambda ctx, g: (None,)).apply(x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_gradients_of_arguments_that_want_none(torch, make_function, leaf):
    def product(ctx, a, b):
        return a * b

    x = leaf()
    for value in (torch.ones(7), None):  # of a constant tensor anything goes
        make_function(product, lambda ctx, g, v=value: (g, v)).apply(x, torch.ones(2)).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match=r"expected Variable or None \(got str\)"):
        make_function(product, lambda ctx, g: (g, "a")).apply(x, torch.ones(2)).sum().backward()
    with pytest.raises(
        RuntimeError,
        match="function MyBackward returned a gradient different than None at position 2, but the corresponding",
    ):
        make_function(product, lambda ctx, g: (g, g)).apply(x, 3.0).sum().backward()


def test_one_input_twice(make_function, leaf):
    x = leaf()
    make_function(lambda ctx, a, b: a * b, lambda ctx, g: (g, g * 3)).apply(x, x).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_tensors_inside_a_list_are_not_followed(make_function, leaf):
    assert not make_function(lambda ctx, items: items[0] * 2).apply([leaf()]).requires_grad


def test_a_parameter(torch, make_function):
    p = torch.nn.Parameter(torch.ones(2))
    for forward in (None, lambda ctx, x: x):
        y = make_function(forward).apply(p)
        assert type(y) is torch.Tensor
        y.sum().backward()
    assert type(p.grad) is torch.Tensor and p.grad.tolist() == [4.0, 4.0]


def test_vjp_is_backward(torch, make_function, leaf):
    base = torch.autograd.Function
    cls = type(base)(
        "V", (base,), {"forward": staticmethod(lambda ctx, x: x * 2), "vjp": staticmethod(lambda ctx, g: g * 7)}
    )
    x = leaf()
    cls.apply(x).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]
    both = make_function(None, None, vjp=staticmethod(lambda ctx, g: g * 7)).apply(x)
    with pytest.raises(
        RuntimeError, match="Implementing both 'backward' and 'vjp' for a custom Function is not allowed"
    ):
        both.sum().backward()
    none = type(base)("N", (base,), {"forward": staticmethod(lambda ctx, x: x * 2)}).apply(x)
    with pytest.raises(NotImplementedError, match="must implement either the backward or vjp method"):
        none.sum().backward()


def test_grad_mode_inside_backward(torch, make_function, leaf):
    seen = []

    def backward(ctx, g):
        seen.append((torch.is_grad_enabled(), g.requires_grad))
        return g * 2

    x = leaf()
    y = make_function(None, backward).apply(x).sum()
    torch.autograd.grad(y, x, retain_graph=True)
    torch.autograd.grad(y, x, create_graph=True)
    torch.autograd.grad(y, x, torch.ones((), requires_grad=True), create_graph=True)
    assert seen == [(False, False), (True, False), (True, True)]


def test_exceptions_pass_through(torch, make_function, leaf):
    class MineError(Exception):
        pass

    def fail(*args):
        torch.set_grad_enabled(True)
        raise MineError("stop", 3)

    x = leaf()
    with torch.no_grad(), pytest.raises(MineError) as caught:
        make_function(fail).apply(x)
    assert caught.value.args == ("stop", 3) and torch.is_grad_enabled()
    y = make_function(None, fail).apply(x).sum()
    with pytest.raises(MineError):
        y.backward()
    assert x.grad is None and torch.is_grad_enabled()


def test_one_function_inside_another(torch, make_function, leaf):
    inner = make_function(name="Inner")

    def forward(ctx, x):
        y = inner.apply(x)
        assert not y.requires_grad
        return y

    x = leaf()
    y = make_function(forward, lambda ctx, g: inner.apply(g), name="Outer").apply(x)
    assert y.grad_fn.name() == "OuterBackward"
    seed = torch.ones(2, requires_grad=True)
    (g,) = torch.autograd.grad(y, x, seed, create_graph=True)
    assert g.grad_fn.name() == "InnerBackward" and g.tolist() == [2.0, 2.0]
    g.sum().backward()
    assert seed.grad.tolist() == [2.0, 2.0]


def test_autograd_inside_backward(torch, make_function, leaf):
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_()
            ctx.y = ctx.x**3
        return ctx.y.detach()

    def backward(ctx, g):
        return torch.autograd.grad(ctx.y, ctx.x, g)[0]

    x = leaf()
    make_function(forward, backward).apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_once_differentiable_in_detail(torch, make_function, leaf):
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        assert not torch.is_grad_enabled()
        return g * 2, None

    assert backward.__name__ == "backward"
    x = leaf()
    y = make_function(lambda ctx, x, k: x * k, backward).apply(x, 2)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert not g.requires_grad
    y = make_function(lambda ctx, x, k: x * k, backward).apply(x, 2)
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    assert g.grad_fn.name() == "torch::autograd::Error" and str(g).endswith("grad_fn=<Error>)")
    with pytest.raises(
        RuntimeError, match="trying to differentiate twice a function that was marked with @once_differentiable"
    ):
        g.sum().backward()


# -- calling --


def test_keywords_take_the_places_of_parameters(torch, make_function, leaf):
    seen = []

    def forward(ctx, x, k=3, m=4, **rest):
        seen.append((ctx.needs_input_grad, k, m))
        return x * k

    cls, x = make_function(forward, lambda ctx, g: g), leaf()
    cls.apply(x).sum().backward()
    cls.apply(x, k=5)
    cls.apply(x=x)
    cls.apply(k=x, x=x)
    assert seen[0] == ((True,), 3, 4) and seen[1] == ((True, False), 5, 4) and seen[2] == ((True,), 3, 4)
    assert seen[3][0] == (True, True)
    with pytest.raises(TypeError, match=r"forward\(\) missing required argument: 'k' \(position 1\)"):
        cls.apply(m=x, x=x)
    with pytest.raises(TypeError, match=r"forward\(\) got an unexpected keyword argument 'z'"):
        cls.apply(x, z=1)
    with pytest.raises(RuntimeError, match=r"\(expected 2, got 1\)"):
        cls.apply(x, k=5).sum().backward()


def test_setup_context_gets_every_argument(torch, leaf):
    seen = []

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x, k=3):
            return x * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append((type(inputs), len(inputs), output.requires_grad, torch.is_grad_enabled()))
            ctx.k = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.k, None

    x = leaf()
    Scale.apply(x).sum().backward()
    Scale.apply(k=4, x=x).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0] and seen == [(tuple, 2, False, False)] * 2
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'q'"):
        Scale.apply(x, q=4)
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        Scale.apply()


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch, the first time
@pytest.mark.parametrize("save", ["save_for_backward", "save_for_forward"])
@pytest.mark.parametrize("what", ["input", "output"])
def test_setup_context_and_a_saved_input_that_is_returned(torch, func, leaf, save, what):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            getattr(ctx, save)(inputs[0] if what == "input" else output)

        @staticmethod
        def backward(ctx, g):
            return g

        @staticmethod
        def jvp(ctx, t):
            return t.view_as(t)

    one = torch.tensor(1.0)
    calls = [
        lambda: Same.apply(leaf()),
        lambda: Same.apply(leaf().clone()),
        lambda: Same.apply(one),  # where nothing is recorded, too
        lambda: func.grad(Same.apply)(one),
        lambda: func.jvp(Same.apply, (one,), (one,)),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="An input that has been returned as-is as output is being saved for ba"):
            call()


def test_instances_are_of_no_use(torch, make_function, leaf):
    with pytest.warns(DeprecationWarning, match="should not be instantiated. Methods on autograd functions are all st"):
        instance = make_function()()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward method is deprecated"):
        instance(leaf())
    assert instance.apply(leaf()).grad_fn.name() == "MyBackward"
    with pytest.warns(DeprecationWarning, match="InplaceFunction"):
        assert torch.autograd.function.InplaceFunction(True).inplace


def test_what_is_not_defined_says_so(torch, leaf):
    base = torch.autograd.Function
    for call, message in (
        (lambda: base.apply(leaf()), "You must implement the forward function"),
        (lambda: base.backward(None), "You must implement either the backward or vjp method"),
        (lambda: base.jvp(None), "You must implement the jvp function"),
        (lambda: base.setup_context(None, (), None), "setup_context is not implemented"),
        (lambda: base.vmap(None, None), "you must either override the vmap staticmethod or set generate_vmap_rule"),
    ):
        with pytest.raises(NotImplementedError, match=message):
            call()
    assert not base.generate_vmap_rule and not base.clear_saved_tensors_on_access and not base.boxed_grads_call


def test_classes(torch, make_function):
    module = torch.autograd.function
    assert sorted(module.__all__) == [
        "BackwardCFunction",
        "Function",
        "FunctionCtx",
        "FunctionMeta",
        "InplaceFunction",
        "NestedIOFunction",
        "once_differentiable",
    ]
    cls = make_function()
    assert isinstance(cls, module.FunctionMeta) and issubclass(cls, module.FunctionCtx)
    assert issubclass(cls._backward_cls, module.BackwardCFunction) and cls._backward_cls._forward_cls is cls
    first, second = (make_function()._backward_cls._autograd_function_id for _ in range(2))
    assert second == first + 1
