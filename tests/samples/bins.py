"""Samples of counting in bins."""

from tests.samples.base import S, T

SAMPLES = {
    "histc": [
        S(T.of([0.0, 4.0, 0.6, 1.4, 1.7, 3.5]), 4),
        S(T.of([[0.3, -0.7], [0.8, 7.0]]), 4, -1.0, 1.0),
        S(T(0), bins=3),
        S(T(()), bins=2),
    ],
    "searchsorted": [
        S(T.of([-1.0, 0.0, 0.5]), T(2, 3)),
        S(T.of([[-1.0, 0.0, 0.5], [0.0, 0.0, 1.0]]), T(2, 4), True),
        S(T.of([0.0, 1.0]), T(())),
        S(T(0), T(3)),
    ],
}
