"""gradcheck and gradgradcheck: what they accept, what they find, what they say."""

from __future__ import annotations

from importlib import import_module

import pytest

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit"),
    pytest.mark.filterwarnings("ignore:Backwards compatibility"),
]


@pytest.fixture
def wrong(torch):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]  # should be doubled

    return Wrong.apply


def double(torch, *shape):
    return torch.linspace(0.5, 2.0, max(1, shape[0] if shape else 1), dtype=torch.float64).requires_grad_()


@pytest.mark.parametrize("fast", [False, True])
def test_right_gradients_pass(torch, fast):
    x, y = double(torch, 3), double(torch, 3)
    check = torch.autograd.gradcheck
    assert check(torch.sin, (x,), fast_mode=fast)
    assert check(torch.sin, x, fast_mode=fast)
    assert check(lambda a, b: (a * b, a / b, (a * b).sum()), (x, y), fast_mode=fast)
    assert check(lambda a, n, flag: a**n if flag else a, (x, 2, True), fast_mode=fast)
    assert check(torch.matmul, (x, y), check_batched_grad=True, fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_forward_mode(torch, fast):
    x, y = double(torch, 3), double(torch, 3)
    check = torch.autograd.gradcheck
    assert check(lambda a, b: (a * b).exp(), (x, y), check_forward_ad=True, fast_mode=fast)
    assert check(torch.sin, (x,), check_forward_ad=True, check_backward_ad=False, fast_mode=fast)
    z = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128, requires_grad=True)
    assert check(lambda a, b: a[:2] * b * b, (x, z), check_forward_ad=True, fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_complex(torch, fast):
    z = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128, requires_grad=True)
    for f in (lambda z: z * z, lambda z: z.abs(), lambda z: z.conj() * 2, lambda z: z.real * 3, lambda z: 1j * z.imag):
        assert torch.autograd.gradcheck(f, (z,), fast_mode=fast)
    assert torch.autograd.gradgradcheck(lambda z: z.abs() * z, (z,), fast_mode=fast)


def test_a_wrong_gradient_is_shown(torch, wrong):
    with pytest.raises(import_module(f"{torch.__name__}.autograd.gradcheck").GradcheckError) as told:
        torch.autograd.gradcheck(wrong, (double(torch, 2),))
    text = str(told.value)
    assert "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor([[1.0000, 0.0000]" in text
    assert "analytical:tensor([[0.5000, 0.0000]" in text


def test_a_wrong_gradient_is_shown_whole_in_fast_mode(torch, wrong):
    with pytest.raises(RuntimeError, match=r"The max per-element difference \(slow mode\) is: 2.0"):
        torch.autograd.gradcheck(wrong, (double(torch, 2),), fast_mode=True)


def test_a_wrong_complex_gradient_names_the_part(torch, wrong):
    z = torch.tensor([1 + 2j], dtype=torch.complex128, requires_grad=True)
    with pytest.raises(RuntimeError, match="While considering the imaginary part of complex outputs only, Jacobian"):
        torch.autograd.gradcheck(wrong, (z,))


def test_a_wrong_second_derivative_is_found(torch):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x * x.detach()  # right once, wrong twice

    x = double(torch, 2)
    assert torch.autograd.gradcheck(Wrong.apply, (x,))
    assert not torch.autograd.gradgradcheck(Wrong.apply, (x,), raise_exception=False)


def test_a_wrong_tangent_is_found(torch):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t * 3

    x = double(torch, 2)
    assert torch.autograd.gradcheck(Wrong.apply, (x,))
    with pytest.raises(RuntimeError, match="Jacobian computed with forward mode mismatch for output 0 with respect"):
        torch.autograd.gradcheck(Wrong.apply, (x,), check_forward_ad=True)


def test_no_exception_on_request(torch, wrong):
    assert torch.autograd.gradcheck(wrong, (double(torch, 2),), raise_exception=False) is False


