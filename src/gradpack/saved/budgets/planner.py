"""Choose how to keep each saved tensor, so that memory stays within limits and the step takes the least time.

These are functions on plain data, independent of tensors. A plan is deterministic; for few tensors it is nearly always
optimal.

`enough` solves the fullest moment alone, as a knapsack problem: if a budget is only a little too small, a few changes
suffice, and their sizes should add up to just enough. The rest is local search. `descend` makes the changes that free
the most bytes per second until the limits hold. `climb` makes those that save the most time for their bytes while the
limits hold. When neither finds any, `improve` makes a single change for the worse, which exceeds a limit or costs
time, and keeps it if descending and climbing from there saves time in all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .assignment import Assignment, Table, Trials
from .plans import BudgetLimits, ChoicePlan, Item, outcome

EFFORT = 0.03  # default seconds that planning may take, approximately


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
        return ChoicePlan(it.all(), outcome(items, it.all()))
    if descend(it):
        climb(it)
    else:
        it.set(_smallest(it))
        least = it.all()
        if not descend(it):
            return ChoicePlan(least, outcome(items, least), fits=False)
        climb(it)
    if start is not None:
        places = zip(it.numbers, it.options, strict=True)
        _start_from(it, lambda _: [ns.index(start[i]) if start[i] in ns else 0 for i, ns in places])
    _start_from(it, enough)  # which solves the fullest moment as a knapsack: other moments need repair
    improve(it, it.work + effort)
    return ChoicePlan(it.all(), outcome(items, it.all()))


def _start_from(it: Assignment, find: Callable[[Assignment], list[int] | None]) -> None:
    """Repair and improve the choices that `find` returns, if any; keep the result only if it is faster."""
    best, chosen = it.seconds, it.chosen.copy()
    found = find(it)
    if found is not None:
        it.set(found)
        if descend(it):
            climb(it)
    if found is None or not it.fits or it.seconds >= best:
        it.set(chosen)


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


_LEAST = 1e-12  # seconds: smaller differences count as none
_PART = 4  # `descend` evaluates all changes again after 1/4 of the excess is removed
_AT_ONCE = 8  # `climb` evaluates all changes again after 1/8 of the items have changed
_TIGHT = 0.25  # a moment is tight if its room is below this part of the largest tensor


def descend(it: Assignment, still: int = -1, spare: float = float("inf")) -> bool:
    """Make changes until the limits hold. Return False if that fails; some changes may have been made then.

    Args:
        still: the place of an item that must not change.
        spare: seconds that the changes may add.
    """
    most = it.seconds + spare
    while not it.fits:
        trials, excess = it.trials(), it.excess
        freed = np.maximum(trials.over, 0.0).sum() - np.maximum(trials.over + trials.more, 0.0).sum(-1)
        prices = np.where(freed > 0, np.maximum(trials.seconds, _LEAST) / np.maximum(freed, 1.0), np.inf)
        if still >= 0:
            prices[still] = np.inf
        if not _made_good(it, prices, excess, most):
            return False
    return True


def _made_good(it: Assignment, prices: Table, excess: float, most: float) -> bool:
    """Make the changes of least price until a part of the excess is removed. Return False if none helps."""
    found = False
    for p, k in _in_order(prices):
        before, now = int(it.chosen[p]), it.excess
        it.change(p, k)
        if it.excess >= now or it.seconds > most:
            it.change(p, before)
            continue
        found = True
        if it.excess <= excess * (1 - 1 / _PART):
            break
    return found


def climb(it: Assignment, still: int = -1) -> None:
    """Make changes that save time until none is left that stays within the limits."""
    found = -1
    while found:
        trials = it.trials()
        gains = (trials.seconds < -_LEAST) & (trials.over + trials.more <= 0).all(-1)
        if still >= 0:
            gains[still] = False
        use = (np.maximum(trials.more, 0.0) / (1.0 - np.minimum(trials.over, 0.0))).max(-1, initial=0.0)
        found = 0
        for p, k in _in_order(np.where(gains, trials.seconds / (use + 1e-6), np.inf)):
            before, seconds = int(it.chosen[p]), it.seconds
            it.change(p, k)
            if it.seconds >= seconds - _LEAST or not it.fits:
                it.change(p, before)
                continue
            found += 1
            if found * _AT_ONCE > len(it.numbers):
                break


def _in_order(prices: Table) -> Any:
    """Iterate over (place, option) in the order of price: for each place its cheapest option, if that is finite."""
    options = prices.argmin(1)
    lowest = prices[np.arange(len(options)), options]
    for p in np.argsort(lowest, kind="stable").tolist():
        if lowest[p] == np.inf:
            return
        yield p, int(options[p])


def improve(it: Assignment, stop: float) -> None:
    """Repeat single changes followed by `descend` and `climb` while they save time, until `it.work` reaches `stop`."""
    found = True
    while found:
        best, chosen = it.seconds, it.chosen.copy()
        hopes = _hopes(it, it.trials())
        found = False
        for c in np.argsort(hopes, axis=None, kind="stable").tolist():
            p, k = divmod(c, hopes.shape[1])
            if hopes[p, k] >= -_LEAST or it.work >= stop:
                break
            it.change(p, k)
            if descend(it, p, best - it.seconds if it.seconds < best else float("inf")):
                climb(it, p)
                if found := it.seconds < best - _LEAST:
                    climb(it)
                    break
            it.set(chosen)


def _hopes(it: Assignment, trials: Trials) -> Table:
    """Return a lower estimate of the seconds that each change adds in all, with the changes that follow from it.

    Those are changes that save time in the room it frees, or that free the room it needs. The estimate relaxes the
    problem to a single moment and to fractional changes.
    """
    seconds = trials.seconds
    slack = -trials.over
    if not slack.size:
        return np.full_like(seconds, np.inf)
    tight = slack <= max(_TIGHT * it.largest, float(slack.min()))
    more = trials.more[:, :, tight].mean(-1)
    room, freed, used = float(slack[tight].mean()), np.maximum(-more, 0.0), np.maximum(more, 0.0)
    sizes, gains = _sums(it, used, np.maximum(-seconds, 0.0), np.minimum(seconds, 0.0) / (used + 1.0))
    regained = np.interp(freed + room, sizes, gains)
    paying = (seconds > 0) & (freed > 0)
    sizes, costs = _sums(it, freed, seconds, np.where(paying, seconds / np.maximum(freed, 1.0), np.inf))
    paid = np.interp(used - room, sizes, costs, right=np.inf)
    hopes = np.where(seconds > 0, seconds - np.maximum(it.unpacking(), 0.0) - regained, seconds + paid)
    hopes[it.at, it.chosen] = np.inf
    return hopes


def _sums(it: Assignment, sizes: Table, seconds: Table, order: Table) -> tuple[Table, Table]:
    """Return cumulative sums of sizes and seconds of each item's best change, sorted by `order`, without inf."""
    options = order.argmin(1)
    places = np.argsort(order[it.at, options], kind="stable")
    places = places[np.isfinite(order[it.at, options][places])]
    found = [np.cumsum(np.append(0.0, table[places, options[places]])) for table in (sizes, seconds)]
    return found[0], found[1]


