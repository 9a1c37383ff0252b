"""Samples of losses."""

import numpy as np

from tests.samples.base import S, T

NO_INTS = T.of(np.zeros(0, int))
TARGET = T.of([0, 2, 1, 2])
CHANCE = T(2, 3, low=0.1, high=0.9)
NEAR, FAR = T.of([[0.1, -0.3, 1.9], [2.5, -1.2, 0.3]]), T.of([[0.3, -1.2, 1.5], [-2.5, -1.6, 2.0]])
SIGNS = T.of([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]])
PAIRS = T.of([[[0, 1, 1], [0, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 0], [0, 2, 0]]], "float")
LABELS = T.of([[0, 1, 0, 2, 0], [0, 1, 0, 0, 0]])
SKIPS = T.of([[False, False, False, True, False], [False, False, False, False, False]])

FLAT = (T(4, 3), TARGET, T(4))
DEEP = (T(2, 3, 2), T.of([[0, 2], [1, 1]]), T(2, 2))

SAMPLES = {
    "_squared_difference": [S(T(2, 3), T(2, 3)), S(T(2, 3), T(3)), S(T(()), T(())), S(T(0, 3), T(0, 3))],
    "_take_by_class": [
        S(*FLAT),
        S(*FLAT, 2.5),
        S(*FLAT[:2], 1.0, 4.0),
        S(*DEEP[:2], 1.0, 4.0),
        S(*DEEP),
        S(T(0, 3), T.of([], "int"), T(0)),
    ],
    "_take_by_class_2d": [
        S(*DEEP),
        S(*DEEP, 2.5),
        S(*DEEP[:2], 1.0, 4.0),
        S(*DEEP[:2], 1.0),
        S(*FLAT),
        S(T(0, 3), T.of([], "int"), T(0)),
    ],
    "_put_by_class": [
        S(T(4), *FLAT[1:], (4, 3)),
        S(T(2, 2), *DEEP[1:], (2, 3, 2)),
        S(T(()), *DEEP[1:], (2, 3, 2), 2.5),
        S(T(()), DEEP[1], 1.0, (2, 3, 2), 2.5),
        S(T(()), FLAT[1], 1.0, (4, 3), 2.5),
        S(T(0), T.of([], "int"), T(0), (0, 3)),
    ],
    "_mean_squared_difference": [S(T(2, 3), T(2, 3)), S(T(2, 3), T(2, 3), 2), S(T(()), T(()))],
    "binary_cross_entropy": [
        S(CHANCE, T(2, 3, low=0.1, high=0.9)),
        S(CHANCE, T(2, 3, low=0.1, high=0.9), T(2, 3), 2),
        S(CHANCE, T(2, 3, low=0.1, high=0.9), T(2, 3), 0),
        S(T(0, 3), T(0, 3), None, 2),
    ],
    "binary_cross_entropy_with_logits": [
        S(T(2, 3), T(2, 3)),
        S(T(2, 3), T(2, 3), T(3), T(2, 1), 0),
        S(T(2, 3), T(2, 3), T(3), None, 2),
        S(T(3), T(3), T(2, 1)),
        S(T(0, 3), T(0, 3), None, T(3), 2),
    ],
    "smooth_l1_loss": [*(S(NEAR, FAR, r, 0.7) for r in (0, 1, 2)), S(T(0, 3), T(0, 3), 2), S(NEAR, FAR)],
    "huber_loss": [*(S(NEAR, FAR, r, 0.7) for r in (0, 1, 2)), S(T(0, 3), T(0, 3), 2), S(NEAR, FAR)],
    "soft_margin_loss": [*(S(T(2, 3), SIGNS, r) for r in (0, 1, 2)), S(T(0, 3), T(0, 3), 2)],
    "_multi_margin": [
        S(T(4, 3), TARGET, T(4, 3), 1, 10.0),
        S(T(4, 3), TARGET, T(4, 3), 2, 10.0, 2.5),
        S(T(4, 3), TARGET, T(4, 3), 2, -10.0),
        S(T(0, 3), T.of([], "int"), T(0, 3), 1, 1.0),
    ],
    "_multilabel_margin": [
        S(T(2, 3, low=-0.4, high=0.4), PAIRS),
        S(T(2, 3, low=-0.4, high=0.4), PAIRS, 2.5),
        S(T(0, 3), T(0, 3, 3)),
    ],
    "_ctc_loss": [
        S(T(5, 2, 3), T(2), LABELS, SKIPS, T.of([5, 4]), T.of([2, 1])),
        S(T(5, 2, 3), T(2), LABELS, SKIPS, T.of([4, 0]), T.of([2, 0]), True),
        S(T(5, 0, 3), T(0), T.of(np.zeros((0, 5), int)), T.of(np.zeros((0, 5), bool)), NO_INTS, NO_INTS),
        S(T(5, 2, 3), T(2), T.of([[0], [0]]), T.of([[False], [False]]), T.of([5, 4]), T.of([0, 0])),
    ],
    "_linear_cross_entropy": [
        S(T(4, 2), T(3, 2), TARGET, T(4), T(3), None, 3),
        S(T(4, 2), T(3, 2), TARGET, T(4), None, 2.5, 2),
        S(T(0, 2), T(3, 2), NO_INTS, T(0), T(3)),
    ],
}
