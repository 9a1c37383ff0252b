"""What holds for every policy: scope, selection, what pack is told, errors."""

import asyncio
import gc
import threading
import weakref
from pathlib import Path

import pytest

import gradpack as torch
from gradpack import nn, saved
from gradpack.base.modes import MODE

hooks = torch.autograd.graph.saved_tensors_hooks


class Clones(saved.Policy):
    """Packs clones, and keeps what it was told."""

    def __init__(self):
        self.seen = []

    def pack(self, tensor, info=None):
        self.seen.append(info)
        return (tensor.clone(),)

    def unpack(self, packed):
        return packed[0] if isinstance(packed, tuple) else packed


def leaf(*shape):
    return torch.randn(*(shape or (3,)), requires_grad=True)


def test_as_a_block_a_decorator_and_a_pair_of_hooks():
    policy, x = Clones(), leaf()

    def run():
        return x.exp().sum()

    with policy:
        run().backward()
    policy(run)().backward()
    with hooks(*policy):
        run().backward()
    pack, unpack = policy.hooks()
    assert torch.equal(unpack(pack(x)), x)
    assert [info and info.slot for info in policy.seen] == ["out", "out", "out", None]
    assert torch.allclose(x.grad, 3 * x.exp().detach())


def test_blocks_nest_and_the_innermost_applies():
    a, b, x = Clones(), Clones(), leaf()
    with a:
        x.exp()
        with b, a, b:
            x.exp()
        x.exp()
    assert (len(a.seen), len(b.seen)) == (2, 1)
    assert MODE.get().hooks is None


def test_a_policy_is_shared_by_tasks_that_take_turns():
    policy, x = Clones(), leaf()

    async def one(inside):
        for _ in range(3):
            if inside:
                with policy:
                    await asyncio.sleep(0)
                    assert MODE.get().hooks is not None
                    x.exp()
                    await asyncio.sleep(0)
            else:
                await asyncio.sleep(0)
                assert MODE.get().hooks is None
                x.exp()

    async def all_of_them():
        await asyncio.gather(one(True), one(False), one(True))

    asyncio.run(all_of_them())
    assert len(policy.seen) == 6


def test_threads_start_without_and_propagate_takes_it_along():
    policy, x = Clones(), leaf()
    with policy:
        for work in (x.exp, saved.propagate(x.exp)):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
    assert len(policy.seen) == 1


def test_bypass_and_forbid():
    policy, x = Clones(), leaf()
    with policy:
        with saved.bypass():
            x.exp()
            with policy:
                x.exp()
        saved.bypass()(x.exp)()
    assert len(policy.seen) == 1
    with saved.forbid("no policies here"), pytest.raises(RuntimeError, match="no policies here"):
        policy.__enter__()
    with policy, pytest.raises(RuntimeError, match="not under a policy"):
        saved.forbid("not under a policy").__enter__()
    assert MODE.get().hooks is None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
        self.register_buffer("table", torch.ones(4))

    def forward(self, x):
        return self.layers(x * self.table)


def test_what_pack_is_told():
    policy, net, x = Clones(), Net(), leaf(5, 4)
    with policy:
        loss = nn.functional.cross_entropy(net(x), torch.zeros(5, dtype=torch.int64))
    told = {(i.op, i.slot, i.kind, i.module) for i in policy.seen}
    assert told >= {
        ("mul", "other", "buffer", ""),
        ("linear", "input", "input", "layers.0"),
        ("linear", "weight", "parameter", "layers.2"),
        ("tanh", "out", "output", "layers.1"),
        ("log_softmax", "out", "output", ""),
    }
    by_op = {i.op: i for i in policy.seen}
    out = by_op["tanh"]
    assert (out.node_name, out.shape, out.dtype, out.nbytes, out.version) == (
        "TanhBackward0",
        (5, 4),
        torch.float32,
        80,
        0,
    )
    assert out.modules == ("Net", "Sequential", "Tanh")
    assert (out.file, out.where.function) == (__file__, "Net.forward")
    assert "self.layers(x" in Path(__file__).read_text().splitlines()[out.line - 1]
    assert [i.ordinal for i in policy.seen] == sorted(i.ordinal for i in policy.seen)
    assert by_op["log_softmax"].exact
    assert not out.exact
    assert out.node is not None
    del loss
    assert out.node is None
    assert out.op == "tanh"


