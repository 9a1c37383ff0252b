"""Samples of arithmetic."""

from __future__ import annotations

from tests.samples.base import S, T

POSITIVE = {"low": 0.5, "high": 2.0}
PAIRS = [
    S(T(3, 4), T(3, 4, **POSITIVE)),
    S(T(3, 1), T(2, 1, 4, **POSITIVE)),
    S(T(()), T(3, **POSITIVE)),
    S(T(3), T(())),
    S(T(0, 3), T(0, 3)),
    S(T(0, 3), T(3)),
    S(T(3), 2.5),
    S(1.5, T(3, **POSITIVE)),
    S(T(2, 3), 2),
]
WITH_ALPHA = [S(T(3, 4), T(4), alpha=2.5), S(T(3), 2.0, alpha=-1), S(T(()), T(2, 1), alpha=0)]
# Divisions without a rest on the border of two whole quotients: differences step over no jump.
JUMPING = [
    S(T.of([[5.3, -5.3], [7.9, -7.9]]), T.of([[2.0, 2.0], [-3.0, -3.0]])),
    S(T.of([5.3, -5.3, 0.4]), T.of([[2.0], [-3.1]])),
    S(T.of(5.3), T.of(2.0)),
    S(T(0, 3), T(3)),
    S(T.of([5.3, -5.3]), 2.0),
]
WHOLE = [
    S(T(3, 4, kind="int", low=-9, high=9), T(4, kind="int", low=1, high=5)),
    S(T((), kind="int", low=-9, high=9), T(2, 1, kind="int", low=1, high=5)),
    S(T(0, 3, kind="int"), T(3, kind="int", low=1, high=5)),
    S(T(5, kind="int", low=-9, high=9), 3),
    S(17, T(5, kind="int", low=1, high=5)),
]
ROUNDED = [
    *(S(*s.args, mode) for s in JUMPING for mode in ("trunc", "floor")),
    S(T.of([7.3, -5.2]), T.of([2.0, 3.0]), "trunc", "float16"),
]
UNARY = [S(T(3, 4, **POSITIVE)), S(T((), **POSITIVE)), S(T(0, 3)), S(T(2, 1, 3, **POSITIVE))]
THREE = [
    S(T(3, 4), T(3, 4), T(3, 4, **POSITIVE)),
    S(T(3, 1), T(4), T(2, 1, 1, **POSITIVE)),
    S(T(()), T(2), T((), **POSITIVE)),
    S(T(0, 3), T(3), T(0, 1, **POSITIVE)),
]

SAMPLES = {
    "add": PAIRS + WITH_ALPHA,
    "sub": PAIRS + WITH_ALPHA,
    "rsub": [s for s in PAIRS if isinstance(s.args[0], T)] + WITH_ALPHA,
    "mul": PAIRS,
    "div": PAIRS,
    "div_rounded": ROUNDED,
    "floor_divide": WHOLE,
    "remainder": [*JUMPING, S(5.3, T.of([2.0, -3.0]))],
    "fmod": JUMPING,
    "neg": UNARY,
    "reciprocal": UNARY,
    "square": UNARY,
    "lerp": [
        S(T(3, 4), T(3, 4), 0.3),
        S(T(3, 4), T(4), 0.75),
        S(T(3), T(3), T(3, low=0.6, high=0.9)),
        S(T(2, 1), T(3), T((), low=0.1, high=0.4)),
        S(T(()), T(()), 1),
        S(T(0, 2), T(0, 2), T(2)),
    ],
    "addcmul": [*THREE, S(T(3), T(3), T(3), value=-2.5)],
    "addcdiv": [*THREE, S(T(3), T(3), T(3, **POSITIVE), value=-2.5)],
}
