"""Results of programs that require grad: what a backward pass from them gives, checks, and frees."""

from __future__ import annotations

import gc
import weakref

import pytest

import gradpack as torch
from gradpack.compiler.compiled import Compiled

F = torch.nn.functional


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def programmed(function, *given):
    """Return a compiled function that has a program for arguments like these."""
    compiled = Compiled(function, fullgraph=True)
    for _ in range(3):
        compiled(*given)
    assert compiled.kept[0].checked[0]
    return compiled


def model():
    torch.manual_seed(0)
    # Without a bias before the normalization, whose gradient is nothing but rounding, which Adam would scale up.
    return torch.nn.Sequential(
        torch.nn.Linear(4, 8, bias=False),
        torch.nn.BatchNorm1d(8),
        torch.nn.Tanh(),
        torch.nn.Dropout(0.4),
        torch.nn.Linear(8, 3),
    )


def test_a_compiled_model_is_trained_from_outside():
    losses = []
    for compiled in (False, True):
        net = model()
        run = torch.compile(net) if compiled else net
        optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
        torch.manual_seed(1)
        found = []
        for step in range(8):
            x = numbers(6, 4, seed=step).requires_grad_()
            optimizer.zero_grad()
            loss = F.cross_entropy(run(x * 2), torch.arange(6) % 3)
            loss.backward()
            optimizer.step()
            found.append([loss.item(), *x.grad.flatten().tolist(), *net[1].running_mean.tolist()])
        losses.append(found)
        if compiled:
            assert len(run.compiled.kept) == 1
    for a, b in zip(*losses, strict=True):
        assert a == pytest.approx(b, rel=1e-4, abs=1e-5)


def test_several_results_of_which_some_are_used():
    w = numbers(3).requires_grad_()

    def f(x):
        return {"a": (x * w).tanh(), "b": [x.exp(), (w * w).sum()], "c": 3, "d": x.detach() + 1}

    x = numbers(2, 3).requires_grad_()
    compiled = programmed(f, x)
    for pick in (lambda r: r["a"].sum(), lambda r: r["b"][0].sum() * r["b"][1], lambda r: r["b"][1]):
        ours, theirs = compiled(x), f(x)
        assert ours["c"] == 3 and not ours["d"].requires_grad
        for g, h in zip(
            *(torch.autograd.grad(pick(r), (x, w), allow_unused=True) for r in (ours, theirs)), strict=True
        ):
            if h is None:
                assert g is None or not g.any()
            else:
                torch.testing.assert_close(g, h)


def test_gradients_of_any_layout():
    w = numbers(3, 3).requires_grad_()
    compiled = programmed(lambda x: x @ w, numbers(3, 3))
    x = numbers(3, 3, seed=5)
    compiled(x).T.backward(numbers(3, 3, seed=6))
    expected = w.grad
    w.grad = None
    (x @ w).T.backward(numbers(3, 3, seed=6))
    torch.testing.assert_close(expected, w.grad)
    w.grad = None
    compiled(x).sum().backward()  # whose gradient has strides of zero
    torch.testing.assert_close(w.grad, x.sum(0)[:, None].expand(3, 3))


def test_gradients_of_arguments_of_two_dtypes():
    compiled = torch.compile(lambda a, b: a + b)
    for _ in range(4):  # the second call is recorded
        a, b = numbers(3).requires_grad_(), numbers(2, 3).double().requires_grad_()
        compiled(a, b).sum().backward()
        assert a.grad.dtype is torch.float32 and a.grad.tolist() == [2, 2, 2]


def test_a_second_backward_pass_and_retain_graph():
    w = numbers(3).requires_grad_()
    compiled = programmed(lambda x: (x * w).exp(), numbers(3))
    y = compiled(numbers(3)).sum()
    y.backward(retain_graph=True)
    first = w.grad.clone()
    y.backward()
    torch.testing.assert_close(w.grad, first * 2)
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


def test_what_was_saved_may_not_be_written_to():
    w = numbers(3).requires_grad_()
    compiled = programmed(lambda x: (x * w * w).tanh(), numbers(3))
    y = compiled(numbers(3))
    with torch.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(y.sum(), w)
    compiled = programmed(lambda x: (x + w).tanh(), numbers(3))
    y = compiled(numbers(3))
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(y.sum(), w)
    x = numbers(3)
    y = compiled(x)
    x.zero_()  # was not saved
    torch.autograd.grad(y.sum(), w)


def test_results_of_earlier_calls_keep_what_they_saved():
    w = numbers(3).requires_grad_()
    compiled = programmed(lambda x: (x * w).exp() * w, numbers(3))
    given = [numbers(3, seed=i) for i in range(4)]
    results = [compiled(x) for x in given]
    for x, y in zip(given, results, strict=True):
        (found,) = torch.autograd.grad(y.sum(), w)
        (expected,) = torch.autograd.grad(((x * w).exp() * w).sum(), w)
        torch.testing.assert_close(found, expected)