@pytest.mark.parametrize("view", [lambda w: w.t(), lambda w: w[1:], lambda w: w.detach().t(), lambda w: w])
def test_views_of_parameters_are_parameters(view):
    policy = Clones()

    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(4, 4))

        def forward(self, x):
            return x @ view(self.w)

    with policy:
        y = Own()(leaf(3, 4)[:, : view(torch.zeros(4, 4)).shape[0]])
    assert y.requires_grad
    assert "parameter" in [i.kind for i in policy.seen if i.op == "matmul"]


def test_kinds():
    policy, x = Clones(), leaf(4, 4)
    with policy:
        (x * torch.ones(4, 4)).sum()
        nn.functional.layer_norm(x, (4,))
        nn.functional.dropout(x, 0.5)
        torch.where(x > 0, x, 0.0)
        x[torch.tensor([0, 1])]
        nn.functional.max_pool2d(x[None, None], 2)
        x.sigmoid()
    kinds = {(i.op, i.slot): i.kind for i in policy.seen}
    assert kinds["mul", "other"] == "constant"
    assert kinds["layer_norm", "rstd"] == kinds["layer_norm", "mean"] == "stat"
    assert kinds["dropout", "mask"] == "mask"
    assert kinds["where", "condition"] == "mask"
    assert kinds["sigmoid", "out"] == "output"
    assert "index" in kinds.values()


def test_storages_strides_and_offsets_say_who_shares():
    policy, x = Clones(), leaf(4, 6)
    with policy:
        h = x.exp()
        a, b = h.chunk(2, dim=1)
        kept = (
            a * b.t()[:4, :4].expand(2, 3, 4).sum((1, 2))[:, None].expand(2, 4).sum(),
            b.sin(),
            h.expand(3, 4, 6).sin(),
        )
        numbers = {(i.op, i.slot): i.storage for i in policy.seen}
    assert kept
    sins = [i for i in policy.seen if i.op == "sin"]
    assert sins[0].offset == 12
    assert sins[0].strides == (6, 1)
    assert sins[1].strides == (0, 6, 1)
    assert (sins[0].nbytes, sins[1].nbytes, sins[1].storage_bytes) == (48, 96, 96)
    assert numbers["exp", "out"] == sins[0].storage == sins[1].storage
    assert Clones().hooks()[0](x)[0].shape == (4, 6)


def test_where_chooses():
    x = leaf(8, 8)

    def seen(**asked):
        policy = Clones()
        with policy.where(**asked):
            h = saved.name(x.exp(), "h1")
            (h.sin() * h.tanh()).sum().backward()
        return sorted({f"{i.op}.{i.slot}" for i in policy.seen})

    everything = ["exp.out", "mul.input", "mul.other", "sin.input", "tanh.out"]
    assert seen(min_bytes=1) == everything
    assert seen(op="sin") == seen(op="SinBackward0") == seen(slot="input", op=["s?n"]) == ["sin.input"]
    assert seen(name="h*") == ["exp.out", "sin.input"]
    assert seen(kind="output") == ["exp.out", "tanh.out"]
    assert seen(dtype=torch.float32, fn=lambda info: info.op == "exp") == ["exp.out"]
    assert seen(dtype=[torch.float64]) == seen(min_bytes=1000) == seen(module="x") == []


def test_where_by_module():
    net, policy = Net(), Clones()
    with policy.where(module="layers.?", kind="input"):
        net(leaf(5, 4))
    assert [(i.module, i.op) for i in policy.seen] == [("layers.0", "linear"), ("layers.2", "linear")]
    policy = Clones()
    with policy.where(module="layers", kind="output"):
        net(leaf(5, 4))
    assert [i.op for i in policy.seen] == ["tanh"]


def test_where_refuses_what_there_is_not():
    with pytest.raises(ValueError, match="no kind 'weight'"):
        Clones().where(kind="weight")
    with pytest.raises(ValueError, match="say which tensors"):
        Clones().where()
    with pytest.raises(TypeError, match="op is a name"):
        Clones().where(op=3)
    with pytest.raises(TypeError, match="min_bytes"):
        Clones().where(min_bytes=1.5)
    with pytest.raises(TypeError, match="fn is a function"):
        Clones().where(fn=3)
    with pytest.raises(TypeError):
        Clones() >> 3


