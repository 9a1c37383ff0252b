"""Samples of activation functions. Kinks are kept away from, where differences would see both sides."""

from tests.samples.base import S, T

AWAY = T.of([[-2.3, -1.4, -0.3], [0.4, 1.7, 2.6]])
USUAL = [S(AWAY), S(T.of(0.7)), S(T(0, 3))]

SAMPLES = {
    "relu": USUAL,
    "gelu": [*USUAL, S(AWAY, approximate="tanh")],
    "gelu_backward": [
        S(T(2, 3), AWAY, "none"),
        S(T(3), AWAY, "tanh"),
        S(T.of(1.3), T.of(0.7), "none"),
        S(T(0, 3), T(0, 3), "none"),
    ],
    "silu": USUAL,
    "softplus": [*USUAL, S(AWAY, 2.0, 1.5)],
    "leaky_relu": [*USUAL, S(AWAY, 0.2)],
    "_elu": [*USUAL, S(AWAY, 1.5, 0.7, 0.5)],
    "_celu": [*USUAL, S(AWAY, 1.5, 0.7, 0.5)],
    "glu": [S(T(2, 4), 1), S(T(4, 3), 0), S(T(0, 4), 1)],
    "logsigmoid": USUAL,
    "mish": USUAL,
    "hardtanh": [*USUAL, S(AWAY, -0.5, 2.0)],
    "hardsigmoid": [*USUAL, S(T.of([-4.0, 4.0, 0.5]))],
    "hardswish": [*USUAL, S(T.of([-4.0, 4.0, 0.5]))],
    "threshold": [S(AWAY, 0.1, 5.0), S(T.of(0.7), 1.0, -1.0), S(T(0, 3), 0.0, 1.0)],
    "_prelu": [S(AWAY, T(3)), S(AWAY, T(2, 1)), S(T.of(-0.7), T(())), S(T(0, 3), T(3))],
    "_softshrink": [*USUAL, S(AWAY, 1.0)],
    "hardshrink": [*USUAL, S(AWAY, 1.0)],
    "_flat_gradient": [S(T(3, 4), T(3, 4)), S(T(3, 4), T(4)), S(T(), T()), S(T(0, 3), T(0, 3))],
}
