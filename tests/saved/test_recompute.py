"""Saved tensors that are made again instead of kept: exactly, once in a pass, and nothing stays behind."""

from __future__ import annotations

import gc
from contextlib import nullcontext

import numpy as np
import pytest

import gradpack as torch
from gradpack.backends.memory_layout import owner_of
from gradpack.base.modes import using
from gradpack.saved import recompute
from gradpack.saved.policies import recompute_graph as recipes

F = torch.nn.functional
SIZE = 600  # float32: above what notes hold themselves


def leaf(*shape, seed=0):
    made = torch.from_numpy(np.random.default_rng(seed).standard_normal(shape or (SIZE,)).astype(np.float32))
    return made.requires_grad_()


@pytest.fixture
def ran(monkeypatch):
    """The names of operations that recipes ran, in order."""
    names = []
    again = recipes.RecordedOp.run_again

    def counted(self, arrays):
        names.append(self.op.name)
        return again(self, arrays)

    monkeypatch.setattr(recipes.RecordedOp, "run_again", counted)
    return names


def gradients(function, *inputs, policy=None, **given):
    for x in inputs:
        x.grad = None
    torch.manual_seed(7)
    with policy or nullcontext():
        out = function(*inputs)
    out.sum().backward(**given)
    return [x.grad.numpy().copy() for x in inputs]


