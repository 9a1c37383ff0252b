"""Samples of softmax and the like."""

from tests.samples.base import S, T
from tests.samples.reduce import ALONG

WIDE = T(20, 30, low=-3.0, high=3.0)  # large enough for the form without a shift

SAMPLES = {
    "softmax": [*ALONG, S(WIDE, 1), S(WIDE, 0), S(T(2, 3, 4), dim=-2)],
    "log_softmax": [*ALONG, S(WIDE, 1), S(WIDE, 0), S(T(2, 3, 4), dim=-2)],
    "logsumexp": [
        *ALONG[:-2],
        S(T(3, 4), 1, True),
        S(T(2, 3, 4), (0, -1)),
        S(T(2, 3, 4), dim=(1, 2), keepdim=True),
        S(T(0, 3), 1),
        S(T(2, 0), 0),
    ],
}
