"""The planner against all plans that there are, on small problems; limits on large ones."""

from __future__ import annotations

from itertools import pairwise, product
from random import Random

import pytest

from gradpack.saved.planner import Choice, Item, outcome, plan


def best_of_all(items, limit, disk):
    """The least time of any plan that fits; None if none does."""
    found = None
    for chosen in product(*(range(len(item.choices)) for item in items)):
        result = outcome(items, chosen)
        if result.peak <= limit and result.disk <= disk and (found is None or result.seconds < found):
            found = result.seconds
    return found


def problem(random, count, nested=True, with_disk=True):
    """Tensors of a forward and a backward pass: saved one after the other, used in about the opposite order."""
    items = []
    for i in range(count):
        size = random.choice([64, 256, 1024]) * random.randint(1, 40)
        choices = [Choice("keep", size, 0.0)]
        if random.random() < 0.7:
            needs = tuple({random.randrange(i)} if i and random.random() < 0.8 else ())
            choices.append(Choice("recompute", 0, size * random.uniform(0.1, 3), needs=needs))
        if random.random() < 0.6:
            seconds = size * random.uniform(0.5, 1.5)
            choices.append(Choice("lossless", int(size * random.uniform(0.4, 0.9)), seconds, fetch=seconds / 2))
        if with_disk and random.random() < 0.8:
            seconds = size * random.uniform(1, 4)
            choices.append(Choice("disk", 0, seconds, disk=size, fetch=seconds / 2))
        first = 2 * count - i if nested else random.randint(count, 2 * count)
        items.append(Item(tuple(choices), i, first, first + random.choice([1, 1, 2])))
    return items


@pytest.mark.parametrize("seed", range(60))
def test_close_to_the_best_of_all_plans(seed):
    random = Random(seed)
    items = problem(random, random.randint(2, 6), nested=seed % 3 > 0, with_disk=seed % 4 > 0)
    full = outcome(items, [0] * len(items)).peak
    for part in (0.9, 0.7, 0.5, 0.3, 0.1):
        limit = int(full * part)
        disk = random.choice([0, full // 2, full])
        best = best_of_all(items, limit, disk)
        mine = plan(items, limit, disk)
        if best is None:
            assert not mine.fits
            continue
        assert mine.fits
        assert mine.outcome.peak <= limit
        assert mine.outcome.disk <= disk
        assert mine.outcome.seconds <= best * 1.10 + 1e-9


def test_nothing_is_paid_where_there_is_room():
    items = problem(Random(1), 20)
    found = plan(items, outcome(items, [0] * 20).peak)
    assert found.fits
    assert found.outcome.seconds == 0
    assert found.chosen == [0] * 20


def test_what_does_not_fit_says_how_much_would():
    items = [Item((Choice("keep", 100, 0.0), Choice("lossless", 60, 1.0)), i, 20 - i, 21 - i) for i in range(5)]
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
    first = Item((Choice("keep", 100, 0.0), Choice("recompute", 0, 1.0)), 0, 9, 10)
    second = Item((Choice("keep", 100, 0.0), Choice("recompute", 0, 1.0, needs=(0,))), 1, 5, 6)
    found = outcome([first, second], [1, 1])
    assert found.peak == 100
    assert found.back == {0: 5}
    assert outcome([first, second], [0, 1]).peak == 100


def test_two_peaks_are_both_brought_down():
    early = [Item((Choice("keep", 100, 0.0), Choice("disk", 0, 3.0, disk=100)), i, 10, 11) for i in range(3)]
    late = [Item((Choice("keep", 100, 0.0), Choice("lossless", 50, 1.0)), 20 + i, 30, 31) for i in range(3)]
    found = plan(early + late, 200, 300)
    assert found.fits
    assert found.outcome.seconds == 5.0


def test_an_optimum_by_linear_programming():
    optimize = pytest.importorskip("scipy.optimize")
    items = problem(Random(11), 24)
    items = [Item(tuple(c for c in item.choices if not c.needs), item.born, item.first, item.last) for item in items]
    full = outcome(items, [0] * len(items)).peak
    places = [(i, n) for i, item in enumerate(items) for n in range(len(item.choices))]
    cost = [items[i].choices[n].seconds for i, n in places]
    for part in (0.8, 0.5, 0.3):
        limit = int(full * part)
        rows = [[float(i == j) for i, _ in places] for j in range(len(items))]
        constraints = [optimize.LinearConstraint(rows, 1, 1)]
        for moment in sorted({item.born for item in items}):
            row = [items[i].choices[n].nbytes * (items[i].born <= moment < items[i].last) for i, n in places]
            constraints.append(optimize.LinearConstraint([row], 0, limit))
        best = optimize.milp(cost, constraints=constraints, integrality=1, bounds=optimize.Bounds(0, 1))
        mine = plan(items, limit, 10 * full)
        assert mine.fits == best.success
        if best.success:
            assert mine.outcome.seconds <= best.fun * 1.10
