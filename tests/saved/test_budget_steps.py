"""A budget over many steps that differ: lengths, small batches, evaluation, several models, graphs that live on."""

from __future__ import annotations

import sys
from contextlib import nullcontext

import numpy as np
import pytest
from tests.saved.held import Look

import gradpack as torch
from gradpack import saved

nn, F = torch.nn, torch.nn.functional


def model(seed=0, depth=3, width=32):
    torch.manual_seed(seed)
    layers = [layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))]
    return nn.Sequential(*layers)


def batch(rows, seed=0, width=32):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32))


def loss_of(net, policy, rows, seed=0):
    with policy:
        return net(batch(rows, seed)).square().mean()


def grads(*nets):
    found = [p.grad.numpy().copy() for net in nets for p in net.parameters()]
    for net in nets:
        net.zero_grad()
    return found


def same(a, b):
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


def expected(net, rows, seed=0):
    loss_of(net, nullcontext(), rows, seed).backward()
    return grads(net)


def whole(net, rows):
    policy = saved.budget(1 << 40, min_bytes=0)
    loss_of(net, policy, rows).backward()
    net.zero_grad()
    return policy.peak


@pytest.fixture
def net():
    return model()


@pytest.fixture
def policy(net):
    budget = saved.budget(whole(net, 64) // 2, disk="1 GiB", min_bytes=0)
    look = Look(budget, *net.parameters())
    yield budget
    assert max(budget.peak, look.peak) <= budget.limit
    assert budget.held == budget.on_disk == look.now == 0
    assert not budget._entries
    assert len(budget._plans) <= 16


def test_lengths_that_vary_and_a_small_batch_at_the_end(net, policy):
    for _ in range(2):
        for rows in (64, 48, 64, 20, 57, 64, 64, 3):
            loss_of(net, policy, rows).backward()
            same(grads(net), expected(net, rows))
    made = len(policy._plans)
    loss_of(net, policy, 64).backward()
    grads(net)
    assert policy.plan.rows[0].key[2] == (64, 32)  # the one that it had
    assert len(policy._plans) == made


def test_evaluation_in_between(net, policy):
    exact = expected(net, 64)
    for _ in range(3):
        loss_of(net, policy, 64).backward()
        same(grads(net), exact)
        loss_of(net, policy, 64)  # nobody goes backward
        with torch.no_grad():
            loss_of(net, policy, 64)
        with torch.inference_mode():
            loss_of(net, policy, 64)
        assert policy.held == 0
    assert [len(plan.keys) for plan in policy._plans] == [len(policy.plan.keys)]


def test_nobody_ever_goes_backward(net, policy, monkeypatch):
    monkeypatch.setattr(sys.modules["gradpack.saved.budgets.budget"], "_ROWS", 50)
    with policy:
        for _ in range(20):
            net(batch(64)).square().mean()
            assert policy.held == 0
            assert len(policy._profile.rows) <= 80
    assert policy.plan is None


def test_two_models_take_turns(net, policy):
    other = model(1, depth=2)
    policy.pack.__self__.leave_out(other.parameters())  # of the look that the fixture has
    exact = expected(net, 64), expected(other, 40)
    for _ in range(3):
        loss_of(net, policy, 64).backward()
        same(grads(net), exact[0])
        loss_of(other, policy, 40).backward()
        same(grads(other), exact[1])
    for _ in range(2):  # and both in one step
        (loss_of(net, policy, 64) + loss_of(other, policy, 40)).backward()
        same(grads(net, other), [*exact[0], *exact[1]])


def test_gradients_add_up_over_several_graphs(net, policy):
    for seed in range(4):
        loss_of(net, nullcontext(), 24, seed).backward()
    exact = grads(net)
    for _ in range(3):
        for seed in range(4):
            loss_of(net, policy, 24, seed).backward()
        same(grads(net), exact)


def test_a_graph_that_lives_on_while_others_come_and_go(net, policy):
    exact, old = expected(net, 64), expected(net, 24, 5)
    kept = loss_of(net, policy, 24, 5)
    for _ in range(3):
        loss_of(net, policy, 64).backward()
        same(grads(net), exact)
        assert policy.held > 0
    kept.backward(retain_graph=True)
    same(grads(net), old)
    loss_of(net, policy, 64).backward()
    same(grads(net), exact)
    kept.backward()
    same(grads(net), old)


def test_what_an_earlier_round_has_saved_is_started_from(policy):
    x = batch(64).requires_grad_()
    with policy:
        for _ in range(4):
            h = (x @ x.T).tanh()  # many rows
        first = h.sin()
    first.sum().backward(retain_graph=True)
    x.grad = None
    for _ in range(2):
        with policy:  # another round, of few rows, whose tensors may be made of h
            (h * 2.0).exp().sum().backward(inputs=[x], retain_graph=True)
        x.grad = None
    assert all(needed < len(plan.rows) for plan in policy._plans for row in plan.rows for needed in row.needs)
    del first, h


def test_a_step_of_the_optimizer_while_a_graph_lives(net, policy):
    """What was dropped is made again from parameters as they were: of those there are copies now, which count."""
    exact = expected(net, 64)
    out = loss_of(net, policy, 64)
    before = policy.held
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(parameter)  # as far as anybody can tell, a write
    assert before <= policy.held <= policy.limit
    try:
        out.backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)  # noqa: PT017 - as it does without a budget
    else:
        same(grads(net), exact)
    net.zero_grad()
    del out


def test_a_step_that_fails_in_the_middle(net, policy):
    exact = expected(net, 64)
    for _ in range(3):
        loss_of(net, policy, 64).backward()
        same(grads(net), exact)
        with pytest.raises(RuntimeError, match="cannot be multiplied"), policy:
            net(batch(64)) @ batch(5)
        assert policy.held == policy.on_disk == 0


def test_blocks_within_a_step_and_steps_within_a_block(net, policy):
    exact = expected(net, 64)
    with policy:
        for _ in range(3):
            net(batch(64)).square().mean().backward()
            same(grads(net), exact)
    for _ in range(2):
        h = batch(64)
        for layer in net:
            with policy:
                h = layer(h)
        h.square().mean().backward()
        same(grads(net), exact)
        del h


def test_planning_stays_a_small_part_where_no_step_is_like_another(net):
    policy = saved.budget(whole(net, 64) // 2, disk="1 GiB", min_bytes=0, seed=0)
    for step in range(60):
        loss_of(net, policy, 64 + step).backward()
    assert 0 < policy._efforts <= policy._credit + 0.03 * policy._watch.spent
    assert policy.peak <= policy.limit
    net.zero_grad()


def test_the_same_seed_makes_the_same_choices_over_many_steps(net):
    found = []
    for _ in range(2):
        policy = saved.budget(whole(net, 64) // 3, disk="1 GiB", min_bytes=0, seed=0)
        for rows in (64, 64, 40, 64, 20, 40):
            loss_of(net, policy, rows).backward()
            net.zero_grad()
        found.append([[(row.chosen, row.seconds, row.why) for row in plan.explain()] for plan in policy._plans])
    assert found[0] == found[1]
