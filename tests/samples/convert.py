"""Samples of conversions."""

import gradpack as torch
from tests.samples.base import S, T

SAMPLES = {
    "_to_copy": [S(T(2, 3), torch.float64), S(T(()), torch.float64), S(T(0, 3), torch.float64)],
    "_copied": [S(T(2, 3), T(2, 3)), S(T(2, 3), T(3)), S(T(2, 3), T(())), S(T(()), T(())), S(T(0, 3), T(3))],
    "_filled_number": [S(T(2, 3), 2.0), S(T(()), -1.0), S(T(0, 3), 1.0)],
    "_zeroed": [S(T(2, 3)), S(T(())), S(T(0, 3))],
    "_filled": [S(T(2, 3), T(())), S(T(()), T(())), S(T(0, 3), T(()))],
}