_PARTS = 512  # units into which the bytes to free are divided; sizes are rounded down to units
_LOOK = 2e-5  # assumed seconds for one tensor


def enough(it: Assignment) -> list[int] | None:
    """Return a option for each place so that the fullest moment, with all tensors kept, is brought within its limit.

    None if nothing is over a limit, or no choices free enough. Ignores other moments, and recomputation of one tensor
    from another.
    """
    it.set([0] * len(it.chosen))
    fullest = int(it.over.argmax())
    most = float(it.over[fullest])
    if most <= 0:
        return None
    it.work += _LOOK * len(it.chosen)
    held = it.held[:, :, fullest]
    freed = np.clip((held[:, :1] - held) * (_PARTS / most), 0, _PARTS).astype(np.intp)  # in units, rounded down
    price = np.where((freed > 0) & np.isfinite(it.price), it.price, np.inf)
    price[:, 0], freed[:, 0] = 0.0, 0
    least = np.full(_PARTS + 1, np.inf)  # least[n]: the least seconds that free n units
    least[0] = 0.0
    parts, options = np.arange(_PARTS + 1), []
    for mine, costs in zip(freed, price, strict=True):
        table = least[np.maximum(parts - mine[:, None], 0)] + costs[:, None]
        best = table.argmin(0)
        options.append(best)
        least = table[best, parts]
    if not np.isfinite(least[_PARTS]):
        return None
    left, chosen = _PARTS, [0] * len(options)
    for p in range(len(options) - 1, -1, -1):
        chosen[p] = int(options[p][left])
        left = max(left - int(freed[p, chosen[p]]), 0)
    return chosen
