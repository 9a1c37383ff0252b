"""Samples of the gates of an LSTM."""

from tests.samples.base import S, T

SAMPLES = {
    "_thnn_fused_lstm_cell": [
        S(T(2, 12), T(2, 12), T(2, 3)),
        S(T(2, 12), T(2, 12), T(2, 3), T(12), T(12)),
        S(T(2, 12), T(2, 12), T(2, 3), None, T(12)),
        S(T(0, 12), T(0, 12), T(0, 3), T(12), T(12)),
    ]
}
