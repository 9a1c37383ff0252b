"""Several threads in one backward pass: the same gradients, and nothing that a user's code could notice."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import gradpack as torch
from gradpack.graph import engine, parallel


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Four threads, for arrays of any size; and a note of whether they were used."""
    monkeypatch.setattr(engine, "LARGE", 0)
    monkeypatch.setattr(parallel, "get_num_threads", lambda: 4)
    used = []
    survey = parallel._survey

    def noting(*args):
        used.append(survey(*args) is not None)
        return survey(*args)

    monkeypatch.setattr(parallel, "_survey", noting)
    return used


def branches(x, weights, depth=6):
    """Branches that share an input and, crosswise, weights."""
    ends = []
    for i in range(len(weights)):
        h = x
        for k in range(depth):
            h = torch.tanh(h * weights[(i + k) % len(weights)]) + h
        ends.append(h)
    return torch.cat(ends).sum() + (ends[0] * ends[-1]).sum()


def gradients(enabled, **how):
    torch.manual_seed(0)
    x = torch.randn(50, requires_grad=True)
    weights = [torch.randn(50, requires_grad=True) for _ in range(4)]
    with torch.autograd.set_multithreading_enabled(enabled):
        branches(x, weights).backward(**how)
    return [t.grad for t in (x, *weights)]


def test_the_same_to_the_last_bit(eager):
    expected = gradients(False)
    assert not eager
    for _ in range(20):
        for a, b in zip(expected, gradients(True), strict=True):
            assert torch.equal(a, b)
    assert eager and all(eager)


def test_accumulates_into_existing_gradients(eager):
    x, w = torch.randn(8, requires_grad=True), torch.randn(8, requires_grad=True)
    branches(x, [w, w]).backward()
    first = x.grad.clone()
    kept = x.grad
    branches(x, [w, w]).backward()
    assert x.grad is kept and torch.allclose(kept, 2 * first) and all(eager)


def test_grad_of_inner_and_outer_tensors(eager):
    x, w = torch.randn(8, requires_grad=True), torch.randn(8, requires_grad=True)
    a, b = x * w, x.sin() * w
    c = a * b + a + b

    def found():
        return torch.autograd.grad(c.sum(), [a, x, b], retain_graph=True)

    with torch.autograd.set_multithreading_enabled(False):
        expected = found()
    assert not eager
    assert all(torch.equal(p, q) for p, q in zip(expected, found(), strict=True))
    assert eager and w.grad is None


def test_undefined_gradients_go_on(eager):
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    (Half.apply(x.exp()) + y.exp() * y.exp()).sum().backward()
    assert x.grad is None and torch.allclose(y.grad, 2 * (2 * y.detach()).exp())


def test_code_of_users_stays_on_the_calling_thread(eager):
    where = []

    class Noting(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            where.append(threading.current_thread())
            return g

    def unpack(value):
        where.append(threading.current_thread())
        return value

    x, w = torch.randn(8, requires_grad=True), torch.randn(8, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        (branches(x, [w, w, w]) + Noting.apply(x).sum() + Noting.apply(w).sum()).backward()
    assert len(where) > 20 and set(where) == {threading.current_thread()} and eager


def test_hooks_keep_their_order(eager):
    def order(enabled):
        x = torch.randn(8, requires_grad=True)
        seen = []
        a, b = x.sin(), x.cos()
        for name, t in (("a", a), ("b", b), ("x", x)):
            t.register_hook(lambda g, name=name: seen.append(name))
        with torch.autograd.set_multithreading_enabled(enabled):
            (a.exp() * b.exp()).sum().backward()
        return seen

    assert order(True) == order(False) == ["b", "a", "x"]
    assert not any(eager)


def test_an_exception_leaves_everything_usable(eager):
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise KeyError("mine")

    x, w = torch.randn(8, requires_grad=True), torch.randn(8, requires_grad=True)
    before = threading.active_count()
    with pytest.raises(KeyError, match="mine"):
        (branches(x, [w, w]) + Failing.apply(x.exp()).sum()).backward()
    assert threading.active_count() == before and torch.is_grad_enabled()
    x.grad = w.grad = None
    branches(x, [w, w]).backward()
    assert x.grad is not None and len(eager) > 1


def test_a_freed_graph_is_refused(eager):
    x, w = torch.randn(8, requires_grad=True), torch.randn(8, requires_grad=True)
    loss = branches(x, [w, w])
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_writes_to_saved_tensors_are_noticed(eager):
    x = torch.randn(8, requires_grad=True)
    a, b = x.exp(), x.exp()
    loss = (a.sin() * b.cos()).sum()
    with torch.no_grad():
        a.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_nothing_is_left_behind(eager):
    gc.collect()
    gc.disable()
    try:
        x, w = torch.randn(8, requires_grad=True), torch.randn(8, requires_grad=True)
        a = x * w
        gone = weakref.ref(a)
        loss = branches(a, [w, w])
        node = weakref.ref(loss.grad_fn)
        del a
        loss.backward()
        del loss
        assert gone() is None and node() is None
    finally:
        gc.enable()
    assert gc.collect() == 0


def test_the_switch(eager):
    assert torch.autograd.is_multithreading_enabled()
    with torch.autograd.set_multithreading_enabled(False):
        assert not torch.autograd.is_multithreading_enabled()
        gradients(False)
    assert torch.autograd.is_multithreading_enabled() and not eager
