"""Linear recurrences along the first dimension of arrays."""

from __future__ import annotations

import math
from math import prod
from typing import Any

import numpy as np


def solved(a: Any, b: Any) -> Any:
    """The recurrence along the first dimension: a long line in pieces, and another one over what each hands on."""
    n, rest = b.shape[0], tuple(b.shape[1:])
    if n < 256 or prod(rest) > 256:
        return _step_by_step(a, b)
    length = math.isqrt(n)
    pieces = -(-n // length)
    missing = np.zeros((pieces * length - n, *rest), dtype=b.dtype)
    a, b = (
        np.swapaxes(np.reshape(np.concatenate((x, missing), axis=0), (pieces, length, *rest)), 0, 1) for x in (a, b)
    )
    within, reach = _step_by_step(a, b), np.cumprod(a, axis=0)
    handed = solved(reach[-1, ...], within[-1, ...])
    later = within[:, 1:, ...] + reach[:, 1:, ...] * handed[:-1, ...]
    joined = np.swapaxes(np.concatenate((within[:, :1, ...], later), axis=1), 0, 1)
    return np.reshape(joined, (pieces * length, *rest))[:n, ...]


def _step_by_step(a: Any, b: Any) -> Any:
    y = b[0, ...]
    out = [y]
    for k in range(1, b.shape[0]):
        y = a[k, ...] * y + b[k, ...]
        out.append(y)
    return np.stack(out)
