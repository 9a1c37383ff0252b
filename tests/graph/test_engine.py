"""The traversal, on graphs too deep for recursion and too large for waste."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import pytest

import gradpack as torch


def chain(x, n):
    for _ in range(n):
        x = x + 1.0
    return x


def test_a_million_nodes_run_and_are_freed_without_gc():
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(1, requires_grad=True)
        y = chain(x, 1_000_000)
        gone = weakref.ref(y.grad_fn)
        y.backward()
        assert x.grad.item() == 1.0
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_deep_graph_is_freed_without_backward():
    gc.disable()
    try:
        x = torch.ones(1, requires_grad=True)
        y = chain(x, 200_000)
        gone = weakref.ref(y.grad_fn)
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_deep_graph_with_a_plan():
    x = torch.ones(1, requires_grad=True)
    (g,) = torch.autograd.grad(chain(x, 100_000), x)
    assert g.item() == 1.0


def test_newest_node_first():
    x = torch.ones(1, requires_grad=True)
    order = []

    def note(y, name):
        y.grad_fn.register_prehook(lambda _: order.append(name))
        return y

    a = note(x * 2, "a")
    b = note(a * 3, "b")
    c = note(a * 4, "c")
    note(b + c, "d").backward()
    assert order == ["d", "c", "b", "a"]
    assert x.grad.item() == 14.0


def test_sum_of_many_contributions_is_exact_and_leaves_inputs_alone():
    x = torch.ones(3, requires_grad=True)
    h = x * 1
    total = h + h
    for _ in range(5):
        total = total + h
    seed = torch.ones(3)
    total.backward(seed)
    assert x.grad.tolist() == [7.0] * 3 and seed.tolist() == [1.0] * 3


def test_threads_share_a_graph():
    x = torch.ones(100, requires_grad=True)
    h = (x * 2).exp()
    errors = []

    def work():
        try:
            for _ in range(20):
                (g,) = torch.autograd.grad(h.sum(), x, retain_graph=True)
                assert torch.allclose(g, 2 * h.detach())
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []


def test_no_cycle_is_left_behind():
    gc.collect()
    x = torch.ones(3, requires_grad=True)
    w = torch.ones(3, 3, requires_grad=True)
    for _ in range(3):
        y = (torch.tanh(x @ w).exp() * x).reshape(3, 1)[0].sum()
        y.backward()
        x.grad = w.grad = None
    del y
    assert gc.collect() == 0


@pytest.mark.parametrize("seeded", [False, True])
def test_root_is_a_leaf(seeded):
    x = torch.ones(1, requires_grad=True)
    x.backward(torch.ones(1) if seeded else None)
    assert x.grad.item() == 1.0
    (g,) = torch.autograd.grad(x, x)
    assert g.item() == 1.0


@pytest.fixture
def restless():
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.usefixtures("restless")
def test_threads_that_reach_a_new_leaf_at_once_lose_nothing(create_graph):
    for _ in range(30):
        w = torch.ones(10, requires_grad=True)
        gate = threading.Barrier(4)

        def work(w=w, gate=gate):
            loss = (w * 1).sum()
            gate.wait()
            loss.backward(create_graph=create_graph)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert w.grad.tolist() == [4.0] * 10
        w.grad = None


def test_a_gradient_that_a_hook_replaced_does_not_outlive_it():
    class Watching(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            gone.append(old[0]() is None)
            return g

    gone, old = [], []

    def replace(g):
        old.append(weakref.ref(g._data))
        return g * 2

    x = torch.ones(3, requires_grad=True)
    y = Watching.apply(x)
    y.register_hook(replace)
    y.exp().sum().backward()
    assert gone == [True] and x.grad is not None
