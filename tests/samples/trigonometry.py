"""Samples of trigonometric and hyperbolic functions."""

from __future__ import annotations

from tests.samples.base import S, T
from tests.samples.exponential import unary

ANY, INNER = unary(-2.0, 2.0), unary(-0.8, 0.8)
PAIRS = [
    S(T(3, 4, low=0.5), T(3, 4)),
    S(T(3, 1, low=0.5), T(4)),
    S(T((), low=0.5), T(2)),
    S(T(0, 3), T(3)),
    S(T(2, low=-2.0, high=-0.5), T(2, 1)),
]

SAMPLES = {
    "sin": ANY,
    "cos": ANY,
    "tan": unary(-1.2, 1.2),
    "asin": INNER,
    "acos": INNER,
    "atan": INNER,
    "atan2": PAIRS,
    "sinh": ANY,
    "cosh": ANY,
    "tanh": ANY,
    "asinh": INNER,
    "acosh": unary(1.5, 3.0),
    "atanh": INNER,
    "sinc": unary(0.3, 2.0),
    "hypot": PAIRS,
    "deg2rad": unary(-180.0, 180.0),
    "rad2deg": ANY,
}
