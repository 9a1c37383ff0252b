"""Samples of comparisons, logic and bits."""

from __future__ import annotations

from tests.samples.base import S, T

TIED = T.of([[1.0, 2.0, -0.5], [0.0, 3.5, -1.0]])
ORDER = [
    S(TIED, T.of([[1.0, 3.0, -0.5], [-0.0, 3.25, -1.0]])),
    S(TIED, T.of([1.0, 0.0, -0.5])),
    S(TIED, 1.0),
    S(TIED, 2),
    S(T((), kind="int"), T(2, 1, kind="int")),
    S(T(3, kind="int", low=-3, high=3), 1),
    S(T(3, kind="int", low=-3, high=3), 0.5),
    S(T(0, 3), T(3)),
]
SPECIAL = [S(TIED), S(T.of([-1.5, 1.5])), S(T(())), S(T(0, 3)), S(T(3, kind="int")), S(T(3, kind="bool"))]
LOGIC = [
    S(T(3, 4, kind="bool"), T(3, 4, kind="bool")),
    S(T(3, 1, kind="bool"), T(4, kind="bool")),
    S(T(3, 4, kind="int", low=-1, high=2), T(4, kind="int", low=-1, high=2)),
    S(TIED, T.of([[0.0], [1.0]])),
    S(T((), kind="bool"), T(0, 3, kind="bool")),
]
BITS = [
    S(T(3, 4, kind="int", low=-9, high=9), T(3, 4, kind="int", low=-9, high=9)),
    S(T(3, 1, kind="int", low=-9, high=9), T(4, kind="int", low=-9, high=9)),
    S(T(3, kind="int", low=-9, high=9), 5),
    S(12, T((), kind="int", low=-9, high=9)),
    S(T(0, 3, kind="int"), T(3, kind="int")),
]
SHIFTS = [
    S(T(3, 4, kind="int", low=-9, high=9), T(4, kind="int", low=0, high=5)),
    S(T(3, kind="int", low=-9, high=9), 2),
    S(3, T(3, kind="int", low=0, high=5)),
    S(T((), kind="int"), T(0, 1, kind="int")),
]

SAMPLES = {
    "eq": ORDER,
    "ne": ORDER,
    "lt": ORDER,
    "le": ORDER,
    "gt": ORDER,
    "ge": ORDER,
    "isnan": SPECIAL,
    "isinf": SPECIAL,
    "isfinite": SPECIAL,
    "isposinf": SPECIAL,
    "isneginf": SPECIAL,
    "isreal": SPECIAL,
    "isclose": [
        S(TIED, T.of([[1.000001, 3.0, -0.5], [1e-9, 3.6, -1.0]])),
        S(TIED, TIED, equal_nan=True),
        S(TIED, T.of([1.5, 2.0, 0.0]), 0.1, 0.5),
        S(T(3, kind="int"), T(2, 1, kind="int"), atol=1),
        S(T(()), T(())),
        S(T(0, 3), T(3)),
    ],
    "logical_and": LOGIC,
    "logical_or": LOGIC,
    "logical_xor": LOGIC,
    "logical_not": [S(T(3, 4, kind="bool")), S(TIED), S(T(3, kind="int", low=-1, high=2)), S(T(())), S(T(0, 3))],
    "bitwise_and": [*BITS, *LOGIC[:2]],
    "bitwise_or": [*BITS, *LOGIC[:2]],
    "bitwise_xor": [*BITS, *LOGIC[:2]],
    "bitwise_not": [
        S(T(3, 4, kind="int", low=-9, high=9)),
        S(T(3, kind="bool")),
        S(T((), kind="int")),
        S(T(0, 3, kind="int")),
    ],
    "bitwise_left_shift": SHIFTS,
    "bitwise_right_shift": SHIFTS,
}
