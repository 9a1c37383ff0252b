"""Loops over the gates of recurrent networks, of float32: those have four times as many columns as `cx`.

Each loop over a row reads and writes few arrays, so that it works on several elements at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementwise import sigmoid
from .functions import tanh
from .loop import loop

_ONE = np.float32(1.0)


@loop
def lstm(input_gates: Any, hidden_gates: Any, bias: Any, cx: Any, h: Any, c: Any, workspace: Any) -> None:
    """The output, the next cell state, and the activations of the gates i, f, g and o."""
    rows, size = cx.shape
    for r in range(rows):
        own, given, other = workspace[r], input_gates[r], hidden_gates[r]
        i, f, g, o = own[:size], own[size : 2 * size], own[2 * size : 3 * size], own[3 * size :]
        before, state, out = cx[r], c[r], h[r]
        for j in range(4 * size):
            own[j] = (given[j] + other[j]) + bias[j]
        for j in range(2 * size):
            own[j] = sigmoid(own[j])
        for j in range(size):
            g[j] = tanh(g[j])
        for j in range(size):
            o[j] = sigmoid(o[j])
        for j in range(size):
            state[j] = f[j] * before[j] + i[j] * g[j]
        for j in range(size):
            out[j] = o[j] * tanh(state[j])


@loop
def lstm_gradient(g_h: Any, g_c: Any, cx: Any, c: Any, workspace: Any, sums_g: Any, cx_g: Any) -> None:
    """The gradients of `sums` and of `cx`."""
    rows, size = cx.shape
    t, d = np.empty(size, cx.dtype), np.empty(size, cx.dtype)
    for r in range(rows):
        own, made, g_out, g_state = workspace[r], sums_g[r], g_h[r], g_c[r]
        i, f, g, o = own[:size], own[size : 2 * size], own[2 * size : 3 * size], own[3 * size :]
        to_i, to_f, to_g, to_o = made[:size], made[size : 2 * size], made[2 * size : 3 * size], made[3 * size :]
        before, state, to_before = cx[r], c[r], cx_g[r]
        for j in range(size):
            t[j] = tanh(state[j])
        for j in range(size):
            output = g_out[j] * t[j]
            d[j] = g_out[j] * o[j] - output * o[j] * t[j] + g_state[j]
            t[j] = output
        for j in range(size):
            to_o[j] = t[j] * (o[j] - o[j] * o[j])
        for j in range(size):
            to_i[j] = d[j] * g[j] * (i[j] - i[j] * i[j])
        for j in range(size):
            to_f[j] = d[j] * before[j] * (f[j] - f[j] * f[j])
        for j in range(size):
            to_g[j] = d[j] * i[j] * (_ONE - g[j] * g[j])
        for j in range(size):
            to_before[j] = d[j] * f[j]
