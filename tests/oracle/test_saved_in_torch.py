"""`saved.torch`: policies in an installed torch, against torch without hooks and against its own."""

import doctest
import gc
import threading
import weakref

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import gradpack.saved.torch  # noqa: E402
from gradpack import saved  # noqa: E402
from gradpack.saved.nodes_of_torch import learned  # noqa: E402

F = nn.functional
plain_hooks = torch.autograd.graph.saved_tensors_hooks

EXACT = {
    "as it is": lambda: saved.Policy(),
    "keep": lambda: saved.keep(),
    "lossless": lambda: saved.lossless("zlib", min_bytes=1),
    "disk": lambda: saved.disk(min_bytes=1, reserve=0),
    "cpu": lambda: saved.cpu(min_bytes=1),
    "cpu >> disk": lambda: saved.cpu(min_bytes=1) >> saved.disk(min_bytes=1, reserve=0),
    "mask >> lossless": lambda: saved.mask() >> saved.lossless("zlib", min_bytes=1),
}


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + self.out((q @ k.transpose(-1, -2)).softmax(-1) @ v)
        return x + self.mlp(x)


class Net(nn.Module):
    def __init__(self, width=16, again=False):
        super().__init__()
        self.again = again
        self.blocks, self.head = nn.ModuleList([Block(width), Block(width)]), nn.Linear(width, 11)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.again else block(x)
        return self.head(x.relu())


def loss_of(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y)


def step(model, hooks=None, seed=1):
    torch.manual_seed(seed)
    x, y = torch.randn(4, 6, 16, requires_grad=True), torch.randint(11, (24,))
    if hooks is None:
        loss = loss_of(model, x, y)
    else:
        with hooks:
            loss = loss_of(model, x, y)
    model.zero_grad()
    loss.backward()
    return torch.cat([x.grad.flatten(), *(p.grad.flatten() for p in model.parameters())])


def net(again=False):
    torch.manual_seed(0)
    return Net(again=again)


class Seen(saved.Policy):
    """Leaves all as it is, and notes what it was told."""

    def __init__(self):
        self.infos = []

    def pack(self, tensor, info=None):
        self.infos.append(info)
        return tensor


@pytest.mark.parametrize("again", [False, True], ids=["", "checkpoint"])
@pytest.mark.parametrize("make", EXACT.values(), ids=EXACT)
def test_exact_policies_change_no_bit(make, again):
    model = net(again)
    hooks = saved.torch.hooks(make(), model)
    expected = step(model)
    assert torch.equal(step(model, torch.autograd.graph.save_on_cpu()), expected)
    for _ in range(3):
        assert torch.equal(step(model, hooks), expected)


def test_hooks_within_a_checkpoint_pack_what_is_made_again():
    model = net().eval()
    x = torch.randn(3, 5, 16, requires_grad=True)
    (expected,) = torch.autograd.grad(model(x).sum(), x)
    inside = saved.torch.hooks(saved.disk(min_bytes=1, reserve=0), model)

    def run():
        with inside:
            return model(x)

    (got,) = torch.autograd.grad(checkpoint(run, use_reentrant=False).sum(), x)
    assert torch.equal(got, expected)


# --- what is known ---


def test_modules_parameters_and_buffers():
    model = nn.Sequential(nn.Linear(4, 5), nn.Sequential(nn.BatchNorm1d(5), nn.Tanh()))
    seen = Seen()
    with saved.torch.hooks(seen, model):
        model(torch.randn(3, 4))[:, 0].exp().sum()
    known = [(i.module, i.kind, i.shape) for i in seen.infos]
    assert ("1.0", "buffer", (5,)) in known
    assert ("1.0", "parameter", (5,)) in known
    assert {m for m, _, _ in known} == {"0", "1.0", "1.1", ""}
    assert seen.infos[-1].modules == ()
    assert seen.infos[0].modules == ("Sequential", "Linear")


