"""Samples of embedding and its gradient."""

from tests.samples.base import S, T

INDEX = T.of([[0, 2, 2], [3, 0, 1]])

SAMPLES = {
    # Padding and scaling change the gradient by definition: they are tested by themselves.
    "_embedding": [S(T(4, 3), INDEX), S(T(4, 3), T.of(2)), S(T(4, 3), T.of([], "int"))],
    "embedding_dense_backward": [
        S(T(2, 3, 5), INDEX, 4),
        S(T(2, 3, 5), INDEX, 4, 0),
        S(T(2, 3, 5), INDEX, 4, -1, True),
        S(T(5), T.of(1), 4),
        S(T(0, 5), T.of([], "int"), 4),
    ],
    "_pick_rows": [S(T(4, 3), INDEX), S(T(4, 3), INDEX, 2), S(T(4, 3), INDEX, -1, True), S(T(4, 3), T.of([], "int"))],
}
