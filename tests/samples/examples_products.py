"""Samples of products for each example of a batch."""

from tests.samples.base import S, T

SAMPLES = {
    "product_each": [
        S(T(2, 3, 4), T(2, 4, 5)),
        S(T(2, 3, 1), T(2, 1, 5)),
        S(T(2, 3, 4), T(2, 4, 1)),
        S(T(1, 3, 2), T(1, 2, 3)),
        S(T(0, 3, 2), T(0, 2, 3)),
        S(T(2, 0, 2), T(2, 2, 3)),
    ],
    "linear_each": [
        S(T(2, 3, 4), T(2, 5, 4), T(2, 5)),
        S(T(2, 3, 4), T(2, 5, 4)),
        S(T(2, 1, 4), T(2, 5, 4), T(2, 5)),
        S(T(0, 3, 4), T(0, 5, 4), T(0, 5)),
    ],
}
