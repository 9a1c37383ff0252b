"""Samples of attention."""

from tests.samples.base import S, T

Q, K, V = T(2, 3, 4), T(2, 5, 4), T(2, 5, 2)

SAMPLES = {
    "_attention": [
        S(Q, K, V, None, 0.0, False, 0.5),
        S(T(2, 3, 4), T(2, 3, 4), T(2, 3, 2), None, 0.0, True, 0.5),
        S(Q, K, V, T(3, 5), 0.0, False, 0.5),
        S(Q, K, V, T(2, 1, 5), 0.0, False, 0.3),
        S(Q, K, V, T(2, 3, 5), 0.0, False, 0.3),
        S(Q, K, V, None, 0.5, False, 0.5),
        S(T(0, 3, 4), T(0, 5, 4), T(0, 5, 2), None, 0.0, False, 0.5),
        S(Q, K, V, T.of([[True, True, False, True, False]] * 3), 0.0, False, 0.5),
    ]
}
