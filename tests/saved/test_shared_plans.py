"""What one budget has planned is looked at for others: with more room nothing is planned to take longer."""

from __future__ import annotations

import gc
from importlib import import_module
from random import Random

import pytest

import gradpack as torch
from gradpack import saved
from gradpack.saved.budgets import planner
from gradpack.saved.budgets.costs import CallTime
from gradpack.saved.budgets.plans import BudgetLimits
from gradpack.saved.budgets.step_profile import ProfileRow, SharedPlans, StepProfile, adopted, better, planned


def round_of(seed, count=30):
    """A step in which most tensors can be made again of one before."""
    random, done = Random(seed), StepProfile()
    for number in range(count):
        row = ProfileRow(number, ("op", number), 1024 * random.randint(1, 40), done.tick(), False)
        if random.random() < 0.8:
            took = CallTime()
            took.seconds = random.uniform(0.1, 3) * row.nbytes
            row.took, row.needs = [took], (random.randrange(number),) if number else ()
        done.add(row, [])
    for row in reversed(done.rows):
        row.used(done.tick())
    done.uses = count
    return done


def limits(done, part):
    return BudgetLimits(int(part * sum(row.nbytes for row in done.rows)))


def test_more_room_takes_no_more_time_by_plan(monkeypatch):
    rounds = [round_of(seed) for seed in range(8)]
    plans = [planned(done, [], limits(done, 0.5), 0.03) for done in rounds]
    for name in ("climb", "improve"):  # a search that finds little
        monkeypatch.setattr(planner, name, lambda *args: None)
    worse = 0
    for done, best in zip(rounds, plans, strict=True):
        wide = limits(done, 0.52)
        assert planned(done, [], wide, 0.0, others=[best]).seconds <= best.seconds
        worse += planned(done, [], wide, 0.0).seconds > best.seconds
        tight = limits(done, 0.48)  # in which that of more room may not fit
        found = planned(done, [], tight, 0.0, others=[best])
        assert found.fits == (found.peak <= tight.limit)
    assert worse  # else this would say nothing


def test_a_better_plan_of_another_budget_is_taken_over():
    done = round_of(1)
    done.planned = mine = planned(done, [], limits(done, 0.5), 0.0)
    other = planned(done, [], limits(done, 0.45), 0.0)
    assert adopted(done, [], [other]) is mine  # it takes longer
    mine.looked = mine.number
    dear = [n for n, item in enumerate(mine._items) if len(item.choices) > 1]
    mine._plan.chosen = [int(n in dear) for n in range(30)]  # all are made again
    found = adopted(done, [], [other])
    assert found is not mine
    assert found.seconds == other.seconds
    assert found.followed == mine.followed
    assert adopted(done, [], [other]) is mine  # it was looked at
    assert better(done, [], 0.0, [other]).seconds <= other.seconds


def test_plans_are_known_by_the_step_and_forgotten_with_their_budget():
    shared, done = SharedPlans(), round_of(2)
    plan = planned(done, [], limits(done, 0.5), 0.0)
    shared.add(plan)
    assert shared.like(list(done.keys)) == [plan]
    assert shared.like(done.keys[1:]) == []
    plan.fits = False
    assert shared.like(done.keys) == []
    del plan
    assert shared.like(done.keys) == []


def step(policy):
    torch.manual_seed(0)
    w = torch.randn(64, 64, requires_grad=True)
    with policy:
        x = w
        for _ in range(5):
            x = (x @ w * 0.1).exp().tanh()
        loss = x.sum()
    loss.backward()


@pytest.mark.parametrize("seed", [None, 0])
def test_budgets_share_what_they_plan(monkeypatch, seed):
    shared = SharedPlans()
    monkeypatch.setattr(import_module("gradpack.saved.budgets.budget"), "_shared", shared)
    small, large = (saved.budget(n * 64 * 64 * 4, seed=seed, min_bytes=0) for n in (6, 9))
    for _ in range(3):
        step(small)
    assert small.plan.fits
    step(large)
    known = shared.like(large.plan.keys)
    assert (small.plan in known) == (large.plan in known) == (seed is None)
    del small, known
    gc.collect()
    assert len(shared.like(large.plan.keys)) == (seed is None)
