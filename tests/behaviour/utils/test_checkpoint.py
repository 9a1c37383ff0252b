"""Activation checkpointing."""

from __future__ import annotations

import pytest


def run(torch, checkpoint, fn, *args, **kwargs):
    for a in args:
        a.grad = None
    fn(*args).sum().backward()
    plain = [a.grad.clone() for a in args]
    for a in args:
        a.grad = None
    checkpoint(fn, *args, use_reentrant=False, **kwargs).sum().backward()
    for a, p in zip(args, plain, strict=True):
        assert torch.allclose(a.grad, p)


def test_same_gradients(torch, checkpoint):
    a, b = (torch.rand(3, requires_grad=True) for _ in range(2))
    run(torch, checkpoint, lambda a, b: (a.sin() * b).exp() * a, a, b)


def test_nested(torch, checkpoint):
    a = torch.rand(3, requires_grad=True)
    inner = lambda x: checkpoint(lambda y: y.sin().exp(), x, use_reentrant=False) * x  # noqa: E731
    run(torch, checkpoint, inner, a)


def test_nothing_but_the_inputs_is_saved(torch, checkpoint):
    calls = []

    def fn(x):
        calls.append(1)
        return x.sin().exp()

    x = torch.rand(3, requires_grad=True)
    y = checkpoint(fn, x, use_reentrant=False)
    assert calls == [1]
    y.sum().backward()
    assert calls == [1, 1]


def test_kwargs_and_non_tensors(torch, checkpoint):
    x = torch.rand(3, requires_grad=True)
    w = torch.rand(3, requires_grad=True)

    def fn(x, k, *, w):
        return x.sin() * k * w.exp()

    checkpoint(fn, x, 2.0, w=w, use_reentrant=False).sum().backward()
    g, gw = x.grad.clone(), w.grad.clone()
    x.grad = w.grad = None
    fn(x, 2.0, w=w).sum().backward()
    assert torch.allclose(g, x.grad) and torch.allclose(gw, w.grad)


def test_randomness_is_replayed(torch, checkpoint):
    x = torch.ones(50, requires_grad=True)
    dropout = torch.nn.functional.dropout if hasattr(torch, "nn") else None
    torch.manual_seed(0)
    y = checkpoint(lambda t: dropout(t, 0.5).exp(), x, use_reentrant=False)
    after = torch.rand(1)
    y.sum().backward()
    dropped = y.detach() == 1.0
    assert ((x.grad == 0) == dropped).all()
    torch.manual_seed(0)
    dropout(torch.ones(50), 0.5)
    assert torch.equal(after, torch.rand(1))


def test_mismatch_is_explained(torch, checkpoint):
    x = torch.rand(3, requires_grad=True)
    sizes = iter([3, 2])

    def fn(x):
        return x[: next(sizes)].sin().exp()

    y = checkpoint(fn, x, use_reentrant=False).sum()
    with pytest.raises(RuntimeError, match="different metadata"):
        y.backward()


def test_retain_graph_and_double_backward(torch, checkpoint):
    x = torch.rand(3, requires_grad=True)
    y = checkpoint(lambda t: (t**3).sum(), x, use_reentrant=False)
    y.backward(retain_graph=True)
    y.backward()
    assert torch.allclose(x.grad, 6 * x.detach() ** 2)
    y = checkpoint(lambda t: (t**3).sum(), x, use_reentrant=False)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert torch.allclose(h, 6 * x.detach())


def test_exception_in_recomputation(torch, checkpoint):
    x = torch.rand(3, requires_grad=True)
    count = []

    def fn(x):
        count.append(1)
        if len(count) == 2:
            raise ValueError("again")
        return x.sin()

    y = checkpoint(fn, x, use_reentrant=False).sum()
    with pytest.raises(ValueError, match="again"):
        y.backward()
    assert torch.is_grad_enabled() and x.grad is None


def test_without_grad(torch, checkpoint):
    x = torch.rand(3, requires_grad=True)
    with torch.no_grad():
        assert not checkpoint(lambda t: t.sin(), x, use_reentrant=False).requires_grad


def test_reentrant_form(torch, checkpoint):
    x = torch.rand(3, requires_grad=True)
    checkpoint(lambda t: t.sin() * t, x, use_reentrant=True).sum().backward()
    g = x.grad.clone()
    x.grad = None
    (x.sin() * x).sum().backward()
    assert torch.allclose(g, x.grad)
