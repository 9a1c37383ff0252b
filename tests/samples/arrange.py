"""Samples of what reverses, rolls and repeats."""

from tests.samples.base import S, T

SAMPLES = {
    "flip": [S(T(2, 3), (0,)), S(T(2, 3), (0, -1)), S(T(()), ()), S(T(0, 3), (0,))],
    "roll": [S(T(2, 3), 1), S(T(2, 3), 1, 0), S(T(2, 3), (1, -1), (0, 1)), S(T(0, 3), 1, 1), S(T(2, 3), -2)],
    "_written_out": [S(T(2, 3)), S(T(())), S(T(0, 3))],
    "repeat": [S(T(2, 3), (2, 1)), S(T(3), (2, 2)), S(T(()), (2,)), S(T(0, 3), (1, 2))],
}
