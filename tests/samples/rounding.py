"""Samples of absolute values, rounding, limits, choices, and the parts of complex numbers."""

from __future__ import annotations

from tests.samples.base import S, T

# Away from 0, from whole numbers and halves: differences step over no jump and no kink.
SMOOTH = [S(T.of([[-1.7, 0.3, 1.2], [2.7, -0.4, 0.9]])), S(T.of(1.3)), S(T(0, 3)), S(T.of([[[-2.3]], [[0.6]]]))]
COMPLEX = [S(T(3, 4, kind="complex")), S(T((), kind="complex")), S(T(0, 3, kind="complex")), S(T(2, 1, kind="complex"))]
PARTS = [
    S(T(3, 4), T(3, 4)),
    S(T(3, 4), T(4)),
    S(T(()), T(())),
    S(T(0, 3), T(0, 3)),
    S(T(2, 1), T(3)),
    S(T(3), T(2, 1, 3)),
]
X = T.of([[-1.7, 0.3, 1.2], [2.7, -0.4, 0.9]])
LOW, HIGH = T.of([-0.5, -0.2, 0.4]), T.of([[0.6], [1.1]])

SAMPLES = {
    "abs": SMOOTH,
    "sign": SMOOTH,
    "sgn": SMOOTH,
    "floor": SMOOTH,
    "ceil": SMOOTH,
    "trunc": SMOOTH,
    "round": [*SMOOTH, S(T.of([1.234, -0.567]), decimals=2), S(T.of([123.4, -56.7]), decimals=-1)],
    "frac": SMOOTH,
    "clamp": [
        S(X, LOW, HIGH),
        S(X, LOW),
        S(X, max=HIGH),
        S(X, HIGH, LOW),
        S(T.of(1.3), T.of(0.2), T.of(0.7)),
        S(T(0, 3), T(3)),
    ],
    "clamp_to_numbers": [
        S(X, -0.5, 1.0),
        S(X, min=0),
        S(X, max=0.5),
        S(X, 1.0, -0.5),
        S(T.of(1.3), 0.2),
        S(T(0, 3), 0.0),
    ],
    "clamp_min": [S(X, LOW), S(X, 0.0), S(T.of(1.3), HIGH), S(T(0, 3), T(3))],
    "clamp_max": [S(X, HIGH), S(X, 0), S(T.of(1.3), LOW), S(T(0, 3), T(3))],
    "copysign": [
        S(X, LOW),
        S(T.of([1.5]), T.of([[-1.0], [2.0]])),
        S(X, -1.0),
        S(T.of(1.3), T.of(-0.7)),
        S(T(0, 3), T(3)),
    ],
    "nan_to_num": [
        S(X, 0.0, 1.0, -1.0),
        S(T.of([1.5, -3.0]), 0.5, 2.0, -2.0),
        S(T(0, 3), 0.0, 1.0, -1.0),
        S(T.of(0.5), 0.0, 1.0, -1.0),
    ],
    "signbit": [*SMOOTH, S(T.of([-0.0, 0.0]))],
    "heaviside": [
        S(T(3, 4, kind="int"), T(4, kind="int")),
        S(T((), kind="int"), T(2, 1, kind="int")),
        S(T(0, 3, kind="int"), T(3, kind="int")),
    ],
    "where": [
        S(T(3, 4, kind="bool"), T(3, 4), T(3, 4)),
        S(T(2, 1, 1, kind="bool"), T(3, 1), T(4)),
        S(T(3, 4, kind="bool"), T(4), 0.0),
        S(T(3, 4, kind="bool"), 0, T(())),
        S(T((), kind="bool"), T(2), T(2)),
        S(T(2, kind="bool"), T(()), T(())),
        S(T(3, 4, kind="bool"), T(()), 0.0),
        S(T(0, 3, kind="bool"), T(3), T(0, 1)),
    ],
    "real": COMPLEX,
    "imag": COMPLEX,
    "conj_physical": [S(T(3, 4)), S(T(())), S(T(0, 3)), *COMPLEX],
    "angle": [S(T(3, 4, low=0.5)), S(T((), low=0.5)), *COMPLEX],
    "complex": PARTS,
    "polar": [S(T(3, 4, low=0.1), T(3, 4)), S(T((), low=0.1), T(())), S(T(0, 3), T(3)), S(T(3, low=0.1), T(2, 1, 3))],
    "view_as_real": COMPLEX,
    "view_as_complex": [S(T(3, 4, 2)), S(T(2)), S(T(0, 2)), S(T(2, 1, 2))],
}
