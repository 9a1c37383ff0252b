"""`saved.torch`: policies in an installed torch, against torch without hooks and against its own."""

import doctest

import pytest

torch = pytest.importorskip("torch")

from tests.oracle.nets_of_torch import EXACT, Seen, net, plain_hooks, pre_hooks, step  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import gradpack.saved.torch  # noqa: E402
from gradpack import saved  # noqa: E402
from gradpack.saved.torch_graph import learned_info  # noqa: E402


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
    fact = learned_info("ClampBackward1", "self")
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


# --- blocks ---


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
