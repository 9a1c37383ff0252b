"""The changes of least time that free enough bytes at one moment, as a knapsack problem.

If a budget is only a little too small, a few changes suffice, and their sizes should add up to just enough. Dynamic
programming finds the least time for every number of bytes freed. Optimal where tensors do not depend on each other.
"""

from __future__ import annotations

import numpy as np

from .assignment import Assignment

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