def test_a_backward_that_changes_from_call_to_call(torch):
    calls = []

    class Restless(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            calls.append(1)
            return g * (2 + 1e-9 * len(calls))

    x = double(torch, 2)
    with pytest.raises(RuntimeError, match="Backward is not reentrant"):
        torch.autograd.gradcheck(Restless.apply, (x,))
    assert torch.autograd.gradcheck(Restless.apply, (x,), nondet_tol=1e-3)


def test_a_backward_that_does_not_use_its_gradient(torch):
    class Constant(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            return torch.ones(2, dtype=torch.float64)

    with pytest.raises(RuntimeError):
        torch.autograd.gradcheck(Constant.apply, (double(torch, 2),))


def test_undefined_gradients(torch):
    class Careless(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return torch.ones(2, dtype=torch.float64) if g is None else g * 2

    x = double(torch, 2)
    with pytest.raises(RuntimeError, match="Expected all input grads to be undefined or zero"):
        torch.autograd.gradcheck(Careless.apply, (x,))
    assert torch.autograd.gradcheck(Careless.apply, (x,), check_undefined_grad=False)


def test_results_without_gradient_must_not_depend_on_inputs(torch):
    x = double(torch, 2)
    assert torch.autograd.gradcheck(lambda a: a.long(), (x,))
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        torch.autograd.gradcheck(lambda a: a.detach(), (x,))


def test_bad_arguments(torch):
    x = double(torch, 2)
    check = torch.autograd.gradcheck
    with pytest.raises(ValueError, match="gradcheck expects at least one input tensor to require gradient"):
        check(torch.sin, (torch.ones(2),))
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        check(torch.sin, (torch.ones(1, dtype=torch.float64).expand(3).requires_grad_(),))
    with pytest.raises(AssertionError, match="at least one of check_forward_ad or check_backward_ad"):
        check(torch.sin, (x,), check_backward_ad=False)
    with pytest.raises(AssertionError, match="check_batched_grad=True requires check_backward_ad"):
        check(torch.sin, (x,), check_batched_grad=True, check_backward_ad=False, check_forward_ad=True)
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True requires check_forward_ad"):
        check(torch.sin, (x,), check_batched_forward_grad=True)
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        check(lambda a: a * 2, (torch.ones(2, requires_grad=True),), eps=1e-2)


def test_inputs_are_as_they_were(torch, real):
    x = double(torch, 3)
    before = x.tolist()
    assert torch.autograd.gradcheck(torch.sin, (x,))
    assert x.tolist() == before and x.grad is None and x._version == 0

    def fails(a):
        if a[0] != before[0]:
            raise KeyError("moved")
        return a * 2

    with pytest.raises(KeyError, match="moved"):
        torch.autograd.gradcheck(fails, (x,))
    assert real or x.tolist() == before  # torch leaves the element moved


def test_views_and_writes_inside(torch):
    y = torch.linspace(0.5, 2, 6, dtype=torch.float64).reshape(2, 3).requires_grad_()
    assert torch.autograd.gradcheck(torch.sin, (y[:, 1],))
    assert torch.autograd.gradcheck(lambda a: a.clone().mul_(2).add_(a), (y,))
    assert torch.autograd.gradcheck(lambda a: a.t()[1:], (y,))
    assert torch.autograd.gradcheck(torch.sin, (torch.ones(0, 2, dtype=torch.float64, requires_grad=True),))


@pytest.mark.parametrize("fast", [False, True])
def test_gradgradcheck(torch, fast):
    x, y = double(torch, 3), double(torch, 3)
    check = torch.autograd.gradgradcheck
    assert check(lambda a, b: (a * b).sin(), (x, y), fast_mode=fast)
    assert check(torch.exp, (x,), check_fwd_over_rev=True, fast_mode=fast)
    assert check(torch.exp, (x,), torch.ones(3, dtype=torch.float64, requires_grad=True), fast_mode=fast)
    assert check(torch.outer, (x, y), gen_non_contig_grad_outputs=True, fast_mode=fast)
    with pytest.raises(AssertionError, match="at least one of check_fwd_over_rev or check_rev_over_rev"):
        check(torch.sin, (x,), check_rev_over_rev=False)


def test_conversions_to_integers_have_no_gradient(torch):
    x = torch.ones(2, requires_grad=True)
    for y in (x.long(), x.to(torch.int32), x.bool(), x.int(), x.byte()):
        assert not y.requires_grad and y.grad_fn is None
    assert x.double().requires_grad


def test_strides_of_what_is_empty(torch):
    assert torch.ones(0, 2).stride() == (2, 1)
    assert torch.empty(2, 0, 3).stride() == (3, 3, 1)
    assert torch.tensor([[], []]).stride() == (1, 1)


@pytest.mark.parametrize("name", ["exp", "sin", "tanh", "sigmoid", "sqrt"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_forward_over_reverse_through_what_was_saved(torch, name, create_graph):
    forward_ad = torch.autograd.forward_ad
    x, v = torch.tensor([0.5, 1.0], dtype=torch.float64), torch.tensor([1.0, -2.0], dtype=torch.float64)
    function = getattr(torch, name)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v).requires_grad_()
        (g,) = torch.autograd.grad(function(dual).sum(), dual, create_graph=create_graph)
        along = forward_ad.unpack_dual(g).tangent
    y = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(function(y).sum(), y, create_graph=True)
    (expected,) = torch.autograd.grad(first, y, v)
    assert torch.allclose(along, expected)


def test_functions_with_ctx_under_batched_checks(torch, make_function):
    """A `Function` whose forward takes ctx has no rule for `vmap`, and needs none in gradcheck and `jacobian`."""
    calls = []

    def jvp(ctx, t):
        calls.append(t.shape)
        return t * 2

    cls = make_function(lambda ctx, x: x * 2, lambda ctx, g: g * 2, jvp=staticmethod(jvp))
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        cls.apply, (x,), check_forward_ad=True, check_batched_forward_grad=True, check_batched_grad=True
    )
    assert set(calls) == {(3,)}
    outer = make_function(lambda ctx, x: x * 3, lambda ctx, g: cls.apply(g) * 1.5)
    for create_graph in (False, True):
        (found,) = torch.autograd.grad(
            outer.apply(x), x, torch.eye(3, dtype=torch.float64), is_grads_batched=True, create_graph=create_graph
        )
        assert torch.equal(found, 3 * torch.eye(3, dtype=torch.float64))
    rows = torch.autograd.functional.jacobian(cls.apply, x.detach(), vectorize=True, strategy="forward-mode")
    assert torch.equal(rows, 2 * torch.eye(3, dtype=torch.float64))


def test_random_numbers_in_a_batched_backward(torch, make_function):
    cls = make_function(lambda ctx, x: x * 2, lambda ctx, g: g * torch.rand_like(g))
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="We do not yet support calling random operations inside of vmap"):
        torch.autograd.grad(cls.apply(x), x, torch.ones(3, 2), is_grads_batched=True)


def test_forward_mode_gives_every_input_a_tangent(torch):
    fw = torch.autograd.forward_ad
    seen = []

    def wrong(x, y):
        if fw._current_level >= 0:
            assert not x.requires_grad and not y.requires_grad
            primal, tangent = fw.unpack_dual(y)
            seen.append(tangent is None)
            y = fw.make_dual(primal, tangent * 1.1)
        return x + y, y

    x, y = (torch.rand(2, dtype=torch.float64, requires_grad=True) for _ in range(2))
    with pytest.raises(RuntimeError, match="forward mode mismatch for output 0 with respect to input 1"):
        torch.autograd.gradcheck(wrong, (x, y), check_forward_ad=True)
    assert seen and not any(seen)


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")  # torch
@pytest.mark.parametrize("fast_mode", [False, True])
def test_kinds_of_sparse_gradients(torch, make_function, fast_mode):
    def fewer_dimensions(x):
        y = x.clone()
        y.register_hook(lambda g: None if g is None else g.to_dense().to_sparse(1))
        return y.to_dense()

    x = torch.ones(2, 2, dtype=torch.float64, requires_grad=True).to_sparse()
    options = {"masked": True, "fast_mode": fast_mode}
    with pytest.raises(RuntimeError, match="grad is sparse tensor, but has incorrect sparse_dim 1, expected 2"):
        torch.autograd.gradcheck(fewer_dimensions, (x,), **options)
    assert torch.autograd.gradcheck(fewer_dimensions, (x,), raise_exception=False, **options) is False

    sparse = make_function(lambda ctx, x: x * 2, lambda ctx, g: (g * 2).to_sparse())
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"grad is incorrect layout .*sparse_coo is not .*strided"):
        torch.autograd.gradcheck(sparse.apply, (x,), fast_mode=fast_mode)
