"""Local search for the fastest choices within the limits, a few changes at a time.

`descend` makes the changes that free the most bytes per second until the limits hold. `climb` makes those that save
the most time for their bytes while the limits hold. When neither finds any, `improve` makes a single change for the
worse, which exceeds a limit or costs time, and keeps it if descending and climbing from there saves time in all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .assignment import Assignment, Table, Trials

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
