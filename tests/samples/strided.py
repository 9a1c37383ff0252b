"""Samples of what goes by strides."""

from tests.samples.base import S, T

SAMPLES = {
    "_as_strided": [S(T(6), (2, 2), (2, 1), 1), S(T(2, 3), (2, 2), (1, 1)), S(T(0, 3), (0, 2), (2, 1))],
    "as_strided_scatter_add": [S(T(2, 2), (6,), (2, 2), (1, 1), 0), S(T(0, 2), (6,), (0, 2), (1, 1), 1)],
    "_contiguous": [S(T(2, 3)), S(T(())), S(T(0, 3))],
    "unfold": [S(T(6), 0, 3, 2), S(T(2, 5), -1, 2, 1), S(T(2, 5), 1, 2, 3), S(T(0, 5), 1, 2, 2), S(T(()), 0, 1, 1)],
    "_unfold_backward": [S(T(2, 3), (6,), 0, 3, 2), S(T(2, 4, 2), (2, 5), -1, 2, 1), S(T(0, 4, 2), (0, 5), 1, 2, 1)],
}
