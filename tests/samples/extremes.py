"""Samples of maxima, minima, medians and sorting."""

from tests.samples.base import S, T
from tests.samples.reduce import ALONG, APART, LINE

CUBE = T.of([[[0.1, 1.2], [2.3, -1.4]], [[-0.5, 0.6], [-2.7, 1.8]], [[1.9, -0.9], [0.8, -1.1]]])

ALL = [S(APART), S(T(())), S(LINE), S(T(1)), S(CUBE)]

# Random elements of few dimensions are apart from each other by more than differences step.
OVER = [
    S(APART, 0),
    S(APART, dim=-1, keepdim=True),
    S(CUBE, (0, -1)),
    S(CUBE, (1, 2), True),
    S(APART),
    S(APART, (), True),
    S(T(()), 0),
    S(T(()), -1, True),
    S(T(0, 3), 1),
    S(T(0, 3), -1, True),
]

ONE = [
    S(APART, 0),
    S(APART, -1, True),
    S(CUBE, dim=1),
    S(LINE, 0),
    S(T(1), 0, True),
    S(T(()), 0),
    S(T(()), -1, True),
    S(T(0, 3), 1),
    S(T(0, 3), -1, True),
]

PAIRS = [
    S(T(3, 4), T(3, 4)),
    S(T(3, 1), T(2, 1, 4)),
    S(T(()), T(3)),
    S(T(3), T(())),
    S(T(0, 3), T(0, 3)),
    S(T(2, 3), T(1, 3)),
]

SAMPLES = {
    "_max_all": ALL,
    "_min_all": ALL,
    "_median_all": ALL,
    "_nanmedian_all": ALL,
    "max": ONE,
    "min": ONE,
    "median": ONE,
    "nanmedian": ONE,
    "amax": OVER,
    "amin": OVER,
    "aminmax": [
        S(APART),
        S(APART, dim=0),
        S(CUBE, dim=-2, keepdim=True),
        S(APART, keepdim=True),
        S(T(())),
        S(T(()), dim=0),
        S(T(0, 3), dim=1),
    ],
    "argmax": [*ONE, S(APART), S(APART, None, True), S(T(()))],
    "argmin": [*ONE, S(APART), S(APART, None, True), S(T(()))],
    "ties": [
        S(T(3, 4, kind="bool"), T(2), None),
        S(T(3, 4, kind="bool"), T(1), 0),
        S(T(2, 3, 4, kind="bool"), T(()), (0, 2)),
        S(T((), kind="bool"), T(()), 0),
        S(T(0, 3, kind="bool"), T(0), -1),
    ],
    "place_along": [
        S(T(3, 2), T.of([[0, 2], [1, 0], [3, 2]]), (3, 4), 1),
        S(T(2, 3), T.of([[0, 2, 1], [1, 0, 2]]), (3, 3), -2, True),
        S(T(3), T.of([0, 2, 1]), (3, 4), 1, False),
        S(T(3), T.of([1, 0, 1]), (2, 3), 0, False),
        S(T(()), T.of(2), (4,), 0, False),
        S(T(()), T.of(0), (), 0, False),
        S(T(0), T(0, kind="int"), (3, 0), 0, False),
    ],
    "sort": [
        *ALONG[:-1],
        S(APART, 0, True),
        S(APART, descending=True, stable=True),
        S(T(3, 4, kind="int"), -1),
        S(APART),
    ],
    "argsort": [
        *ALONG,
        S(APART, 0, True),
        S(APART, descending=True, stable=True),
        S(T(3, 4, kind="int"), -1),
        S(APART),
    ],
    "topk": [
        S(APART, 2),
        S(APART, 1, 0),
        S(APART, 3, dim=-1, largest=False),
        S(T(30, low=-9.0, high=9.0), 2),
        S(T(30, low=-9.0, high=9.0), 3, 0, False),
        S(T(2, 40), 1, -1, True, False),
        S(APART, 0),
        S(T(()), 1),
        S(T(0, 3), 2),
        S(T(0, 3), 0, 0),
    ],
    "_linear_quantile": [
        S(T(3, 4), 0.3),
        S(T(3, 4), 0.8, 0),
        S(T(2, 3), 1.0, -1, True),
        S(T(5), 0.0, None, True),
        S(T(), 0.5),
    ],
    "kthvalue": [
        S(APART, 2),
        S(APART, 1, 0),
        S(APART, k=3, dim=-1, keepdim=True),
        S(CUBE, 2, 1),
        S(T(()), 1),
        S(T(0, 3), 1),
    ],
    "cummax": ALONG,
    "cummin": ALONG,
    "maximum": PAIRS,
    "minimum": PAIRS,
    "fmax": PAIRS,
    "fmin": PAIRS,
}
