"""Saved tensor hooks."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref

import pytest


def identity(t):
    return t


def test_every_saved_tensor_is_packed(torch):
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2)
    packs = []

    def pack(t):
        packs.append(t)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, identity):
        a * a
        assert len(packs) == 2
        a * b
        assert len(packs) == 3
        a * 3
        assert len(packs) == 3
        a + b
        assert len(packs) == 3


def test_each_access_unpacks_again(torch):
    unpacks = []

    def unpack(t):
        unpacks.append(1)
        return t

    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(identity, unpack):
        y = x.sin()
    _ = y.grad_fn._saved_self
    _ = y.grad_fn._saved_self
    assert len(unpacks) == 2
    y.sum().backward()
    assert len(unpacks) == 3


def test_what_unpack_returns_is_used(torch):
    x = torch.tensor([2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.item(), lambda v: torch.tensor([v * 10])):
        y = x * x
    y.backward()
    assert x.grad.item() == 40.0


def test_unpack_works_after_the_block(torch):
    x = torch.tensor([2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy().copy(), torch.from_numpy):
        y = x.exp() * x
    y.backward()
    assert x.grad is not None


def test_innermost_pair_applies(torch):
    calls = []
    x = torch.ones(1, requires_grad=True)

    def make(name):
        def pack(t):
            calls.append(name)
            return t

        return torch.autograd.graph.saved_tensors_hooks(pack, identity)

    with make("outer"):
        with make("inner"):
            x * x
        assert calls == ["inner", "inner"]
        x.sin()
    assert calls == ["inner", "inner", "outer"]


def test_pack_that_writes_to_its_input(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), identity):
        with pytest.raises(RuntimeError, match=r"modifying its input in.place"):
            (x * 1).sin()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_unpack_that_returns_no_tensor(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(identity, lambda t: 1):
        y = x.sin().sum()
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor"):
        y.backward()
    assert x.grad is None


def test_pack_that_raises(torch):
    x = torch.ones(2, requires_grad=True)

    def pack(t):
        raise ValueError("no room")

    with torch.autograd.graph.saved_tensors_hooks(pack, identity), pytest.raises(ValueError, match="no room"):
        x.sin()
    assert torch.is_grad_enabled()
    x.sin().sum().backward()


def test_pack_runs_without_grad(torch):
    modes = []
    x = torch.ones(2, requires_grad=True)

    def pack(t):
        modes.append((torch.is_grad_enabled(), t.requires_grad))
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, identity):
        x.sin()
    assert modes == [(False, True)]


def test_disable(torch):
    with torch.autograd.graph.disable_saved_tensors_hooks("why not"):
        with pytest.raises(RuntimeError, match="why not"):
            with torch.autograd.graph.saved_tensors_hooks(identity, identity):
                pass
    with torch.autograd.graph.saved_tensors_hooks(identity, identity):
        with pytest.raises(RuntimeError, match="busy"):
            with torch.autograd.graph.disable_saved_tensors_hooks("busy"):
                pass


def test_saved_attributes(torch):
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2, requires_grad=True)
    y = a * b
    assert y.grad_fn._saved_self is a
    assert y.grad_fn._saved_other is b
    e = a.exp()
    saved = e.grad_fn._saved_result
    assert saved is not e and saved.grad_fn is e.grad_fn and saved.tolist() == e.tolist()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn._saved_self


def test_constant_side_is_not_saved(torch):
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2)
    y = a * b
    assert y.grad_fn._saved_other is b
    assert y.grad_fn._saved_self is None


def test_hooks_in_double_backward(torch):
    x = torch.tensor([2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy().copy(), torch.from_numpy):
        y = x**3
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert h.item() == 12.0


def test_hooks_on_what_a_function_saves(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    packs = []

    def pack(t):
        packs.append(1)
        return t

    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t * 10):
        y = Square.apply(x)
    y.sum().backward()
    assert packs == [1] and x.grad.tolist() == [20.0, 20.0]


def test_save_on_cpu(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = (x.exp() * x).sum()
    y.backward()
    assert x.grad is not None


def test_register_hooks_on_a_raw_saved_tensor(torch):
    x = torch.tensor([2.0], requires_grad=True)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t * 3)
    assert y.grad_fn._saved_self.item() == 12.0
    with pytest.raises(RuntimeError):
        y.grad_fn._raw_saved_self.register_hooks(identity, identity)
    with pytest.raises(TypeError):
        y.grad_fn._raw_saved_other.register_hooks(identity)


def test_allow_mutation(torch):
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        a = torch.ones(2, requires_grad=True)
        b = a.clone()
        out = (b**2).sum()
        b.sin_()
        out.backward()
    assert a.grad.tolist() == [2.0, 2.0]


# -- where torch is silently wrong, or refuses: only ours --


@pytest.fixture
def ours(torch, real):
    if real:
        pytest.skip("torch differs here on purpose")
    return torch


def test_in_place_check_holds_under_hooks(ours):
    for pack in (identity, lambda t: t.detach()):
        x = ours.ones(2, requires_grad=True)
        h = x * 1
        with ours.autograd.graph.saved_tensors_hooks(pack, identity):
            y = h.sin()
        h.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_copying_pack_survives_in_place(ours):
    x = ours.ones(2, requires_grad=True)
    h = x * 1
    with ours.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), identity):
        y = h.sin()
    h.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([0.5403, 0.5403], abs=1e-4)


def test_save_on_cpu_copies(ours):
    x = ours.ones(2, requires_grad=True)
    h = x * 1
    with ours.autograd.graph.save_on_cpu():
        y = h.sin()
    h.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([0.5403, 0.5403], abs=1e-4)


@pytest.mark.parametrize("wrong", ["shape", "dtype"])
def test_unpack_of_another_kind_is_refused(ours, wrong):
    x = ours.ones(2, requires_grad=True)
    bad = ours.ones(3) if wrong == "shape" else ours.ones(2, dtype=ours.float64)
    with ours.autograd.graph.saved_tensors_hooks(identity, lambda t: bad):
        y = x.sin().sum()
    with pytest.raises(RuntimeError, match=r"SinBackward0"):
        y.backward()
    assert x.grad is None


def test_identity_pack_leaks_nothing(ours):
    gc.disable()
    try:
        x = ours.ones(2, requires_grad=True)
        with ours.autograd.graph.saved_tensors_hooks(identity, identity):
            y = x.exp()
        gone = weakref.ref(y.grad_fn)
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_mutation_mode_and_hooks_compose(ours):
    graph = ours.autograd.graph
    for order in (0, 1):
        packs = []

        def pack(t, packs=packs):
            packs.append(1)
            return t

        hooks = graph.saved_tensors_hooks(pack, identity)
        outer, inner = (graph.allow_mutation_on_saved_tensors(), hooks)[:: -1 if order else 1]
        with outer, inner:
            a = ours.ones(2, requires_grad=True)
            b = a.clone()
            out = (b * b).sum()
            b.zero_()
            out.backward()
        assert a.grad.tolist() == [2.0, 2.0] and packs


def test_scope_follows_asyncio_tasks(ours):
    x = ours.ones(1, requires_grad=True)
    seen = {"a": [], "b": []}

    async def work(name):
        def pack(t):
            seen[name].append(name)
            return t

        with ours.autograd.graph.saved_tensors_hooks(pack, identity):
            for _ in range(3):
                await asyncio.sleep(0)
                x.sin()

    async def both():
        await asyncio.gather(work("a"), work("b"))

    asyncio.run(both())
    assert seen == {"a": ["a"] * 3, "b": ["b"] * 3}


def test_threads_have_their_own_scope(ours):
    x = ours.ones(1, requires_grad=True)
    packs = []

    def pack(t):
        packs.append(1)
        return t

    with ours.autograd.graph.saved_tensors_hooks(pack, identity):
        thread = threading.Thread(target=lambda: x.sin())
        thread.start()
        thread.join()
    assert packs == []


def test_functional_forms(ours):
    graph = ours.autograd.graph
    x = ours.ones(1, requires_grad=True)
    packs = []

    def pack(t):
        packs.append(1)
        return t

    def nested():
        graph.disable_saved_tensors_hooks(lambda: x.sin())
        return x.cos()

    y = graph.saved_tensors_hooks(pack, identity, nested)
    assert packs == [1] and y.requires_grad
    assert graph.save_on_cpu(lambda: x.sin()).requires_grad

    async def later():
        return x.sin()

    assert asyncio.run(graph.saved_tensors_hooks(pack, identity, later)).requires_grad
    assert packs == [1, 1]
