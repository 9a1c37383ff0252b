"""Samples of running sums and products."""

from tests.samples.base import S, T
from tests.samples.reduce import ALONG, ZEROS

LONG = T(300, low=-1.0, high=1.0)

SAMPLES = {
    "cumsum": [*ALONG, S(T(3, 70), 0), S(LONG, 0)],
    "_cumsum_from_end": [*ALONG, S(T(3, 70), 0)],
    "cumprod": [*ALONG, S(ZEROS, 0), S(ZEROS, -1), S(T.of([0.0, 2.0, 0.0, 3.0]), 0)],
    "logcumsumexp": [*ALONG, S(T(3, 70), 0)],
    "shifted": [
        S(T(3, 4), 0, 1, 0.0),
        S(T(3, 4), -1, -1, 1.0),
        S(T(2, 3, 2), 1, 1, 2.0),
        S(T(1), 0, -1, 1.0),
        S(T(()), 0, 1, 1.0),
        S(T(0, 3), 0, 1, 1.0),
    ],
    "recurrence": [
        S(T(3, 4), T(3, 4), 0),
        S(T(3, 4), T(3, 4), -1, True),
        S(T(2, 3, 2), T(2, 3, 2), 1, True),
        S(LONG, T(300), 0),
        S(LONG, T(300), 0, True),
        S(T(1), T(1), 0),
        S(T(()), T(()), 0),
        S(T(0, 3), T(0, 3), 0),
    ],
}
