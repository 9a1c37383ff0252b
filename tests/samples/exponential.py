"""Samples of exponentials, logarithms, powers and the functions made of them."""

from __future__ import annotations

from typing import Any

from tests.samples.base import S, T


def unary(low: float, high: float) -> list[Any]:
    """The usual shapes, with elements in an interval."""
    return [S(T(3, 4, low=low, high=high)), S(T((), low=low, high=high)), S(T(0, 3)), S(T(2, 1, 3, low=low, high=high))]


ANY, POSITIVE, INNER = unary(-2.0, 2.0), unary(0.5, 3.0), unary(0.1, 0.9)
PAIRS = [S(T(3, 4), T(3, 4)), S(T(3, 1), T(4)), S(T(()), T(2)), S(T(0, 3), T(3))]

SAMPLES = {
    "exp": ANY,
    "exp2": ANY,
    "expm1": ANY,
    "log": POSITIVE,
    "log2": POSITIVE,
    "log10": POSITIVE,
    "log1p": unary(-0.5, 2.0),
    "logaddexp": PAIRS,
    "logaddexp2": PAIRS,
    "sqrt": POSITIVE,
    "rsqrt": POSITIVE,
    "pow": [
        S(T(3, 4, low=0.5), T(3, 4)),
        S(T(3, 1, low=0.5), T(2, 1, 4)),
        S(T((), low=0.5), T(3)),
        S(T(0, 3), T(3)),
        *(S(T(3, low=0.5), n) for n in (2, 3, 0.5, -1, -0.5, -2, 1.7, 1, 0, 4)),
        S(T(3), 2),
        S(T((), low=0.5), 3.5),
        S(2.5, T(3)),
        S(2, T(())),
    ],
    "sigmoid": [*ANY, S(T(3, low=-30.0, high=30.0)), S(T(130, 130))],
    "logit": [*INNER, S(T(4, low=0.3, high=0.7), eps=0.2), S(T.of([0.1, 0.4, 0.95]), 0.2)],
    "xlogy": [
        S(T(3, 4), T(3, 4, low=0.5)),
        S(T(3, 1), T(4, low=0.5)),
        S(T(()), T(2, low=0.5)),
        S(T(0, 3), T(3)),
        S(T(3), 2.5),
        S(1.5, T(3, low=0.5)),
    ],
    "erf": ANY,
    "erfc": ANY,
    "erfinv": unary(-0.8, 0.8),
    "lgamma": POSITIVE,
    "digamma": POSITIVE,
    "polygamma": [S(n, *s.args) for n in (1, 2) for s in POSITIVE],
}
