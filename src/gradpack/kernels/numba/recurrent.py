"""The gates of recurrent networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dispatch import HEAVY
from .loops import recurrent as loops
from .ranges import Whole, over


def gates_forward(input_gates: Any, hidden_gates: Any, bias: Any, cx: Any) -> Any:
    """As `ops.nn.lstm_gates.gates_forward`."""
    h, c = np.empty(cx.shape, cx.dtype), np.empty(cx.shape, cx.dtype)
    workspace = np.empty(input_gates.shape, cx.dtype)
    bias = np.zeros(input_gates.shape[1], cx.dtype) if bias is None else bias
    over(HEAVY, loops.lstm, input_gates, hidden_gates, Whole(bias), cx, h, c, workspace)
    return h, c, workspace


def gates_backward(g_h: Any, g_c: Any, cx: Any, c: Any, workspace: Any) -> Any:
    """As `ops.nn.lstm_gates.gates_backward`."""
    sums_g, cx_g = np.empty(workspace.shape, cx.dtype), np.empty(cx.shape, cx.dtype)
    given = np.zeros(cx.shape, cx.dtype) if g_c is None else g_c
    over(HEAVY, loops.lstm_gradient, g_h, given, cx, c, workspace, sums_g, cx_g)
    return sums_g, cx_g