def test_a_transposed_weight_is_a_parameter():
    model, seen = nn.Sequential(nn.Linear(40, 50), nn.Linear(50, 60)), Seen()
    with saved.torch.hooks(seen, model):
        model(torch.randn(3, 40, requires_grad=True)).sum()
    assert [i.kind for i in seen.infos if i.shape in ((40, 50), (50, 60))] == ["parameter"] * 2
    detached = Seen()  # no view of a parameter, but its memory
    with saved.torch.hooks(detached, model):
        torch.randn(3, 40, requires_grad=True) @ model[0].weight.detach().t()
    assert [i.kind for i in detached.infos] == ["parameter"]


def test_operations_are_learned_by_the_second_step():
    model, seen = net(), Seen()
    hooks = saved.torch.hooks(seen, model)
    step(model, hooks)
    assert {i.op for i in seen.infos} == {""}
    del seen.infos[:]
    step(model, hooks, seed=2)
    assert all(i.node_name and i.slot for i in seen.infos)
    known = {(i.module, i.op, i.slot) for i in seen.infos}
    assert {
        ("blocks.0.mlp.1", "gelu", "input"),
        ("blocks.1.norm", "native_layer_norm", "mean"),
        ("blocks.1", "softmax", "out"),
        ("head", "addmm", "mat1"),
        ("", "log_softmax", "out"),
        ("", "nll_loss", "input"),
    } <= known
    assert {i.op for i in seen.infos if i.exact and i.kind != "stat"} == {"log_softmax", "nll_loss"}
    stats = [i for i in seen.infos if i.kind == "stat"]
    assert len(stats) == 4
    assert all("layer_norm" in i.names for i in stats)


def test_two_slots_of_one_node_and_a_function():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, x * 3)
            return x * x * 3

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            return grad * (x + y / 3) * 3

    seen = Seen()
    hooks = saved.torch.hooks(seen)
    for _ in range(2):
        del seen.infos[:]
        x = torch.randn(3, requires_grad=True)
        with hooks:
            y = Scaled.apply(x).sum() + (x * x).sum()
        y.backward()
        assert torch.allclose(x.grad, 8 * x)
    assert sorted((i.op, i.slot) for i in seen.infos) == [
        ("Scaled", "saved_tensors[0]"),
        ("Scaled", "saved_tensors[1]"),
        ("mul", "input"),
        ("mul", "other"),
    ]


def test_where_chooses_by_operation_from_the_second_step():
    seen = Seen()
    hooks = saved.torch.hooks(seen.where(op="exp", slot="out"))
    for expected in (0, 1, 1):
        del seen.infos[:]
        x = torch.randn(3, 2, requires_grad=True)
        with hooks:
            y = x.sin().exp().tanh().sum()
        y.backward()
        assert len(seen.infos) == expected


def test_losses_are_left_alone_once_they_are_known():
    model = net()
    expected = step(model)
    hooks = saved.torch.hooks(saved.bf16(min_bytes=1), model)
    errors = [float((step(model, hooks) - expected).norm() / expected.norm()) for _ in range(3)]
    assert errors[1] == errors[2]
    assert 0 < errors[1] < errors[0]


def test_what_compares_is_left_alone_and_zeros_of_relu_stay():
    fact = learned("ClampBackward1", "self")
    assert (fact.exact, fact.label, fact.names[0]) == (True, ("ClampBackward1", "input"), "clamp")
    torch.manual_seed(0)
    x = torch.randn(300, 300, requires_grad=True)
    hooks = saved.torch.hooks(saved.quantize(8, min_bytes=1))
    for is_known in (False, True, True):
        with hooks:
            relu, clamp = x.relu().sum(), x.clamp(-1, 1).sum()
        (by_relu,), (by_clamp,) = torch.autograd.grad(relu, x), torch.autograd.grad(clamp, x)
        assert float((by_relu != (x > 0)).float().mean()) < 0.01
        assert torch.equal(by_clamp, (x.abs() <= 1).float()) == is_known


def test_another_way_through_the_program_is_taken_for_what_it_is():
    seen = Seen()
    hooks = saved.torch.hooks(seen)
    for with_sin in (False, True, False, True):
        del seen.infos[:]
        x = torch.randn(3, requires_grad=True)
        with hooks:
            h = x * 2
            h = (h.sin() if with_sin else h).exp().sum()
        h.backward()
    assert [(i.op, i.slot) for i in seen.infos] == [("mul", "other"), ("sin", "input"), ("exp", "out")][
        -len(seen.infos) :
    ]


