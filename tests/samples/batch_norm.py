"""Samples of normalisation over batches and groups."""

from tests.samples.base import S, T


def rest() -> tuple[T, T]:
    return T(3), T(3, low=0.5, high=2.0)


SAMPLES = {
    "_batch_stats": [S(T(4, 3, 2, 2)), S(T(5, 2))],
    "_batch_norm": [
        S(T(4, 3, 2), T(3), T(3), *rest(), False, 0.1),
        S(T(2, 3, 2, 2), None, None, *rest(), False, 0.1),
        S(T(5, 3), T(3), None, *rest(), False),
        S(T(5, 3), None, T(3), *rest(), False),
        S(T(0, 3, 4), T(3), T(3), *rest(), False),
    ],
    "_group_norm": [
        S(T(2, 4, 3), 2, T(4), T(4)),
        S(T(2, 6, 2, 2), 3),
        S(T(2, 4), 1, T(4), None, 0.1),
        S(T(2, 4, 3), 4, None, T(4)),
        S(T(0, 4, 3), 2, T(4), T(4)),
    ],
}
