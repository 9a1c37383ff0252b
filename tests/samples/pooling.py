"""Samples of pooling. Elements differ by more than a difference step, so that no maximum changes place."""

import numpy as np

from tests.samples.base import S, T

HALVES = ((2, 2), (2, 2), (0, 0), (1, 1), (2, 3))
OVERLAP = ((3, 2), (2, 1), (1, 1), (1, 2), (2, 5))
CUBES = ((2, 1, 2), (1, 1, 2), (0, 0, 1), (1, 1, 1), (2, 3, 3))
WIDE = ((1, 70), (1, 5), (0, 0), (1, 1), (1, 3))
EDGE = ((2, 2), (2, 2), (0, 0), (1, 1), (3, 3))  # the last windows only begin inside


def far(*shape: int) -> T:
    """Numbers in a random order, none near another."""
    size = int(np.prod(shape))
    return T.of(np.random.default_rng(size).permutation(size).reshape(shape) * 0.37 - 1.0, kind="float")


def codes(*shape: int, high: int = 4) -> T:
    return T.of(np.random.default_rng(1).integers(0, high, shape))


def places(*shape: int, high: int) -> T:
    """For each row of the first two dimensions, different indices below `high`."""
    rng = np.random.default_rng(2)
    count = int(np.prod(shape[2:]))
    rows = [rng.permutation(high)[:count] for _ in range(shape[0] * shape[1])]
    return T.of(np.array(rows, np.int64).reshape(shape))


def fraction(*shape: int) -> T:
    return T.of(np.random.default_rng(3).uniform(0.1, 0.9, shape), kind="float")


SAMPLES = {
    "_flat_pick": [
        S(T(2, 3, 4, 5), codes(2, 3, 2, 2, high=20), 2),
        S(T(2, 6), codes(2, 3, high=6), 1),
        S(T(0, 3, 4), T(0, 3, 2, kind="int"), 1),
    ],
    "_flat_place": [
        S(T(2, 3, 2, 2), codes(2, 3, 2, 2, high=20), (2, 3, 4, 5), 2),
        S(T(2, 3), codes(2, 3, high=6), (2, 6), 1),
        S(T(0, 3, 2), T(0, 3, 2, kind="int"), (0, 3, 4), 1),
    ],
    "_max_gather": [
        S(T(2, 4, 6), codes(2, 2, 3), HALVES),
        S(T(2, 3, 3, 6), codes(2, 2, 3, 3), ((2, 1, 2), (1, 1, 2), (0, 0, 0), (1, 1, 1), (2, 3, 3))),
        S(T(0, 4, 6), T(0, 2, 3, kind="int"), HALVES),
    ],
    "_max_scatter": [
        S(T(2, 2, 3), codes(2, 2, 3), (2, 4, 6), HALVES),
        S(T(2, 1, 3), codes(2, 1, 3, high=70), (2, 1, 80), WIDE),
        S(T(2, 2, 3), codes(2, 2, 3), (2, 5, 7), HALVES),
        S(T(0, 2, 3), T(0, 2, 3, kind="int"), (0, 4, 6), HALVES),
    ],
    "_max_pool2d": [
        S(far(2, 3, 4, 6), HALVES),
        S(far(2, 4, 6), OVERLAP),
        S(far(2, 1, 80), WIDE),
        S(far(2, 5, 5), EDGE),
        S(T(0, 3, 4, 6), HALVES),
    ],
    "_max_pool3d": [S(far(2, 2, 3, 3, 5), CUBES), S(T(0, 2, 3, 3, 5), CUBES)],
    "_max_pool_values": [S(far(2, 3, 4, 6), HALVES), S(far(2, 4, 6), OVERLAP), S(T(0, 3, 4, 6), HALVES)],
    "_pool_indices": [S(codes(2, 2, 3), (4, 6), HALVES), S(T(0, 2, 3, kind="int"), (4, 6), HALVES)],
    "_adaptive_max_pool2d": [
        S(far(2, 3, 4, 6), (2, 3)),
        S(far(2, 5, 7), (3, 4)),
        S(far(2, 2, 3), (4, 2)),
        S(far(2, 2, 3), (0, 2)),
        S(T(0, 3, 4, 6), (2, 3)),
    ],
    "_adaptive_max_pool3d": [S(far(2, 2, 3, 5, 4), (2, 3, 4)), S(T(0, 2, 3, 5, 4), (2, 3, 4))],
    "_max_unpool": [
        S(T(2, 3, 2, 2), places(2, 3, 2, 2, high=20), (4, 5)),
        S(T(2, 3, 2), places(2, 3, 2, high=6), (6,)),
        S(T(0, 3, 2), T(0, 3, 2, kind="int"), (6,)),
    ],
    "_averages": [
        S(T(2, 3, 4, 6), HALVES),
        S(T(2, 4, 6), OVERLAP, False),
        S(T(2, 5, 5), EDGE),
        S(T(2, 5, 5), EDGE, False, 3),
        S(T(0, 3, 4, 6), HALVES),
    ],
    "_averages3d": [S(T(2, 2, 3, 3, 5), CUBES, False), S(T(2, 2, 3, 3, 5), CUBES, True, 3), S(T(0, 2, 3, 3, 5), CUBES)],
    "_averages_back": [
        S(T(2, 3, 2, 3), (2, 3, 4, 6), HALVES),
        S(T(2, 2, 5), (2, 4, 6), OVERLAP, True),
        S(T(2, 3, 3), (2, 5, 5), EDGE, False, 3),
        S(T(0, 3, 2, 3), (0, 3, 4, 6), HALVES),
    ],
    "_adaptive_avg_pool2d": [
        S(T(2, 3, 4, 6), (2, 3)),
        S(T(2, 5, 7), (3, 4)),
        S(T(2, 2, 3), (4, 2)),
        S(T(2, 2, 3), (0, 2)),
        S(T(0, 3, 4, 6), (2, 3)),
    ],
    "_adaptive_avg_pool3d": [S(T(2, 2, 3, 5, 4), (2, 3, 4)), S(T(0, 2, 3, 5, 4), (2, 3, 4))],
    "_adaptive_back": [S(T(2, 3, 4), (2, 5, 7), (3, 4)), S(T(2, 0, 2), (2, 2, 3), (0, 2)), S(T(0, 2), (0, 4), (2,))],
    "_fractional_max_pool2d": [
        S(far(2, 3, 5, 6), fraction(2, 3, 2), (2, 2), (3, 4)),
        S(far(2, 5, 6), fraction(1, 2, 2), (2, 3), (1, 2)),
        S(T(0, 3, 5, 6), T(0, 3, 2), (2, 2), (3, 4)),
    ],
    "_fractional_max_pool3d": [
        S(far(1, 2, 5, 4, 4), fraction(1, 2, 3), (2, 2, 1), (3, 2, 3)),
        S(T(0, 2, 5, 4, 4), T(0, 2, 3), (2, 2, 1), (3, 2, 3)),
    ],
}
