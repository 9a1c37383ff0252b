"""Samples of dropout, with the mask drawn and given."""

import numpy as np

from tests.samples.base import S, T

KEPT = np.array([[True, False, True], [False, True, True]])
BITS = np.packbits(KEPT)

SAMPLES = {
    "rrelu": [
        S(T(2, 3), 0.1, 0.3, True),
        S(T(2, 3), 0.1, 0.3, False),
        S(T(()), 0.1, 0.3, True),
        S(T(0, 3), 0.1, 0.3, True),
    ],
    "_dropout": [
        S(T(4, 5), 0.5),
        S(T(2, 3), 0.5, None, KEPT),
        S(T(()), 0.25, None, np.array(True)),
        S(T(0, 3), 0.5, None, KEPT[:0]),
    ],
    "_apply_mask": [S(T(2, 3), BITS, (2, 3), 0.5), S(T(2, 3), BITS, (2, 3), 1.0), S(T(0, 3), BITS[:0], (0, 3), 0.5)],
}
