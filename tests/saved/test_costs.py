"""What budgets find out of the machine: nothing that happened once decides, and all of a process share it."""

from __future__ import annotations

from importlib import import_module

import pytest

import gradpack as torch
from gradpack import saved
from gradpack.saved.budgets import costs
from gradpack.saved.budgets.accounting import Method
from gradpack.saved.budgets.costs import LATENCY, TELLING, Rate


@pytest.fixture
def alone(monkeypatch):
    monkeypatch.setattr(costs, "_calls", {})
    monkeypatch.setattr(costs, "_rates", {})


def test_a_rate_is_a_guess_first_and_then_what_was_measured_undisturbed():
    rate = Rate(5.0)
    rate.measured(TELLING - 1, 1.0)
    assert rate.seconds == 5.0
    for seconds in (0.9, 0.1, 0.1, 30.0, 0.1):
        rate.measured(TELLING, seconds + LATENCY)
    assert rate.seconds == pytest.approx(0.1 / TELLING)


def test_a_way_that_was_slow_once_is_tried_again():
    rate = Rate(0.1 / TELLING)
    for tries in range(1, 6):
        rate.measured(TELLING, 30.0)
        assert (rate.seconds < 1 / TELLING) == (tries < 4)


def test_a_rate_forgets_what_is_long_ago():
    rate = Rate(0.0)
    for seconds in [0.1] * 20 + [0.3] * 16:
        rate.measured(TELLING, seconds + LATENCY)
    assert rate.seconds == pytest.approx(0.3 / TELLING)


def test_budgets_share_what_they_have_measured_unless_no_clock_counts(alone):
    mine, other, steady = (Method("lossless", saved.keep(), 0.9, 1e-9, s) for s in (False, False, True))
    elsewhere = Method("lossless", saved.keep(), 0.9, 1e-9, False, "/another/disk")
    before = steady.seconds(1 << 20)
    for _ in range(5):
        mine.took(1 << 20, 0.5)
        steady.took(1 << 20, 0.5)
    assert mine.seconds(1 << 20) == other.seconds(1 << 20) > 0.4
    assert steady.seconds(1 << 20) == elsewhere.seconds(1 << 20) == before


def test_a_second_budget_knows_what_operations_took(alone):
    x = torch.randn(64, 64, requires_grad=True)

    def step(policy):
        with policy:
            y = (x @ x).exp().exp().sum()
        y.backward()

    step(saved.budget("40 KiB"))
    told = costs.call_time(("exp", "cpu", 4 * 64 * 64, 4 * 64 * 64))
    assert 0 < told.seconds < 1
    told.seconds = 0.0
    policy = saved.budget("16 KiB", disk="1 MiB")
    step(policy)
    assert [row.seconds for row in policy.plan.explain() if row.chosen == "recompute"] == [0.0]


def test_a_plan_is_made_anew_when_ways_turn_out_to_cost_something_else(alone, monkeypatch):
    monkeypatch.setattr(
        import_module("gradpack.saved.budgets.budget"), "_CREDIT", 1.0
    )  # however slow planning is just now
    x = torch.randn(64, 64, requires_grad=True)
    policy = saved.budget("40 KiB", disk="1 MiB")

    def step():
        with policy:
            y = (x @ x).exp().exp().exp().sum()
        y.backward()
        return policy.plan

    for _ in range(3):
        plan = step()
    rates = plan.rates
    assert plan.followed == 2 and len(rates) == 2 * len(policy._methods)
    costs._rates["disk", None, "pack"].seconds *= 100
    step()
    assert step().rates != rates


def test_calls_of_endless_kinds_are_not_all_remembered(alone, monkeypatch):
    monkeypatch.setattr(costs, "_KINDS", 8)
    for size in range(100):
        costs.call_time(("exp", "cpu", size, size))
    assert len(costs._calls) <= 8