def test_nothing_is_held_after_the_pass_and_no_cycle():
    w = numbers(3).requires_grad_()
    compiled = programmed(lambda x: (x * w).exp(), numbers(3))
    gc.disable()
    try:
        y = compiled(numbers(3))
        node = weakref.ref(y.grad_fn)
        held = weakref.ref(y)
        y.sum().backward()
        assert node().saved is None
        del y
        assert node() is None and held() is None
    finally:
        gc.enable()


def test_a_result_that_is_a_view_and_one_that_is_returned_twice():
    w = numbers(4).requires_grad_()

    def f(x):
        y = (x * w).reshape(2, 2).T
        return y, y

    compiled = programmed(f, numbers(4))
    a, b = compiled(numbers(4, seed=1))
    assert a is b
    torch.testing.assert_close(a, f(numbers(4, seed=1))[0])
    (g,) = torch.autograd.grad(a.sum(), w)
    torch.testing.assert_close(g, numbers(4, seed=1))


def test_hooks_inside_and_custom_functions_run_the_function():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append("backward")
            return g * 2

    seen = []
    w = numbers(3).requires_grad_()

    def hooked(x):
        y = x * w
        y.register_hook(lambda g: seen.append("hook"))
        return y.exp()

    for f, reason in ((hooked, "hooks"), (lambda x: Double.apply(x * w), "DoubleBackward")):
        compiled = Compiled(f)
        with pytest.warns(UserWarning, match=reason):
            results = [compiled(numbers(3)) for _ in range(4)]
        seen.clear()
        for y in results:
            y.sum().backward()
        assert len(seen) == 4


class Doubling(torch.autograd.Function):
    """Its backward writes to what was saved."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        ctx.saved_tensors[0].mul_(2)
        return g.clone()


@pytest.mark.filterwarnings("ignore:compile")
def test_a_backward_that_writes_to_what_was_saved_does_so_when_it_runs():
    compiled = torch.compile(lambda x: Doubling.apply(x) * 3)
    for _ in range(4):
        x = torch.ones(2, requires_grad=True)
        given = x * 1
        y = compiled(given)
        assert given.tolist() == [1, 1]
        y.sum().backward()
        assert given.tolist() == [2, 2] and x.grad.tolist() == [3, 3]


def test_a_backward_pass_inside_into_the_graph_of_an_argument():
    w = numbers(3).requires_grad_()

    def f(y):
        y.sum().backward()
        return y.detach() * 2

    compiled = Compiled(f)
    with pytest.warns(UserWarning, match="graph of an argument"):
        compiled(w * 3), compiled(w * 3)  # the second is recorded
    for _ in range(3):
        w.grad = None
        compiled(w * 3)
        assert w.grad.tolist() == [3, 3, 3]


def test_leaves_may_have_hooks_outside():
    w = numbers(3).requires_grad_()
    compiled = programmed(lambda x: (x * w).exp(), numbers(3))
    y = compiled(numbers(3))
    seen = []
    handle = w.register_hook(lambda g: seen.append(g.shape))
    y.sum().backward()
    handle.remove()
    assert seen == [(3,)]


@pytest.mark.parametrize("copied", [lambda x: x.clone(), lambda x: x * 1], ids=["clone", "times one"])
def test_an_argument_may_be_written_to_where_a_copy_was_saved(copied):
    compiled = torch.compile(lambda x: (copied(x) ** 2).sum(), fullgraph=True)
    for i in range(1, 6):
        x = torch.full((3,), float(i), requires_grad=True)
        loss = compiled(x)
        with torch.no_grad():
            x.add_(1)
        loss.backward()
        assert x.grad.tolist() == [2.0 * i] * 3
    assert compiled.source


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_batches_of_gradients(backend):
    if backend == "jax":
        pytest.importorskip("jax")
    weight, other = (torch.nn.Parameter(torch.arange(9.0).reshape(3, 3) * k) for k in (0.1, 0.2))
    function = lambda x: ((x @ weight).tanh() * x.sum(), x @ other)  # noqa: E731
    compiled = torch.compile(function, backend=backend)
    seeds = torch.stack([torch.eye(3), 2 * torch.eye(3)])
    for i in range(5):
        x = (torch.arange(3.0) - i).requires_grad_()
        for k in range(2):
            one, two = (
                torch.autograd.grad(f(x)[k], (x, weight, other), seeds[k], is_grads_batched=True, allow_unused=True)
                for f in (function, compiled)
            )
            for a, b in zip(one, two, strict=True):
                assert (a is None) == (b is None)
                assert a is None or torch.allclose(a, b, rtol=1e-4)
        y, z = function(x)[0], compiled(x)[0]
        of = torch.vmap(torch.vmap(lambda v, y=y, x=x: torch.autograd.grad(y, x, v, retain_graph=True)[0]))
        compiled_of = torch.vmap(torch.vmap(lambda v, z=z, x=x: torch.autograd.grad(z, x, v, retain_graph=True)[0]))
        assert torch.allclose(of(seeds), compiled_of(seeds), rtol=1e-4)
    assert compiled.kept
