"""`saved.torch`: what is written in place raises, memory is let go of, blocks nest, errors leave nothing behind."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

torch = pytest.importorskip("torch")

from tests.oracle.nets_of_torch import EXACT, Seen, net, plain_hooks, pre_hooks, step  # noqa: E402
from torch import nn  # noqa: E402

from gradpack import saved  # noqa: E402


def written(policy, hooks=True):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = x * 1
    with saved.torch.hooks(policy) if hooks else plain_hooks(lambda t: t.detach(), lambda t: t):
        y = h.sin()
    h.add_(1)
    y.sum().backward()
    return x.grad


class Aliases(saved.Policy):
    """Shows the same memory under another tensor, with a count of its own, or as an array."""

    def __init__(self, how):
        self.how = how

    def pack(self, tensor, info=None):
        return (self.how(tensor),)

    def unpack(self, packed):
        return torch.as_tensor(packed[0])


ALIASING = {
    "as it is": lambda: saved.Policy(),
    "too small": lambda: saved.bf16(),
    "not smaller": lambda: saved.lossless("zlib", min_bytes=1),
    "detached": lambda: Aliases(lambda t: t.detach()),
    "data": lambda: Aliases(lambda t: t.data),
    "array": lambda: Aliases(lambda t: t.numpy()),
}


@pytest.mark.parametrize("make", ALIASING.values(), ids=ALIASING)
def test_writes_in_place_raise_as_without_hooks(make):
    with pytest.raises(
        RuntimeError, match=r"modified by an inplace.*\[3\]\], which is output 0 of Mul.* version 1; exp"
    ):
        written(make())


def test_plain_hooks_of_torch_do_not_raise():
    assert not torch.allclose(written(None, hooks=False), torch.tensor([1.0, 2.0, 3.0]).cos())


@pytest.mark.parametrize("make", [lambda: saved.disk(min_bytes=1, reserve=0), lambda: Aliases(torch.clone)])
def test_a_copy_does_not_mind_writes(make):
    assert torch.allclose(written(make()), torch.tensor([1.0, 2.0, 3.0]).cos())


def test_a_write_to_what_is_sparse_raises():
    dense, w = torch.eye(3).to_sparse(), torch.randn(3, 3, requires_grad=True)
    with saved.torch.hooks(saved.lossless("zlib", min_bytes=1)):
        y = torch.sparse.mm(dense, w).sum()
    y.backward()
    assert torch.equal(w.grad, torch.ones(3, 3))
    with saved.torch.hooks(saved.lossless("zlib", min_bytes=1)):
        y = torch.sparse.mm(dense, w).sum()
    dense.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_writes_through_views_and_results_in_place():
    x = torch.randn(4, 3, requires_grad=True)

    def run():
        h = x * 1
        h[1:].exp_()
        v = (h * x)[:, 1]
        return (v.tanh_() * x[:, 0]).sum() + h.t()[0].sum()

    (expected,) = torch.autograd.grad(run(), x)
    for make in EXACT.values():
        with saved.torch.hooks(make()):
            y = run()
        (got,) = torch.autograd.grad(y, x)
        assert torch.equal(got, expected)


def test_memory_that_is_taken_again_is_not_mistaken():
    def run(x):
        total, addresses = 0.0, set()
        for i in range(20):
            h = x * float(i)
            addresses.add(h.data_ptr())
            total = total + h.square().sum()  # when h is gone, the next lies where it was
            del h
        return total, len(addresses)

    x = torch.randn(5000, requires_grad=True)
    (expected,) = torch.autograd.grad(run(x)[0], x)
    for make in (*list(EXACT.values())[2:], lambda: saved.bf16(min_bytes=1), lambda: Aliases(torch.clone)):
        policy = make()
        with saved.torch.hooks(policy):
            total, places = run(x)
            getattr(policy, "wait", lambda: None)()
        (got,) = torch.autograd.grad(total, x)
        assert float((got - expected).norm() / expected.norm()) < 3e-3
        if isinstance(policy, Aliases):
            assert places < 20  # it did happen


def test_storages_are_packed_once():
    policy = saved.lossless("zlib", min_bytes=1)
    a = torch.zeros(4000)
    x = a.requires_grad_()
    with saved.torch.hooks(policy):
        y = (x.exp() * x.view(40, 100).sin().t().reshape(-1) * x).sum()
    assert len(policy._known) < 8
    y.backward()
    assert len(policy._known) == 0


@pytest.mark.parametrize("make", EXACT.values(), ids=EXACT)
def test_twice_and_double_backward(make):
    def third(hooks):
        x = torch.linspace(0.1, 1, 50, requires_grad=True)
        with hooks:
            y = (x.exp() * x.tanh()).sum()
            (first,) = torch.autograd.grad(y, x, create_graph=True)
            z = first.square().sum()
        (again,) = torch.autograd.grad(y, x, retain_graph=True)
        assert torch.equal(again, first)
        (second,) = torch.autograd.grad(z, x, retain_graph=True)
        assert torch.equal(torch.autograd.grad(z, x)[0], second)
        return second

    hooks = saved.torch.hooks(make())
    expected = third(plain_hooks(lambda t: t, lambda t: t))
    assert torch.equal(third(hooks), expected)
    assert torch.equal(third(hooks), expected)


@pytest.mark.parametrize("make", [*EXACT.values(), Seen, lambda: Aliases(lambda t: t)])
def test_the_graph_is_let_go_of_without_the_collector(make):
    policy, model = make(), net()
    hooks = saved.torch.hooks(policy, model)
    step(model, hooks)
    gc.collect()
    gc.disable()
    try:
        with hooks:
            x = torch.randn(2, 3, 16, requires_grad=True)
            used = model(x)
            unused = used.exp() * used
        gone = [weakref.ref(t.untyped_storage()) for t in (used, unused)]
        loss = used.sum()
        del used, unused
        loss.backward()
        del loss
        if hasattr(policy, "_known"):
            policy.wait()
            assert not policy._known
        assert [g() for g in gone] == [None, None]
        known = weakref.ref(model)
        del hooks, model, x, policy
        assert known() is None
    finally:
        gc.enable()


def test_blocks_nest_and_leave_nothing_behind():
    model, outer, inner = net(), Seen(), Seen()
    a, b = saved.torch.hooks(outer, model), saved.torch.hooks(inner, model)
    x = torch.randn(2, 3, 16)
    with a:
        model.head(x)
        before = len(outer.infos)
        with b, a, b:
            model.head(x)
        assert len(outer.infos) == before
        model.head(x)
        assert len(outer.infos) == 2 * before == 2 * len(inner.infos)
    assert {i.module for i in (*outer.infos, *inner.infos)} == {"head"}
    assert pre_hooks(model) == 0
    model.head(x)
    assert len(outer.infos) == 2 * before


def test_two_graphs_at_a_time_and_branches_that_are_not_used():
    model, seen, kept = net(), Seen(), []
    exact, noted = saved.torch.hooks(saved.lossless("zlib", min_bytes=1), model), saved.torch.hooks(seen, model)
    expected = step(model)
    for seed in (1, 2, 1):
        with exact:
            kept.append(model(torch.randn(2, 3, 16)).exp())  # never goes backward
        assert torch.equal(step(model, exact, seed), expected) == (seed == 1)
        with noted:
            kept.append(model(torch.randn(2, 3, 16)))
        step(model, noted)
    del seen.infos[:]
    with noted:
        both = [model(torch.randn(2, 3, 16, requires_grad=True)) for _ in range(2)]
    assert all(i.node_name for i in seen.infos)
    sum(b.sum() for b in both).backward()


def test_threads_have_blocks_and_paths_of_their_own():
    model, seen, wrong = net(), Seen(), []
    hooks = saved.torch.hooks(seen, model)
    barrier = threading.Barrier(2, timeout=60)

    def work():
        try:
            for _ in range(5):
                barrier.wait()
                with hooks:
                    out = model(torch.randn(2, 3, 16)).sum()
                out.backward()
            with torch.no_grad():
                model(torch.randn(2, 3, 16))
        except Exception as error:
            wrong.append(error)
            barrier.abort()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert pre_hooks(model) == 0
    of_norm = [i.module for i in seen.infos if i.op == "native_layer_norm"]
    assert of_norm
    assert set(of_norm) == {"blocks.0.norm", "blocks.1.norm"}


def test_an_exception_leaves_the_path_right():
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    model, seen = nn.Sequential(nn.Sequential(nn.Linear(3, 3), Fails()), nn.Linear(3, 3)), Seen()
    hooks = saved.torch.hooks(seen, model)
    x = torch.randn(2, 3)
    with hooks:
        with pytest.raises(ValueError, match="no"):
            model(x)
        x.requires_grad_().exp()
        model[1](x)
    assert [i.module for i in seen.infos][-3:] == ["", "1", "1"]
    with pytest.raises(ValueError, match="no"), hooks:
        model(x)
    assert pre_hooks(model) == 0


class Broken(saved.Policy):
    def __init__(self, at):
        self.at = at

    def pack(self, tensor, info=None):
        if self.at == "pack":
            raise ZeroDivisionError
        return (tensor.clone(),)

    def unpack(self, packed):
        if self.at == "unpack":
            raise ZeroDivisionError
        return {"type": None, "shape": packed[0][:1], "dtype": packed[0].double()}[self.at]


@pytest.mark.parametrize(
    ("at", "error"),
    [
        ("pack", ZeroDivisionError),
        ("unpack", ZeroDivisionError),
        ("type", TypeError),
        ("shape", RuntimeError),
        ("dtype", RuntimeError),
    ],
)
def test_a_broken_policy_raises_and_the_next_step_goes_on(at, error):
    model, broken = net(), Broken(at)
    with pytest.raises(error):
        step(model, saved.torch.hooks(broken, model))
    assert pre_hooks(model) == 0
    assert torch.equal(step(model, saved.torch.hooks(saved.disk(min_bytes=1), model)), step(model))
