"""The engine: passes inside passes, several at once, deep and wide graphs, exceptions, callbacks."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest


@pytest.fixture
def failing(make_function):
    """A function of the user whose backward raises."""

    def backward(ctx, g):
        raise ValueError("its backward")

    return make_function(backward=backward)


def in_threads(job, count=4):
    """Run `job(i)` on threads; raise what one of them raised."""
    failed = []

    def work(i):
        try:
            job(i)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise failed[0]


# -- passes inside passes --


def test_backward_inside_a_hook_on_the_same_graph(torch):
    x = torch.tensor([2.0], requires_grad=True)
    y = x * x
    z = y * 3
    other = torch.tensor([1.0], requires_grad=True)

    def hook(g):
        with torch.enable_grad():  # off in hooks, as in the pass
            (other * 5).backward()

    y.register_hook(hook)
    z.backward()
    assert x.grad.item() == 12.0 and other.grad.item() == 5.0


def test_backward_inside_a_hook_into_the_same_leaf(torch):
    x = torch.tensor([2.0], requires_grad=True)
    y, z = x * 1, (x * 7).sum()
    y.register_hook(lambda g: z.backward())
    (y * 3).backward()
    assert x.grad.item() == 10.0


def test_grad_inside_a_function(torch):
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = ctx.x.exp().sum()
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, g):
            (inner,) = torch.autograd.grad(ctx.y, ctx.x)
            return g * inner

    x = torch.tensor([0.5, 1.0], requires_grad=True)
    (Inner.apply(x) * 2).backward()
    assert torch.allclose(x.grad, 2 * x.detach().exp())


def test_the_mode_of_the_outer_pass_returns(torch):
    modes = []
    x = torch.ones(1, requires_grad=True)
    w = torch.ones(1, requires_grad=True)

    def hook(g):
        modes.append(torch.is_grad_enabled())
        with torch.enable_grad():
            torch.autograd.grad((w * 2).sum(), w, create_graph=True)
        modes.append(torch.is_grad_enabled())

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    assert modes == [False, False] and torch.is_grad_enabled()


def test_an_exception_in_an_inner_pass_reaches_the_outer_one(torch, failing):
    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                t = torch.ones(1, requires_grad=True)
                failing.apply(t * 2).sum().backward()
            return g

    x = torch.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="its backward"):
        Outer.apply(x).sum().backward()
    assert x.grad is None and torch.is_grad_enabled()
    (x * 2).sum().backward()
    assert x.grad.item() == 2.0


def test_an_inner_failure_that_is_caught_does_not_end_the_outer_pass(torch):
    x = torch.ones(1, requires_grad=True)

    def hook(g):
        with pytest.raises(RuntimeError):
            torch.ones(2).sum().backward()

    y = x * 2
    y.register_hook(hook)
    (y * 3).sum().backward()
    assert x.grad.item() == 6.0


# -- several passes at once --


def test_threads_over_graphs_of_their_own_share_a_leaf(torch):
    w = torch.ones(100, requires_grad=True)

    def job(i):
        for _ in range(25):
            (w * 2).sum().backward()

    in_threads(job, 8)
    assert w.grad.tolist() == [400.0] * 100


def test_threads_that_are_first_at_a_leaf_lose_nothing(torch):
    for _ in range(20):
        w = torch.ones(10, requires_grad=True)
        gate = threading.Barrier(4)

        def job(i, w=w, gate=gate):
            loss = (w * 1).sum()
            gate.wait()
            loss.backward()

        in_threads(job)
        assert w.grad.tolist() == [4.0] * 10


def test_threads_over_one_kept_graph(torch):
    x = torch.ones(50, requires_grad=True)
    loss = (x.exp() * x.sin()).sum()
    (expected,) = torch.autograd.grad(loss, x, retain_graph=True)

    def job(i):
        for _ in range(10):
            (g,) = torch.autograd.grad(loss, x, retain_graph=True)
            assert torch.equal(g, expected)

    in_threads(job)


def test_grad_mode_of_a_thread_is_its_own(torch):
    found = []
    with torch.no_grad():
        in_threads(lambda i: found.append(torch.is_grad_enabled()), 1)
    assert found == [True]


def test_hooks_run_on_the_thread_that_called_backward(torch):
    where = []

    def job(i):
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: where.append(threading.get_ident() == me))
        me = threading.get_ident()
        y.sum().backward()

    in_threads(job)
    assert where == [True] * 4


def test_one_thread_fails_and_the_others_do_not(torch, failing):
    results = []

    def job(i):
        x = torch.ones(3, requires_grad=True)
        y = failing.apply(x * 2) if i == 0 else x * 2
        try:
            y.sum().backward()
            results.append(x.grad.tolist())
        except ValueError:
            results.append("failed")

    in_threads(job)
    assert results.count("failed") == 1 and results.count([2.0] * 3) == 3


# -- exceptions --


@pytest.mark.parametrize("kind", [ValueError, KeyError, RuntimeError, ZeroDivisionError, MemoryError, OSError])
def test_the_type_of_an_exception_in_a_hook_is_kept(torch, kind):
    x = torch.ones(2, requires_grad=True)
    y = x * 2

    def hook(g):
        raise kind("from the hook")

    handle = y.register_hook(hook)
    with pytest.raises(kind, match="from the hook"):
        y.sum().backward()
    handle.remove()
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_leaves_served_before_a_failure_keep_their_gradient(torch):
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise ValueError("late")

    early, late = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    seen = []
    early.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.item()))
    a = Failing.apply(late * 2)
    b = early * 3
    with pytest.raises(ValueError, match="late"):
        (a + b).sum().backward()
    assert seen == [3.0] and early.grad.item() == 3.0 and late.grad is None


def test_a_failed_pass_leaves_no_gradient_in_flight(torch):
    fail = [True]

    class Sometimes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            if fail[0]:
                raise ValueError
            return g

    x = torch.ones(1, requires_grad=True)
    y = Sometimes.apply(x * 2) + x
    with pytest.raises(ValueError):
        y.sum().backward(retain_graph=True)
    x.grad = None
    fail[0] = False
    y.sum().backward()
    assert x.grad.item() == 3.0


# -- callbacks at the end --


def callback(torch):
    return torch.autograd.Variable._execution_engine.queue_callback


def test_callbacks_run_once_after_everything_in_order(torch):
    x = torch.ones(1, requires_grad=True)
    order = []

    def hook(g):
        callback(torch)(lambda: order.append(("first", x.grad is not None)))
        callback(torch)(lambda: order.append(("second", x.grad is not None)))

    y = x * 2
    y.register_hook(hook)
    y.sum().backward(retain_graph=True)
    assert order == [("first", True), ("second", True)]
    order.clear()
    x.register_hook(lambda g: order.append("x"))
    y.sum().backward()
    assert order == ["x", ("first", True), ("second", True)]


def test_a_callback_may_queue_another(torch):
    x = torch.ones(1, requires_grad=True)
    order = []

    def first():
        order.append(1)
        callback(torch)(lambda: order.append(2))

    x.register_hook(lambda g: callback(torch)(first))
    (x * 2).sum().backward()
    assert order == [1, 2]


def test_a_failing_callback_fails_the_pass_and_is_forgotten(torch):
    x = torch.ones(1, requires_grad=True)

    def fail():
        raise ValueError("callback")

    handle = x.register_hook(lambda g: callback(torch)(fail))
    with pytest.raises(ValueError, match="callback"):
        (x * 2).sum().backward()
    handle.remove()
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.item() == 2.0


def test_callbacks_of_nested_passes_belong_to_their_own(torch):
    x, w = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    order = []
    w.register_hook(lambda g: callback(torch)(lambda: order.append("inner end")))

    def hook(g):
        callback(torch)(lambda: order.append("outer end"))
        with torch.enable_grad():
            (w * 2).sum().backward()
        order.append("after inner")

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    assert order == ["inner end", "after inner", "outer end"]


def test_a_backward_may_run_in_a_callback(torch):
    x, w = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    loss = (w * 2).sum()

    x.register_hook(lambda g: callback(torch)(lambda: loss.backward()))
    (x * 2).sum().backward()
    assert w.grad.item() == 2.0


# -- deep and wide --


def test_a_hundred_thousand_nodes_deep(torch):
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1.0
    del y


def test_many_branches_into_one_leaf(torch):
    x = torch.ones(3, requires_grad=True)
    parts = [x * i for i in range(1000)]
    torch.stack(parts).sum().backward()
    assert x.grad.tolist() == [sum(range(1000))] * 3


def test_a_diamond_runs_each_node_once(torch):
    x = torch.ones(1, requires_grad=True)
    y, calls = x, []
    for _ in range(20):
        y = y + y
    y.register_hook(lambda g: calls.append(g.item()))
    first = x * 1
    first.register_hook(lambda g: calls.append(g.item()))
    y = first
    for _ in range(20):
        y = y + y
    y.backward()
    assert calls == [2.0**20]


def test_intermediates_die_during_backward(torch):
    gc.collect()
    gc.disable()
    try:
        alive = []
        x = torch.ones(3, requires_grad=True)
        a = x.exp()
        b = a.exp()
        kept = weakref.ref(b)
        a.register_hook(lambda g: alive.append(kept() is not None))
        c = b.sin()
        del a, b
        c.sum().backward()
        assert alive == [False] and kept() is None
    finally:
        gc.enable()


def test_a_graph_that_is_dropped_is_freed_at_once(torch):
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(3, requires_grad=True)
        a = x.exp()
        kept = weakref.ref(a)
        loss = (a * a).sum()
        del a
        assert kept() is not None
        del loss
        assert kept() is None
    finally:
        gc.enable()


# -- complex numbers --


@pytest.mark.parametrize(
    ("name", "z", "expected"),
    [
        ("abs", 3 + 4j, 0.6 + 0.8j),
        ("abs", 0j, 0j),
        ("real", 1 + 2j, 1 + 0j),
        ("imag", 1 + 2j, 1j),
        ("angle", 1j, -1 + 0j),
    ],
)
def test_conjugate_convention_of_real_functions(torch, name, z, expected):
    x = torch.tensor([z], requires_grad=True)
    y = getattr(torch, name)(x) if name in ("abs", "angle") else getattr(x, name)
    y.sum().backward()
    assert torch.allclose(x.grad, torch.tensor([expected], dtype=x.dtype))


def test_conjugate_convention_of_holomorphic_functions(torch):
    x = torch.tensor([1 + 2j], requires_grad=True)
    (g,) = torch.autograd.grad(x**3, x, torch.ones_like(x))
    assert torch.allclose(g, (3 * x.detach() ** 2).conj())


def test_a_real_leaf_in_a_complex_graph(torch):
    x = torch.tensor([2.0], requires_grad=True)
    z = x * torch.tensor([1j])
    (z * z.conj()).real.sum().backward()
    assert x.grad.dtype == torch.float32 and x.grad.item() == 4.0


def test_complex_result_needs_a_gradient(torch):
    x = torch.tensor([1 + 1j], requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar outputs"):
        (x * 2).sum().backward()
