"""Loops over parts of arrays that belong together: `glu`, whose halves gate each other, and `prelu`, with its channels.

An array comes as one of three dimensions, of which the middle one counts the halves or the channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions import exp
from .loop import inlined, loop

_f = np.float32


@inlined
def _sigmoid(x: Any) -> Any:
    return _f(1.0) / (_f(1.0) + exp(-x))


@loop
def glu(x: Any, out: Any) -> None:
    """a sigmoid(b), of float32: `x` is of shape (n, 2, m), `out` of shape (n, m)."""
    for i in range(x.shape[0]):
        a, b, made = x[i, 0], x[i, 1], out[i]
        for j in range(a.size):
            made[j] = a[j] * _sigmoid(b[j])


@loop
def glu_gradient(g: Any, x: Any, out: Any) -> None:
    """g sigmoid(b) for a, and g a sigmoid(b) (1 - sigmoid(b)) for b: `out` is as `x` is, `g` of shape (n, m)."""
    for i in range(x.shape[0]):
        a, b, into_a, into_b, given = x[i, 0], x[i, 1], out[i, 0], out[i, 1], g[i]
        for j in range(a.size):
            s = _sigmoid(b[j])
            first = given[j] * s
            into_a[j] = first
            into_b[j] = first * (_f(1.0) - s) * a[j]


@loop
def prelu(x: Any, weight: Any, out: Any) -> None:
    """x above zero, weight x elsewhere: `x` and `out` are of shape (n, channels, m)."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            given, made, slope = x[i, k], out[i, k], weight[k]
            for j in range(given.size):
                v = given[j]
                made[j] = v if v > 0 else slope * v
