"""Looks for the cheapest way of keeping tensors within limits, one change at a time.

First it goes down: changes what frees most for its time until the limits hold. Then it goes up again: a change that
saves time and passes a limit is made good by going down from there, and stays if the sum is a gain.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from .assignment import Assignment

_SMALLEST = 1e-12  # seconds: differences below are none


def descend(it: Assignment, spare: float = float("inf"), still: int = -1) -> bool:
    """Makes changes until the limits hold. False if that cannot be: then nothing is changed.

    Args:
        spare: seconds that this may cost.
        still: an item that is to stay as it is.
    """
    done: list[tuple[int, int]] = []
    spent = 0.0
    tried: set[tuple[int, int]] = set()
    while not it.fits:
        queue = _priced(it, tried, still)
        moved = False
        while queue and not it.fits:
            price, i, n = heappop(queue)
            if n == it.chosen[i]:
                continue
            seconds, freed = it.trial(i, n)
            if freed <= 0:
                continue
            now = max(seconds, _SMALLEST) / freed
            if queue and now > queue[0][0] * (1 + 1e-9) and now > price:
                heappush(queue, (now, i, n))  # it was cheaper when it was put there
                continue
            if spent + seconds > spare:
                tried.add((i, n))
                continue
            done.append((i, it.chosen[i]))
            tried.add((i, it.chosen[i]))
            it.change(i, n)
            spent += seconds
            moved = True
        if not moved:
            for i, n in reversed(done):
                it.change(i, n)
            return False
    return True


def _priced(it: Assignment, tried: set[tuple[int, int]], still: int) -> list[tuple[float, int, int]]:
    """All changes that take away of the excess, with the seconds that each byte costs."""
    found = []
    for i, numbers in enumerate(it.allowed):
        if i == still:
            continue
        for n in numbers:
            if n != it.chosen[i] and (i, n) not in tried:
                seconds, freed = it.trial(i, n)
                if freed > 0:
                    found.append((max(seconds, _SMALLEST) / freed, i, n))
    heapify(found)
    return found


def improve(it: Assignment, stop: int) -> None:
    """Saves time as long as that is found and the limits hold, until about so many changes were tried."""
    fruitless: set[tuple[int, int]] = set()
    while it.moves < stop:
        gains = []
        for i, numbers in enumerate(it.allowed):
            for n in numbers:
                if n != it.chosen[i] and (i, n) not in fruitless:
                    seconds, _ = it.trial(i, n)
                    if seconds < -_SMALLEST:
                        gains.append((seconds, i, n))
        gains.sort()
        for _, i, n in gains:
            if it.moves >= stop:
                return
            if _gained(it, i, n):
                fruitless.clear()
                break
            fruitless.add((i, n))
        else:
            return


def _gained(it: Assignment, i: int, n: int) -> bool:
    """Makes a change that saves time, and others that make room for it; only if all of that saves time."""
    before, seconds = it.chosen[i], it.seconds
    it.change(i, n)
    if descend(it, seconds - it.seconds - _SMALLEST, i):
        return True
    it.change(i, before)
    return False
