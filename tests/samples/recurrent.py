"""Samples of the gates of an LSTM, and of a gated recurrent unit."""

from tests.samples.base import S, T

SAMPLES = {
    "_thnn_fused_lstm_cell": [
        S(T(2, 12), T(2, 12), T(2, 3)),
        S(T(2, 12), T(2, 12), T(2, 3), T(12), T(12)),
        S(T(2, 12), T(2, 12), T(2, 3), None, T(12)),
        S(T(0, 12), T(0, 12), T(0, 3), T(12), T(12)),
    ],
    "_thnn_fused_gru_cell": [S(T(2, 9), T(2, 9), T(2, 3)), S(T(0, 9), T(0, 9), T(0, 3))],
}
