"""Samples of what says which values there are."""

from tests.samples.base import S, T

SAMPLES = {
    "mode": [S(T(3, 5)), S(T(3, 4), 0, True), S(T(())), S(T(2, 0, 3), 0)],
    "_unique2": [S(T.of([3, 1, 3, 2])), S(T.of([[1, 1], [2, 1]]), True, True), S(T.of([], "int"))],
    "_unique_dim": [
        S(T.of([[1, 2], [1, 2], [0, 5]])),
        S(T.of([[1, 1, 2], [1, 1, 0]]), dim=1, consecutive=True),
        S(T.of([], "int")),
    ],
    "isin": [
        S(T(3, 4), T(2)),
        S(T.of([1, 2, 3]), T.of([2, 3]), True, True),
        S(T(()), T(3)),
        S(T(0, 2), T(20)),
        S(T(4), T(20)),
    ],
}
