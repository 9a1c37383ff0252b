"""Samples of random numbers through which gradients go."""

from tests.samples.base import S, T

SHAPES = T(2, 3, low=0.5, high=4.0)
SHARES = T(2, 3, low=0.1, high=0.9)

SAMPLES = {
    "_standard_gamma": [S(SHAPES), S(T((), low=0.5, high=4.0)), S(T(0, 3))],
    "_igamma_in_shape": [
        S(SHAPES, T(2, 3, low=0.5, high=4.0), 1),
        S(SHAPES, T(3, low=0.5, high=4.0), 1),
        S(T.of(1.0), T.of(1.0), 1),
        S(T(0, 3), T(0, 3), 1),
    ],
    "_beta_slope": [S(SHARES, SHAPES, SHAPES), S(T.of(0.5), T.of(1.0), T.of(1.0)), S(T(0, 3), T(0, 3), T(0, 3))],
    "poisson": [S(T(2, 3, low=0.5, high=9.0)), S(T((), low=0.5, high=9.0)), S(T(0, 3))],
}
