"""The gates of an LSTM as one operation: their activations, the next cell state, and the output."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import FLOATING
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import general
from ...kernels.dispatch import accelerated
from ..pointwise.blockwise import exp_of_negative
from .affine import _over_rows

FUNCTIONS = ""


def _composed(input_gates: Any, hidden_gates: Any, cx: Any, input_bias: Any = None, hidden_bias: Any = None) -> Any:
    """The results of `_lstm_gates`, composed of other operations."""
    sums = input_gates + hidden_gates
    for bias in (input_bias, hidden_bias):
        sums = sums if bias is None else sums + bias
    i, f, g, o = late.chunk(sums, 4, 1)
    i, f, g, o = late.sigmoid(i), late.sigmoid(f), late.tanh(g), late.sigmoid(o)
    c = f * cx + i * g
    return o * late.tanh(c), c, late.cat((i, f, g, o), 1)


@accelerated
def gates_forward(input_gates: Any, hidden_gates: Any, bias: Any, cx: Any) -> Any:
    """The output, the next cell state and the activations, from the addends of the gates; `bias` is a row, or None."""
    size = cx.shape[1]
    sums = input_gates + hidden_gates
    if bias is not None:
        sums += bias
    made = exp_of_negative(sums)
    made += 1
    np.divide(1, made, out=made)
    np.tanh(sums[:, 2 * size : 3 * size], out=made[:, 2 * size : 3 * size])
    c = made[:, size : 2 * size] * cx
    c += made[:, :size] * made[:, 2 * size : 3 * size]
    return made[:, 3 * size :] * np.tanh(c), c, made


def _gradients(g: Any, cx: Any, c: Any, workspace: Any, needs: Any) -> Any:
    """The gradients of both addends of the gates, of `cx`, and of both biases."""
    g_h, g_c, g_workspace = g
    if g_h is None or g_workspace is not None or isinstance(cx, Tensor):
        sums_g, cx_g = _any_backward(g_h, g_c, g_workspace, cx, c, workspace)
    else:
        sums_g, cx_g = gates_backward(g_h, g_c, cx, c, workspace)
    bias_g = _over_rows(sums_g) if needs[3] or needs[4] else None
    return sums_g, sums_g, cx_g, bias_g, bias_g


@accelerated
def gates_backward(g_h: Any, g_c: Any, cx: Any, c: Any, workspace: Any) -> Any:
    """As `_any_backward`, where only `h` was used, and perhaps `c`."""
    size = cx.shape[1]
    t = np.tanh(c)
    o_g = g_h * t
    d = g_h - o_g * t
    d *= workspace[:, 3 * size :]
    if g_c is not None:
        d += g_c
    squares = workspace * workspace
    slopes = workspace - squares
    np.subtract(1, squares[:, 2 * size : 3 * size], out=slopes[:, 2 * size : 3 * size])
    parts = (d * workspace[:, 2 * size : 3 * size], d * cx, d * workspace[:, :size], o_g)
    slopes *= np.concatenate(parts, axis=1)
    return slopes, d * workspace[:, size : 2 * size]


def _any_backward(g_h: Any, g_c: Any, g_workspace: Any, cx: Any, c: Any, workspace: Any) -> Any:
    """The gradients of the sums of the gates and of `cx`.

    With d = g_c + g_h o (1 - tanh(c)^2), those of the activations i, f, g and o are d g, d cx, d i and g_h tanh(c).
    That of a gate is such a one times a (1 - a), or 1 - a^2 for g; that of `cx` is d f.
    """
    size = cx.shape[1]
    i, f, a, o = (workspace[:, k * size : (k + 1) * size] for k in range(4))
    if g_h is None:
        o_g, d = o * 0, o * 0 if g_c is None else g_c
    else:
        t = late.tanh(c)
        o_g = g_h * t
        d = (g_h - o_g * t) * o
        d = d if g_c is None else d + g_c
    parts = [d * a, d * cx, d * i, o_g]
    if g_workspace is not None:
        parts = [p + g_workspace[:, k * size : (k + 1) * size] for k, p in enumerate(parts)]
    slopes = (i - i * i, f - f * f, 1 - a * a, o - o * o)
    return late.cat([p * slope for p, slope in zip(parts, slopes, strict=True)], 1), d * f


@general(
    inputs=("input_gates", "hidden_gates", "cx", "input_bias", "hidden_bias"),
    joint_vjp=_gradients,
    decomposition=_composed,
    results=("h", "c", "workspace"),
    name="_thnn_fused_lstm_cell",
    node="ThnnFusedLstmCellBackward0",
    dtypes="f",
    saved_as="cx result1=c result2=workspace",
)
def _lstm_gates(
    input_gates: Array, hidden_gates: Array, cx: Array, input_bias: Array = None, hidden_bias: Array = None
) -> Any:
    """The next output and cell state, and the activations of the gates i, f, g and o.

    Args:
        input_gates, hidden_gates: what input and state add to the gates, shape (N, 4 H).
        cx: the cell state, shape (N, H).
        input_bias, hidden_bias: shape (4 H), or None.
    """
    if input_bias is not None and hidden_bias is not None:
        input_bias = input_bias + hidden_bias
    return gates_forward(input_gates, hidden_gates, hidden_bias if input_bias is None else input_bias, cx)


def lstm_gates(
    input_gates: Tensor, hidden_gates: Tensor, cx: Tensor, input_bias: Any, hidden_bias: Any
) -> tuple[Tensor, Tensor]:
    """Return the next output and cell state: see `_lstm_gates`."""
    step = _lstm_gates if input_gates._spec.dtype.category == FLOATING else _composed
    h, c, _ = step(input_gates, hidden_gates, cx, input_bias, hidden_bias)
    return h, c
