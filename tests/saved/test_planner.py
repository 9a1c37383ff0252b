"""The planner against all plans that there are, on small problems; limits on large ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from tests.ops.cases import SWEEP
from tests.saved.best_plan import best_of_all, best_of_many

from gradpack.saved.budgets.assignment import Assignment
from gradpack.saved.budgets.planner import plan
from gradpack.saved.budgets.plans import BudgetLimits, Choice, Item, outcome


def problem(random, count, nested=True, with_disk=True):
    """Tensors of a forward and a backward pass: saved one after the other, used in about the opposite order."""
    items = []
    for i in range(count):
        size = random.choice([64, 256, 1024]) * random.randint(1, 40)
        choices = [Choice("keep", size, 0.0, host=size)]
        if random.random() < 0.7:
            needs = tuple({random.randrange(i)} if i and random.random() < 0.8 else ())
            choices.append(Choice("recompute", 0, size * random.uniform(0.1, 3), needs=needs))
        if random.random() < 0.6:
            seconds = size * random.uniform(0.5, 1.5)
            packed = int(size * random.uniform(0.4, 0.9))
            choices.append(Choice("lossless", packed, seconds, fetch=seconds / 2, host=packed))
        if with_disk and random.random() < 0.8:
            seconds = size * random.uniform(1, 4)
            choices.append(Choice("disk", 0, seconds, disk=size, fetch=seconds / 2))
        first = 3 * count - 2 * i if nested else random.randint(count, 3 * count)
        last = first + random.choice([0, 0, 1])
        if last > first:
            choices += [replace(c, seconds=c.seconds + c.anew, stays=False) for c in choices[1:]]
        items.append(Item(tuple(choices), i, first, last))
    return items


@pytest.mark.parametrize("seed", range(60 if SWEEP else 24))
def test_few_tensors_get_the_best_of_all_plans(seed):
    random = Random(seed)
    items = problem(random, random.randint(2, 6), nested=seed % 3 > 0, with_disk=seed % 4 > 0)
    full = outcome(items, [0] * len(items)).peak
    for part in (0.9, 0.7, 0.5, 0.3, 0.1):
        limit = int(full * part)
        disk, host = random.choice([0, full // 2, full]), random.choice([full // 2, float("inf")])
        best = best_of_all(items, limit, disk, host)
        mine = plan(items, limit, disk, host)
        assert mine.fits == (best is not None)
        if best is not None:
            assert mine.outcome.fits(BudgetLimits(limit, disk, host))
            assert mine.outcome.seconds == pytest.approx(best)


def test_seven_tensors_of_a_chain_get_the_best_of_all_plans():
    items = problem(Random(7), 7)
    full = outcome(items, [0] * 8).peak
    for part in (0.8, 0.4, 0.2):
        limit = int(full * part)
        best = best_of_all(items, limit, full, float("inf"))
        assert plan(items, limit, full, effort=1.0).outcome.seconds == pytest.approx(best)
        assert plan(items, limit, full).outcome.seconds <= 1.10 * best


@pytest.mark.parametrize("seed", range(2))
def test_many_tensors_cost_at_most_a_tenth_more_than_the_optimum(seed):
    pytest.importorskip("scipy.optimize")
    items = problem(Random(seed), 24, nested=seed > 0)
    full = outcome(items, [0] * len(items)).peak
    before = 0.0
    for part in (0.8, 0.5, 0.25):
        limit = int(full * part)
        best = best_of_many(items, limit, full)
        mine = plan(items, limit, full)
        assert mine.fits
        assert mine.outcome.peak <= limit
        assert best <= mine.outcome.seconds * (1 + 1e-3)
        assert mine.outcome.seconds <= best * 1.10
        assert mine.outcome.seconds >= before
        before = mine.outcome.seconds


def test_single_changes_come_to_what_the_whole_comes_to():
    random = Random(3)
    for case in range(60):
        items = problem(random, random.randint(2, 12), nested=case % 2 > 0)
        host = random.choice([20_000, float("inf")])
        limits = BudgetLimits(random.randint(0, 40_000), random.randint(0, 40_000), host)
        it = Assignment(items, [range(len(item.choices)) for item in items], limits)
        for _ in range(30 if it.numbers else 0):
            p = random.randrange(len(it.numbers))
            k = random.randrange(len(it.options[p]))
            said, before = it.trials(), (it.seconds, it.over.copy())
            it.change(p, k)
            assert it.seconds - before[0] == pytest.approx(said.seconds[p, k], abs=1e-5)
            assert (it.over - before[1])[said.columns].tolist() == said.more[p, k].tolist()
            whole = outcome(items, it.all())
            assert it.fits == whole.fits(limits)
            assert it.seconds == pytest.approx(whole.seconds, abs=1e-6)


def test_nothing_is_paid_where_there_is_room():
    items = problem(Random(1), 20)
    found = plan(items, outcome(items, [0] * 20).peak)
    assert found.fits
    assert found.outcome.seconds == 0
    assert found.chosen == [0] * 20


def test_what_does_not_fit_says_how_much_would():
    items = [Item((Choice("keep", 100, 0.0), Choice("lossless", 60, 1.0)), i, 20 - i, 20 - i) for i in range(5)]
    found = plan(items, 200)
    assert not found.fits
    assert found.least == 300
    assert plan(items, found.least).fits


@pytest.mark.parametrize("count", [30, 100])
def test_many_tensors_stay_within_the_limits_and_more_room_costs_no_more(count):
    items = problem(Random(count), count)
    full = outcome(items, [0] * count).peak
    seconds = []
    for part in range(20, 1, -1):
        limit = full * part // 20
        found = plan(items, limit, full)
        assert found.fits == (found.outcome.peak <= limit)
        if found.fits:
            seconds.append(found.outcome.seconds)
    assert len(seconds) > 8
    for more, less in pairwise(seconds):
        assert more <= less * 1.02


def test_the_same_question_has_the_same_answer():
    items = problem(Random(5), 60)
    limit = outcome(items, [0] * 60).peak // 3
    assert plan(items, limit, limit).chosen == plan(items, limit, limit).chosen


def test_what_is_made_again_for_another_is_counted_from_then_on():
    first = Item((Choice("keep", 100, 0.0), Choice("recompute", 0, 1.0)), 0, 9, 9)
    second = Item((Choice("keep", 100, 0.0), Choice("recompute", 0, 1.0, needs=(0,))), 1, 5, 5)
    found = outcome([first, second], [1, 1])
    assert found.peak == 100
    assert found.back == {0: 5}
    assert outcome([first, second], [0, 1]).peak == 100


def test_two_peaks_are_both_brought_down():
    early = [Item((Choice("keep", 100, 0.0), Choice("disk", 0, 3.0, disk=100)), i, 10, 10) for i in range(3)]
    late = [Item((Choice("keep", 100, 0.0), Choice("lossless", 50, 1.0)), 20 + i, 30, 30) for i in range(3)]
    found = plan(early + late, 200, 300)
    assert found.fits
    assert found.outcome.seconds == 5.0


def test_what_lies_on_a_device_may_go_to_host_memory_as_far_as_there_is_some():
    ways = Choice("keep", 100, 0.0), Choice("cpu", 0, 1.0, host=100), Choice("disk", 0, 5.0, disk=100)
    items = [Item(ways, i, 20 - i, 20 - i) for i in range(4)]
    for host, seconds in ((float("inf"), 3.0), (200, 7.0), (0, 15.0)):
        found = plan(items, 100, 400, host)
        assert found.fits
        assert found.outcome.seconds == seconds
        assert found.outcome.host <= host
    assert not plan(items, 100, 200, 0).fits


def test_where_a_few_changes_will_do_they_add_up_to_just_enough():
    pytest.importorskip("scipy.optimize")
    for seed in range(3):
        random = Random(seed)
        sizes = [random.choice([1327, 442, 442, 55, 18, 5]) * 1000 + random.randint(0, 99) for _ in range(24)]
        items = []
        for i, size in enumerate(sizes):
            again, packed = size * random.uniform(0.4, 0.9), size * random.uniform(0.6, 1.2) + 1e5
            choices = Choice("keep", size, 0.0), Choice("recompute", 0, again), Choice("disk", 0, packed, disk=size)
            items.append(Item(choices, i, 60 - i, 60 - i))
        for part in (0.95, 0.9, 0.85):
            limit = int(sum(sizes) * part)
            mine = plan(items, limit, sum(sizes), effort=0.0)
            assert mine.outcome.seconds <= 1.02 * best_of_many(items, limit, sum(sizes))