def same(function, *inputs):
    exact = gradients(function, *inputs)
    again = gradients(function, *inputs, policy=recompute(at_least=0))
    for a, b in zip(exact, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_chain_is_made_again_once(ran):
    x = leaf()

    def chain(x):
        for _ in range(4):
            x = (x * 0.5).tanh().exp()
        return x

    exact = gradients(chain, x)
    mine = gradients(chain, x, policy=recompute(at_least=0))
    np.testing.assert_array_equal(exact[0], mine[0])
    assert sorted(ran) == ["exp"] * 3 + ["mul"] * 4 + ["tanh"] * 4  # the last exp is the result, which lives


def test_the_first_of_a_chain_is_kept_where_nothing_else_is(ran):
    x = leaf(30, 30)
    same(lambda x: (x @ x).exp().exp().exp(), x)
    assert ran == ["exp"]  # the second, from the first, which was kept: its own operand was not


def test_long_chains_have_anchors(ran):
    x = leaf()

    def chain(x):
        for _ in range(200):
            x = x.tanh()
        return x

    mine = gradients(chain, x, policy=recompute(at_least=0))
    np.testing.assert_array_equal(mine[0], gradients(chain, x)[0])
    assert 150 < len(ran) < 200


def test_dropout_draws_the_same_again(ran):
    x = leaf(40, 40)
    same(lambda x: F.dropout((x @ x).exp(), 0.5, True).exp().exp(), x)
    assert "_dropout" in ran


def test_recomputing_leaves_the_generator_alone():
    x = leaf(40, 40)
    torch.manual_seed(0)
    with recompute(at_least=0):
        y = F.dropout(x.exp(), 0.5, True).exp().exp()
    y.sum().backward()
    after = torch.rand(3).tolist()
    torch.manual_seed(0)
    F.dropout(x.exp(), 0.5, True)
    assert after == torch.rand(3).tolist()


def test_other_random_operations(ran):
    same(lambda x: F.rrelu(x * 1.0, training=True).exp().exp(), leaf())
    assert "rrelu" in ran


def test_the_tensor_is_taken_while_it_is_there(ran):
    x = leaf()
    with recompute(at_least=0):
        h = x.exp()
        y = h.exp()
    y.sum().backward()
    assert ran == []


def test_a_write_to_what_a_recipe_starts_from_leaves_it_a_copy(ran):
    base = leaf(seed=1)

    def f(x, write):
        h = x * 1.0  # not saved by mul with a number
        y = h.tanh()
        z = y.exp()
        if write:
            h.add_(1.0)
        return z

    def with_write(x):
        return f(x, True)

    exact = gradients(with_write, base)
    mine = gradients(with_write, base, policy=recompute(at_least=0))
    np.testing.assert_array_equal(exact[0], mine[0])


def test_a_write_that_leaves_no_copy_raises():
    x = leaf(30, 30)
    h = (x @ x).detach().requires_grad_()
    with recompute(at_least=0):
        y = h.exp().exp()
    with torch.no_grad():
        h._data += 1  # as a foreign library would, with the version told
        torch.autograd.graph.increment_version(h)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_kept_tensor_is_still_checked():
    x = leaf(30, 30)
    with recompute(at_least=0):
        y = (x @ x).exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("name", ["relu_", "sigmoid_", "tanh_", "exp_", "neg_"])
def test_operations_in_place(name):
    x = leaf(30, 30)
    same(lambda x: getattr((x @ x).tanh().mul(0.5), name)().exp().exp(), x)


def test_in_place_on_views():
    def f(x):
        h = (x @ x) * 2.0
        h[3:9].mul_(2.0)
        y = h.exp()
        h[0].add_(1.0)
        return (h.tanh() + y).exp()

    same(f, leaf(30, 30))


def test_views_of_one_storage():
    def f(x):
        q, k, v = F.layer_norm(x, (60,)).chunk(3, -1)
        return (q.transpose(0, 1) @ k @ v.transpose(0, 1)).exp()

    same(f, leaf(40, 60))


def test_retain_graph_runs_once_in_each_pass(ran):
    x = leaf()
    with recompute(at_least=0):
        y = x.tanh().exp().exp()
    once = []
    for last in (False, False, True):
        x.grad = None
        ran.clear()
        y.sum().backward(retain_graph=not last)
        once.append(list(ran))
        assert gradients(lambda x: x.tanh().exp().exp(), leaf())[0].tolist() == x.grad.tolist()
    # `y` itself lives, and is not made again
    assert once == [["tanh", "exp"]] * 3


def test_nothing_is_held_between_passes(ran):
    x = leaf()
    with recompute(at_least=0):
        y = (x.tanh().exp().exp() * 2.0).sum()
    y.backward(retain_graph=True)
    handles = [o for o in gc.get_objects() if type(o) is recipes.DroppedTensor]
    assert handles
    assert all(h.waiting is None for h in handles)
    assert all(not h.recipe.waiting and h.recipe.living() is None for h in handles)


def test_double_backward(ran):
    def second(policy):
        x = leaf()
        with policy:
            y = (x.tanh() * x).exp().exp()
            (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (g2,) = torch.autograd.grad((g * g).sum(), x)
        return g.detach().numpy(), g2.numpy()

    for a, b in zip(second(nullcontext()), second(recompute(at_least=0)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert ran


def test_double_backward_after_the_block():
    def second(policy):
        x = leaf()
        with policy:
            y = (x.tanh() * x).exp().exp()
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return torch.autograd.grad((g * g).sum(), x)[0].numpy()

    np.testing.assert_array_equal(second(nullcontext()), second(recompute(at_least=0)))


def test_two_live_graphs_and_an_unused_branch():
    policy = recompute(at_least=0)
    x = leaf()
    with policy:
        first = x.tanh().exp().exp()
        unused = first.exp().exp()
        second = x.tanh().exp().exp()
    second.sum().backward()
    first.sum().backward()
    exact = gradients(lambda x: 2.0 * x.tanh().exp().exp(), leaf())
    np.testing.assert_allclose(x.grad.numpy(), exact[0], rtol=1e-6)
    del first, second, unused
    assert not policy._notes._known or all(known[0]() is x._data for known in policy._notes._known.values())
    assert not policy._kept


def test_no_cycles():
    gc.collect()
    gc.disable()
    try:
        before = sum(
            type(o) in (recipes.DroppedTensor, recipes.Recipe, recipes.Anchor, recipes.RecordedArray)
            for o in gc.get_objects()
        )
        x = leaf()
        with recompute(at_least=0):
            y = F.dropout((x * x).tanh().exp(), 0.3, True).exp()
        y.sum().backward()
        del x, y
        after = sum(
            type(o) in (recipes.DroppedTensor, recipes.Recipe, recipes.Anchor, recipes.RecordedArray)
            for o in gc.get_objects()
        )
    finally:
        gc.enable()
    assert before == after


def test_a_write_counter_is_left_as_it_was():
    x = leaf(30, 30)
    with recompute(at_least=0):
        y = (x.exp() @ x).tanh().exp().exp()
    y.sum().backward()
    del y
    assert x._counter == [0]


def test_networks_of_all_kinds():
    torch.manual_seed(0)
    nets = [
        (
            torch.nn.Sequential(
                torch.nn.Conv2d(3, 8, 3, padding=1),
                torch.nn.BatchNorm2d(8),
                torch.nn.ReLU(),
                torch.nn.Conv2d(8, 8, 3, padding=1),
                torch.nn.BatchNorm2d(8),
                torch.nn.ReLU(inplace=True),
                torch.nn.MaxPool2d(2),
                torch.nn.Flatten(),
                torch.nn.Dropout(0.2),
                torch.nn.Linear(8 * 64, 10),
            ),
            (4, 3, 16, 16),
        ),
        (torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), (4, 16, 32)),
        (torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.SiLU(), torch.nn.GroupNorm(4, 64)), (16, 64)),
    ]
    for net, shape in nets:
        x = torch.from_numpy(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
        found = []
        for policy in (nullcontext(), recompute(at_least=0)):
            torch.manual_seed(5)
            net.zero_grad()
            with policy:
                y = net(x)
            (y * y).sum().backward()
            found.append([p.grad.numpy().copy() for p in net.parameters()])
        for a, b in zip(*found, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_transformer_with_dropout_keeps_less():
    from gradpack.examples.gpt import GPT, loss_of

    torch.manual_seed(0)
    model = GPT(64, 32, 64, 4, 2, 0.1)
    tokens = torch.randint(64, (4, 32))
    kept, found = [], []
    for policy in (nullcontext(), recompute(at_least=0)):
        seen = {}

        class Recorder:
            def saved(self, op_name, slot, tensor, packed, seen=seen):
                whole = owner_of(tensor._data)
                if not isinstance(packed, recipes.DroppedTensor):
                    seen[id(whole)] = whole

        torch.manual_seed(5)
        model.zero_grad()
        with using(recorder=Recorder()):
            with policy:
                logits = model(tokens)
            loss = loss_of(logits, tokens)
        for p in model.parameters():
            seen.pop(id(owner_of(p._data)), None)
        kept.append(sum(array.nbytes for array in seen.values()))
        del logits
        loss.backward()
        found.append([p.grad.numpy().copy() for p in model.parameters()])
    assert kept[1] <= 0.6 * kept[0]
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_it_combines_with_other_policies():
    from gradpack import saved

    def f(x):
        return F.layer_norm(x @ x, (40,)).tanh().exp().exp() @ x

    x = leaf(40, 40)
    exact = gradients(f, x)
    for policy in (
        recompute(at_least=0) >> saved.disk(min_bytes=0),
        saved.disk(min_bytes=0).where(op="matmul") >> recompute(at_least=0),
        recompute(at_least=0).where(op="exp"),
    ):
        for _ in range(2):
            mine = gradients(f, x, policy=policy)
            np.testing.assert_array_equal(exact[0], mine[0])
    rounded = gradients(f, x, policy=recompute(at_least=0) >> saved.bf16(0))
    np.testing.assert_allclose(rounded[0], exact[0], rtol=0.2, atol=0.2 * np.abs(exact[0]).max())


def test_as_a_decorator_and_in_a_thread(ran):
    import threading

    from gradpack import saved

    x = leaf()
    policy = recompute(at_least=0)

    @policy
    def f(x):
        return x.tanh().exp().exp()

    f(x).sum().backward()
    exact = x.grad.tolist()
    assert ran == ["tanh", "exp", "exp"]
    for function, expected in ((lambda: x.tanh().exp().exp().sum().backward(), []), (None, ["tanh", "exp", "exp"])):
        x.grad = None
        ran.clear()
        with policy:
            work = saved.propagate(lambda: x.tanh().exp().exp().sum().backward()) if function is None else function
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        assert ran == expected
        assert x.grad.tolist() == exact


def test_with_mutation_mode():
    x = leaf()
    exact = gradients(lambda x: x.tanh().exp().sin(), x)
    x.grad = None
    with torch.autograd.graph.allow_mutation_on_saved_tensors(), recompute(at_least=0):
        h = x.tanh()
        y = h.exp()
        z = y.sin()
        h.mul_(2.0)
        y.mul_(2.0)
        z.sum().backward()
    np.testing.assert_array_equal(exact[0], x.grad.numpy())


def test_under_autocast_and_anomaly_mode():
    x, w = leaf(40, 40), leaf(40, 40, seed=2)

    def f(x, w):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return F.layer_norm(x @ w, (40,)).tanh().exp().float()

    same(f, x, w)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        same(lambda x, w: (x @ w).softmax(-1).exp().exp(), x, w)


@pytest.mark.parametrize("wrong", [1.5, "64 KiB"])
def test_a_size_that_is_none(wrong):
    with pytest.raises(TypeError, match="at_least is a number of bytes"):
        recompute(at_least=wrong)
    with pytest.raises(ValueError, match="at_least is a number of bytes"):
        recompute(at_least=-1)
