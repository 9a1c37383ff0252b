"""The cheapest changes that free enough at one moment: exact, where tensors do not depend on each other.

Where a budget is a little too small a few changes will do, and what matters is that their sizes add up to just enough.
That is a knapsack, and is solved as one: the least time for every number of bytes, one tensor after the other.
"""

from __future__ import annotations

import numpy as np

from .assignment import Assignment

_PARTS = 512  # of what is to be freed: sizes are rounded down to them
_LOOK = 2e-5  # seconds that one tensor takes


def enough(it: Assignment) -> list[int] | None:
    """For each place the way that frees enough of what is held most beyond a limit, if all are kept; None if none do.

    What others are made of, and other moments, are not looked at.
    """
    it.set([0] * len(it.chosen))
    fullest = int(it.over.argmax())
    most = float(it.over[fullest])
    if most <= 0:
        return None
    it.work += _LOOK * len(it.chosen)
    held = it.held[:, :, fullest]
    freed = np.clip((held[:, :1] - held) * (_PARTS / most), 0, _PARTS).astype(np.intp)  # no more than is freed
    price = np.where((freed > 0) & np.isfinite(it.price), it.price, np.inf)
    price[:, 0], freed[:, 0] = 0.0, 0
    least = np.full(_PARTS + 1, np.inf)  # seconds, for each number of parts that are freed
    least[0] = 0.0
    parts, ways = np.arange(_PARTS + 1), []
    for mine, costs in zip(freed, price, strict=True):
        table = least[np.maximum(parts - mine[:, None], 0)] + costs[:, None]
        best = table.argmin(0)
        ways.append(best)
        least = table[best, parts]
    if not np.isfinite(least[_PARTS]):
        return None
    left, chosen = _PARTS, [0] * len(ways)
    for p in range(len(ways) - 1, -1, -1):
        chosen[p] = int(ways[p][left])
        left = max(left - int(freed[p, chosen[p]]), 0)
    return chosen
