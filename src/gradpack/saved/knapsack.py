"""Which way of keeping each of many tensors takes the least time, where all that counts is bytes at one moment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PARTS = 1024  # of the room that are told apart


def knapsack(ways: Sequence[Sequence[tuple[int, float]]], room: int) -> list[int] | None:
    """For each tensor the number of its way; None if the room is too small.

    Sizes are rounded to a part of the room, so that it may come to a little more or less.

    Args:
        ways: for each tensor the bytes and the seconds of every way.
        room: bytes.
    """
    if room <= 0:
        return None
    unit = max(1.0, room / PARTS)
    width = int(room / unit) + 1
    least = np.zeros(width)  # the least time, for each number of units that may be used
    taken = []
    for each in ways:
        sizes = [round(size / unit) for size, _ in each]
        table = np.full((len(each), width), np.inf)
        for row, units, (_, seconds) in zip(table, sizes, each, strict=True):
            if units < width:
                np.add(least[: width - units], seconds, out=row[units:])
        numbers = table.argmin(0)
        least = table[numbers, np.arange(width)]
        taken.append((numbers, sizes))
    if not np.isfinite(least[-1]):
        return None
    chosen: list[int] = []
    place = width - 1
    for numbers, sizes in reversed(taken):
        chosen.append(int(numbers[place]))
        place -= sizes[chosen[-1]]
    return chosen[::-1]
