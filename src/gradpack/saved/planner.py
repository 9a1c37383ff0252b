"""Which saved tensor to keep in which way, so that what is held stays within limits and the least time is paid.

Plain functions on plain data: nothing here knows tensors. The plan is exact where there are few tensors and close
to it where there are many; the same question gives the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .assignment import Assignment
from .choices import Item, Limits, Outcome, outcome
from .exact import cheapest
from .knapsack import enough
from .search import climb, descend, improve

EFFORT = 0.03  # seconds that planning may take, about
FEW = 10  # tensors for which all plans are looked at, as far as they may be cheaper
_NODE = 1e-5  # seconds that looking at a part of a plan takes
_NODES = 500  # that are looked at in any case


@dataclass
class Plan:
    """For each item the number of its choice, and what that comes to.

    Attributes:
        fits: is it within the limits?
        least: the fewest bytes that any plan found would hold, where none fits.
    """

    chosen: list[int]
    outcome: Outcome
    fits: bool
    least: int = field(default=0)


def plan(
    items: Sequence[Item],
    limit: int,
    disk: int = 0,
    host: float = float("inf"),
    effort: float = EFFORT,
    start: Sequence[int] | None = None,
) -> Plan:
    """The cheapest way of keeping `items` within limits in bytes, as far as found.

    If nothing fits, what holds the fewest bytes.

    Args:
        limit: where tensors live.
        disk: on disk.
        host: in host memory.
        effort: seconds that improving on a first plan is worth. No clock is looked at: it is so many changes that are
            tried.
        start: choices that may be good, which were found before: where they fit the plan takes no more time.
    """
    limits = Limits(limit, disk, host)
    allowed = [_worthwhile(item, limits) for item in items]
    it = Assignment(items, allowed, limits)
    if it.fits:
        return _made(items, it.all())
    if descend(it):
        climb(it)
    else:
        it.set(_smallest(it))
        least = it.all()
        if not descend(it):
            return _made(items, least, False)
        climb(it)
    if start is not None:
        _from_choices(it, start)
    if len(items) > FEW:
        _from_one_moment(it)
        improve(it, it.work + effort)
        return _made(items, it.all())
    found = it.all()
    return _made(items, cheapest(items, allowed, limits, found, max(int(effort / _NODE), _NODES)) or found)


def _from_choices(it: Assignment, start: Sequence[int]) -> None:
    """Takes choices that were found before, and climbs from there, if that comes to less time."""
    best, chosen = it.seconds, it.chosen.copy()
    it.set([ns.index(start[i]) if start[i] in ns else 0 for i, ns in zip(it.numbers, it.ways, strict=True)])
    if it.fits:
        climb(it)
    if not it.fits or it.seconds >= best:
        it.set(chosen)


def _from_one_moment(it: Assignment) -> None:
    """Takes what is cheapest at the fullest moment, makes it good at others, if that comes to less time."""
    best, chosen = it.seconds, it.chosen.copy()
    found = enough(it)
    if found is not None:
        it.set(found)
        if descend(it):
            climb(it)
    if found is None or not it.fits or it.seconds >= best:
        it.set(chosen)


def _made(items: Sequence[Item], chosen: list[int], fits: bool = True) -> Plan:
    result = outcome(items, chosen)
    return Plan(chosen, result, fits, 0 if fits else result.peak)


def _worthwhile(item: Item, limits: Limits) -> list[int]:
    """The choices of an item that may be of use, whatever the others are; the first is always one."""
    fitting = [
        n for n, c in enumerate(item.choices) if not n or all(t <= l for t, l in zip(c.takes, limits, strict=True))
    ]
    return [n for n in fitting if not any(_beats(item, m, n) for m in fitting)]


def _beats(item: Item, m: int, n: int) -> bool:
    """Whether one choice is as good as another in every way, and better or named first."""
    a, b = item.choices[m], item.choices[n]
    if not n or a.needs or a.is_made_again or (a.rounds and not b.rounds) or (a.stays and not b.stays):
        return False
    ours, theirs = (a.seconds, a.fetch, *a.takes), (b.seconds, b.fetch, *b.takes)
    return all(x <= y for x, y in zip(ours, theirs, strict=True)) and (ours != theirs or m < n)


def _smallest(it: Assignment) -> list[int]:
    """The ways that hold the fewest bytes in memory, of those what leaves nothing in memory early for others."""
    found = []
    for i, ns in zip(it.numbers, it.ways, strict=True):
        choices = [it.items[i].choices[n] for n in ns]
        found.append(
            min(range(len(ns)), key=lambda k: (choices[k].nbytes, choices[k].is_made_again, choices[k].seconds))
        )
    return found
