"""Samples of layer normalisation."""

from tests.samples.base import S, T

SAMPLES = {
    "_layer_norm": [
        S(T(2, 5), (5,), T(5), T(5)),
        S(T(2, 5), (5,)),
        S(T(2, 5), (5,), T(5)),
        S(T(2, 3, 4), (3, 4), T(3, 4), T(3, 4), 0.1),
        S(T(0, 5), (5,), T(5), T(5)),
    ]
}
