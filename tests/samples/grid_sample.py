"""Samples of reading at places, and of bags of rows."""

import numpy as np

from tests.samples.base import S, T


def index(*shape: int, high: int) -> T:
    return T.of(np.random.default_rng(4).integers(0, high, shape))


BAGS = T.of(np.array([0, 0, 2, 2, 2]))
ROWS = T.of(np.array([1, 3, 0, 0, 2]))
NONE = T.of(np.zeros(0, np.int64))
FAR = T.of(np.random.default_rng(5).permutation(15).reshape(5, 3) * 0.4 - 2.0, kind="float")
WHERE = T.of(np.array([[1, 0, -1], [3, 0, 2]]))

SAMPLES = {
    "_read_at": [
        S(T(2, 3, 4, 5), T(4, 2, 6), index(4, 2, 6, high=20)),
        S(T(1, 2, 3), T(2, 1, 4), index(2, 1, 4, high=3)),
        S(T(0, 2, 3), T(2, 0, 4), T(2, 0, 4, kind="int")),
    ],
    "_spread_at": [
        S(T(2, 3, 6), T(4, 2, 6), index(4, 2, 6, high=20), (4, 5)),
        S(T(0, 2, 4), T(2, 0, 4), T(2, 0, 4, kind="int"), (3,)),
    ],
    "_products_at": [
        S(T(2, 3, 6), T(2, 3, 4, 5), index(4, 2, 6, high=20)),
        S(T(0, 2, 4), T(0, 2, 3), T(2, 0, 4, kind="int")),
    ],
    "_place": [
        S(T(7, low=-0.9, high=0.9), 4),
        S(T(7, low=-3.0, high=3.0), 5, "zeros", False),
        S(T(7, low=-3.0, high=3.0), 5, "reflection", False, False),
        S(T(), 5, "zeros"),
        S(T(0), 5),
    ],
    "_grid_sampled": [
        S(T(2, 3, 4, 5), T(2, 3, 2, 2, low=-1.3, high=1.3), 0, 0, False),
        S(T(1, 2, 3, 4), T(1, 3, 1, 2, low=-1.3, high=1.3), 0, 1, True),
        S(T(2, 1, 3, 4), T(2, 3, 1, 2, low=-1.3, high=1.3), 1, 0, False),
        S(T(0, 2, 3, 3), T(0, 2, 2, 2), 0, 0, False),
    ],
    "_slope_of": [S(T(7, low=-0.9, high=0.9), 4, "reflection", False, False), S(T(0), 5)],
    "_bag_sums": [S(T(5, 3), BAGS, 3), S(T(0, 3), NONE, 2)],
    "_table_sums": [S(T(5, 3), BAGS, ROWS, 4), S(T(0, 3), NONE, NONE, 2)],
    "_rows_of_bags": [S(T(3, 2), BAGS), S(T(0, 2), NONE)],
    "_bag_maxima": [S(FAR, BAGS, 3), S(T(0, 3), NONE, 2)],
    "_put_rows": [S(T(2, 3), WHERE, 5), S(T(0, 3), T(0, 3, kind="int"), 2)],
    "_take_rows": [S(T(5, 3), WHERE), S(T(0, 3), T(0, 3, kind="int"))],
}
