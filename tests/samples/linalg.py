"""Samples of products."""

from tests.samples.base import S, T

BATCH = (T(2, 3, 4), T(2, 4, 5))
EMPTY = (T(0, 2, 3), T(0, 3, 4))

SAMPLES = {
    "matmul": [
        S(T(2, 3), T(3, 4)),
        S(T(5, 2, 3), T(3, 4)),
        S(T(5, 1, 2, 3), T(2, 3, 4)),
        S(T(3), T(3)),
        S(T(2, 3), T(3)),
        S(T(3), T(3, 4)),
        S(T(3), T(5, 3, 4)),
        S(T(5, 2, 3), T(3)),
        S(T(0, 3), T(3, 4)),
        S(T(2, 0), T(0, 4)),
    ],
    "mm": [S(T(2, 3), T(3, 4)), S(T(0, 3), T(3, 4)), S(T(2, 0), T(0, 4))],
    "bmm": [S(*BATCH), S(T(0, 2, 3), T(0, 3, 4))],
    "mv": [S(T(2, 3), T(3)), S(T(0, 3), T(3))],
    "dot": [S(T(3), T(3)), S(T(0), T(0))],
    "outer": [S(T(2), T(3)), S(T(0), T(3))],
    "addmm": [
        S(T(2, 4), T(2, 3), T(3, 4)),
        S(T(4), T(2, 3), T(3, 4), beta=0.5, alpha=2.0),
        S(T(()), T(2, 3), T(3, 4)),
        S(T(2, 4), T(2, 0), T(0, 4)),
    ],
    "addmv": [S(T(2), T(2, 3), T(3)), S(T(1), T(2, 3), T(3), beta=0.5, alpha=2.0), S(T(2), T(2, 0), T(0))],
    "addr": [S(T(2, 3), T(2), T(3)), S(T(3), T(2), T(3), beta=0.5, alpha=2.0), S(T(0, 3), T(0), T(3))],
    "baddbmm": [S(T(2, 3, 5), *BATCH), S(T(5), *BATCH, beta=0.5, alpha=2.0), S(T(0, 2, 4), *EMPTY)],
    "addbmm": [S(T(3, 5), *BATCH), S(T(5), *BATCH, beta=0.5, alpha=2.0), S(T(2, 4), *EMPTY)],
}
