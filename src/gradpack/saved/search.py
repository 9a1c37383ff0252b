"""Looks for the cheapest way of keeping tensors within limits, a few changes at a time.

First it goes down: changes what frees most for its time until the limits hold. Then it goes up again, with what saves
most time for its room. Where neither helps any more it makes a change that does harm, and looks whether going down and
up from there is a gain: what passes a limit has to be made good, and what frees room may give it to others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .assignment import Assignment, Table, Trials

_LEAST = 1e-12  # seconds: differences below are none
_PART = 4  # of what is beyond a limit, that is made good before all changes are looked at again
_AT_ONCE = 8  # of so many items one gets another choice before that
_TIGHT = 0.25  # of the largest tensor: where there is less room than that changes stand in each other's way


def descend(it: Assignment, still: int = -1, spare: float = float("inf")) -> bool:
    """Makes changes until the limits hold. False if that cannot be: then some may have been made.

    Args:
        still: the place of an item that is to stay as it is.
        spare: seconds that this may cost.
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
    """Makes the cheapest changes, for a part of what is beyond the limits. False if there is none."""
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
    """Makes changes that save time, as long as there are some within the limits."""
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
    """The places and ways of finite prices, the lowest first; of each place one."""
    ways = prices.argmin(1)
    lowest = prices[np.arange(len(ways)), ways]
    for p in np.argsort(lowest, kind="stable").tolist():
        if lowest[p] == np.inf:
            return
        yield p, int(ways[p])


def improve(it: Assignment, stop: float) -> None:
    """Saves time as long as that is found and the limits hold, until so much work is done."""
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
    """For each change the seconds more that it takes at best, with others that it leaves room for, or that make room.

    As if there were one moment only, and parts of changes as well.
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
    """Sums of sizes and of seconds of changes, one of each item, in an order; without those that are infinite in it."""
    ways = order.argmin(1)
    places = np.argsort(order[it.at, ways], kind="stable")
    places = places[np.isfinite(order[it.at, ways][places])]
    found = [np.cumsum(np.append(0.0, table[places, ways[places]])) for table in (sizes, seconds)]
    return found[0], found[1]