def test_one_block_around_many_steps():
    seen, x = Seen(), torch.randn(3, requires_grad=True)
    with saved.torch.hooks(seen):
        for _ in range(3):
            del seen.infos[:]
            (x * x).exp().sum().backward()
    assert [i.op for i in seen.infos] == ["mul", "mul", "exp"]


# --- soundness ---


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
        if hasattr(policy, "wait"):
            policy.wait()
            assert not policy._known
        assert [g() for g in gone] == [None, None]
        known = weakref.ref(model)
        del hooks, model, x, policy
        assert known() is None
    finally:
        gc.enable()


# --- blocks ---


def pre_hooks(model):
    return sum(len(m._forward_pre_hooks) + len(m._forward_hooks) for m in model.modules())


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


def test_hooks_that_are_forbidden_are_not_entered():
    model = net()
    with (
        torch.autograd.graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        saved.torch.hooks(saved.bf16(), model),
    ):
        pass
    assert pre_hooks(model) == 0


def test_as_a_decorator():
    seen = Seen()

    @saved.torch.hooks(seen)
    def f(x):
        return x.exp()

    f(torch.ones(2, requires_grad=True))
    assert len(seen.infos) == 1


def test_what_is_refused():
    with pytest.raises(TypeError, match=r"hooks.*policy"):
        saved.torch.hooks((lambda t: t, lambda t: t))
    with pytest.raises(TypeError, match=r"hooks.*Module"):
        saved.torch.hooks(saved.bf16(), torch.ones(2))
    for policy in (saved.budget("1 MiB"), saved.recompute() >> saved.bf16()):
        with pytest.raises(ValueError, match="stores"):
            saved.torch.hooks(policy)


# --- the meter ---


def test_the_meter_counts_storages_once_and_no_parameters():
    model = nn.Sequential(nn.Linear(100, 200), nn.Tanh())
    x = torch.randn(50, 100)
    with saved.torch.meter(model) as m:
        loss = model(x).square().sum()
        assert m.now == m.peak == 4 * (50 * 100 + 50 * 200)
        loss.backward()
        assert m.now == 4 * 50 * 100  # the input is the program's
    del x
    assert m.now == 0


@pytest.mark.parametrize("outside", [True, False])
def test_the_meter_sees_what_policies_keep(outside):
    x = torch.zeros(100_000, requires_grad=True)
    meter, hooks = saved.torch.meter(), saved.torch.hooks(saved.lossless("zlib", min_bytes=1))
    with meter if outside else hooks, hooks if outside else meter:
        y = (x * 1).exp().sum()
        assert 0 < meter.now < 4000
        y.backward()
    assert meter.now == 0
    assert meter.peak > 400_000


def test_the_meter_leaves_the_hooks_around_it_in_place():
    x = torch.ones(3, requires_grad=True)
    calls = []
    with plain_hooks(lambda t: calls.append(1) or t * 2, lambda t: t / 2), saved.torch.meter() as m:
        y = x.exp().sum()
    assert calls == [1]
    assert m.now == 12
    y.backward()
    assert torch.equal(x.grad, x.detach().exp())


def test_the_examples_run():
    test = doctest.DocTestFinder(exclude_empty=True).find(gradpack.saved.torch)
    for one in test:
        one.globs = {}
        said = []
        assert not doctest.DocTestRunner().run(one, out=said.append).failed, "".join(said)


@pytest.mark.parametrize("way", ["disk", "lossless", "keep"])
def test_parts_that_count_their_own_writes(way):
    # A cell of an LSTM computes its gates in place in the parts that unsafe_chunk makes: one after the other.
    torch.manual_seed(0)
    cell, x = torch.nn.LSTMCell(64, 64), torch.randn(64, 64)

    def gradients():
        h = c = torch.zeros(64, 64)
        for _ in range(3):
            h, c = cell(x, (h, c))
        return torch.autograd.grad((h * c).sum(), list(cell.parameters()))

    expected = gradients()
    policy = {
        "disk": lambda: saved.disk(min_bytes=1, reserve=0),
        "lossless": lambda: saved.lossless("zlib"),
        "keep": saved.keep,
    }[way]()
    with saved.torch.hooks(policy, cell):
        found = gradients()
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
