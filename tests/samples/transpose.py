"""Samples of what reorders the dimensions."""

from tests.samples.base import S, T

SAMPLES = {
    "permute": [S(T(2, 3, 4), (2, 0, 1)), S(T(2, 3), (-1, 0)), S(T(()), ()), S(T(0, 3), (1, 0))],
    "transpose": [S(T(2, 3, 4), 0, -1), S(T(()), 0, -1), S(T(0, 3), 0, 1)],
    "t": [S(T(2, 3)), S(T(3)), S(T(())), S(T(0, 3))],
}
