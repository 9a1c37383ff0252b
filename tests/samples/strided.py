"""Samples of what goes by strides."""

from gradpack.backends.memory_layout import Window
from tests.samples.base import S, T

ROWS = Window(((2, 3), (3, 1)), 0, ((2, 2), (1, 1)), 0)  # overlaps itself
COLUMN = Window(((2, 3), (3, 1)), 2, ((2,), (3,)), 3)
OUTSIDE = Window(((3,), (1,)), 2, ((2, 2), (1, 1)), 1)  # starts before what it is a view of
EMPTY = Window(((0, 3), (3, 1)), 0, ((0, 2), (2, 1)), 0)

SAMPLES = {
    "_as_strided": [
        S(T(2, 3), (2, 2), (1, 1), 0, ROWS),
        S(T(2, 3), (2,), (3,), 1, Window(((2, 3), (3, 1)), 0, ((2,), (3,)), 1)),
        S(T(0, 3), (0, 2), (2, 1), 0, EMPTY),
    ],
    "_part_taken": [S(T(2, 3), ROWS), S(T(2, 3), COLUMN), S(T(3), OUTSIDE), S(T(0, 3), EMPTY)],
    "_part_spread": [S(T(2, 2), ROWS), S(T(2), COLUMN), S(T(2, 2), OUTSIDE), S(T(0, 2), EMPTY)],
    "_contiguous": [S(T(2, 3)), S(T(())), S(T(0, 3))],
    "unfold": [S(T(6), 0, 3, 2), S(T(2, 5), -1, 2, 1), S(T(2, 5), 1, 2, 3), S(T(0, 5), 1, 2, 2), S(T(()), 0, 1, 1)],
    "_unfold_backward": [S(T(2, 3), (6,), 0, 3, 2), S(T(2, 4, 2), (2, 5), -1, 2, 1), S(T(0, 4, 2), (0, 5), 1, 2, 1)],
}