def test_the_second_of_a_chain_gets_what_the_first_leaves():
    a, b, x = Clones(), Clones(), leaf()
    with a.where(op="sin") >> b:
        (x.sin() * x.exp()).sum().backward()
    assert [i.op for i in a.seen] == ["sin"]
    assert [i.op for i in b.seen] == ["exp", "mul", "mul"]
    with hooks(*(a.where(op="sin") >> b)):
        x.exp().sum().backward()
    assert len(b.seen) == 4


@pytest.mark.parametrize("what", ["pack", "unpack"])
def test_errors_name_the_operation_the_slot_and_the_line_and_leave_nothing(what):
    class Breaks(Clones):
        pass

    def broken(self, *args):
        raise KeyError("broken")

    setattr(Breaks, what, broken)
    x = leaf()

    def run():
        with Breaks():
            y = x.exp()
        y.sum().backward()

    with pytest.raises(KeyError, match="broken") as caught:
        run()
    [note] = caught.value.__notes__
    assert note.startswith(f"While {what}ing 'out' of ExpBackward0")
    assert f"{__file__}:" in note
    assert MODE.get().hooks is None
    assert MODE.get().grad
    assert x.grad is None
    x.exp().sum().backward()
    assert torch.equal(x.grad, x.exp())


def test_errors_of_plain_hooks_name_operation_and_slot():
    x = leaf()
    with hooks(lambda t: t, lambda p: 1 / 0):
        y = x.exp()
    with pytest.raises(ZeroDivisionError) as caught:
        y.sum().backward()
    assert caught.value.__notes__ == ["While unpacking 'out' of ExpBackward0."]
    with hooks(lambda t: 1 / 0, lambda p: p), pytest.raises(ZeroDivisionError) as caught:
        x.exp()
    assert __file__ in caught.value.__notes__[0]


def test_wrong_shapes_and_dtypes_are_refused():
    class Wrong(saved.Policy):
        def pack(self, tensor, info=None):
            return (tensor,)

        def unpack(self, packed):
            return self.make(packed[0])

    for make, match in ((lambda t: t[1:], "shape"), (lambda t: t.double(), "dtype"), (lambda t: 3, "to be a Tensor")):
        policy = Wrong()
        policy.make = make
        with policy:
            y = leaf().sin()
        with pytest.raises((RuntimeError, TypeError), match=match):
            y.sum().backward()


def test_keeping_as_it_is_leaks_nothing_and_the_check_for_writes_holds():
    gc.disable()
    try:
        x = leaf()
        with saved.Policy():
            y = x.exp()
            z = y.sin()
        gone = weakref.ref(y.grad_fn)
        y.detach().add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()
        del y, z
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("policy", [saved.Policy(), Clones()])
def test_writing_is_allowed_where_mutation_is(policy):
    x = leaf()
    with torch.autograd.graph.allow_mutation_on_saved_tensors(), policy:
        h = x * 1
        y = h.sin() + h.exp().mul_(2)
        h.add_(1)
        y.sum().backward()
    assert torch.allclose(x.grad, x.cos() + 2 * x.exp())


def test_a_function_of_the_user_tells_its_slot():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            assert ctx.saved_tensors[0].shape == (3,)
            return g * 2

    policy, x = Clones(), leaf()
    with policy:
        Twice.apply(x).sum().backward()
    assert [(i.op, i.slot, i.kind) for i in policy.seen] == [("Twice", "saved_tensors[0]", "input")]
    assert policy.seen[0].unpacks == 1
    assert policy.seen[0].unpack_seconds > 0


def test_an_informed_recorder_gets_the_note_of_the_policy():
    notes = []

    class Recorder:
        describe = saved.SavedInfo

        def note(self, info, tensor, packed):
            notes.append((info, packed))

    policy, x = Clones(), leaf()
    from gradpack.base.modes import using

    with using(recorder=Recorder()):
        x.exp()
        with policy:
            x.exp()
        with hooks(lambda t: t, lambda p: p):
            y = x.exp()
    y.sum().backward()
    assert [i.slot for i, _ in notes] == ["out"] * 3
    assert notes[0][1] is None
    assert notes[1][0] is policy.seen[0]
    assert notes[2][0].unpacks == 1
