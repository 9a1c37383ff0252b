"""Samples of what changes the shape only."""

from tests.samples.base import S, T

SAMPLES = {
    "reshape": [S(T(2, 3), (3, 2)), S(T(2, 3), (-1,)), S(T(()), (1, 1)), S(T(0, 3), (3, 0)), S(T(2, 3), (2, -1, 1))],
    "expand": [S(T(3, 1), (2, 3, 4)), S(T(3, 1), (-1, 4)), S(T(()), (2, 3)), S(T(0, 1), (0, 3))],
    "squeeze": [S(T(1, 2, 1)), S(T(1, 2, 1), 0), S(T(1, 2, 1), (0, -1)), S(T(1, 2, 1), 1), S(T(())), S(T(0, 1))],
    "unsqueeze": [S(T(2, 3), 0), S(T(2, 3), -1), S(T(()), 0), S(T(0, 3), 1)],
    "clone": [S(T(2, 3)), S(T(())), S(T(0, 3))],
}
