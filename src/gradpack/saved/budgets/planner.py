"""Choose how to keep each saved tensor, so that memory stays within limits and the step takes the least time.

These are functions on plain data, independent of tensors. A plan is deterministic; for few tensors it is nearly always
optimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .assignment import Assignment
from .choices import BudgetLimits, Item, Outcome, outcome
from .knapsack import enough
from .search import climb, descend, improve

EFFORT = 0.03  # default seconds that planning may take, approximately


@dataclass
class ChoicePlan:
    """For each item the index of its choice, and the outcome.

    Attributes:
        fits: whether it is within the limits.
        least: if it does not fit, its peak, the lowest that was found.
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
) -> ChoicePlan:
    """Return the fastest plan found for keeping `items` within limits of bytes; if none fits, the smallest.

    Args:
        limit: bytes on the tensors' device.
        disk: bytes on disk.
        host: bytes in host memory.
        effort: seconds to spend on improving a first plan. No clock is read: it stands for a number of changes to try.
        start: choices that were found before: if they fit, the plan takes no more time than they do.
    """
    limits = BudgetLimits(limit, disk, host)
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
    _from_one_moment(it)
    improve(it, it.work + effort)
    return _made(items, it.all())


def _from_choices(it: Assignment, start: Sequence[int]) -> None:
    """Start from choices that were found before and climb; keep the result only if it is faster."""
    best, chosen = it.seconds, it.chosen.copy()
    it.set([ns.index(start[i]) if start[i] in ns else 0 for i, ns in zip(it.numbers, it.options, strict=True)])
    if it.fits:
        climb(it)
    if not it.fits or it.seconds >= best:
        it.set(chosen)


def _from_one_moment(it: Assignment) -> None:
    """Solve the fullest moment as a knapsack, then repair other moments; keep the result only if it is faster."""
    best, chosen = it.seconds, it.chosen.copy()
    found = enough(it)
    if found is not None:
        it.set(found)
        if descend(it):
            climb(it)
    if found is None or not it.fits or it.seconds >= best:
        it.set(chosen)


def _made(items: Sequence[Item], chosen: list[int], fits: bool = True) -> ChoicePlan:
    result = outcome(items, chosen)
    return ChoicePlan(chosen, result, fits, 0 if fits else result.peak)


def _worthwhile(item: Item, limits: BudgetLimits) -> list[int]:
    """Return the indices of an item's choices that fit the limits and are not dominated; 0 is always included."""
    fitting = [
        n for n, c in enumerate(item.choices) if not n or all(t <= l for t, l in zip(c.takes, limits, strict=True))
    ]
    return [n for n in fitting if not any(_beats(item, m, n) for m in fitting)]


def _beats(item: Item, m: int, n: int) -> bool:
    """Return whether choice `m` dominates `n`: at least as good in every respect, and better in one or listed first."""
    a, b = item.choices[m], item.choices[n]
    if not n or a.needs or a.is_made_again or (a.rounds and not b.rounds) or (a.stays and not b.stays):
        return False
    ours, theirs = (a.seconds, a.fetch, *a.takes), (b.seconds, b.fetch, *b.takes)
    return all(x <= y for x, y in zip(ours, theirs, strict=True)) and (ours != theirs or m < n)


def _smallest(it: Assignment) -> list[int]:
    """Return for each place the option with the fewest bytes; of equals, one not recomputed, then the fastest."""
    found = []
    for i, ns in zip(it.numbers, it.options, strict=True):
        choices = [it.items[i].choices[n] for n in ns]
        found.append(
            min(range(len(ns)), key=lambda k: (choices[k].nbytes, choices[k].is_made_again, choices[k].seconds))
        )
    return found
