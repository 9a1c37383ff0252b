"""The gates of a gated recurrent unit as one operation, for few elements: their activations, and the next state."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import FLOATING
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import general
from ...kernels.dispatch import LARGE
from ..pointwise.blockwise import exp_of_negative

FUNCTIONS = ""


def _composed(input_gates: Any, hidden_gates: Any, hx: Any) -> Any:
    """The next state, composed of other operations."""
    x_r, x_z, x_n = late.chunk(input_gates, 3, 1)
    h_r, h_z, h_n = late.chunk(hidden_gates, 3, 1)
    n = late.tanh(x_n + late.sigmoid(x_r + h_r) * h_n)
    return n + late.sigmoid(x_z + h_z) * (hx - n)


def _gradients(g: Any, input_gates: Any, hidden_gates: Any, hx: Any, gates: Any, new: Any, needs: Any) -> Any:
    """The gradients of both addends of the gates, and of the state.

    With r and z in `gates` and n = `new`, those of the sums are g (1 - z) (1 - n^2) for n, that times h_n r (1 - r) for
    r, and g (h - n) z (1 - z) for z.
    """
    size = hx.shape[1]
    hx_g = g * gates[:, size:]
    slopes = gates - gates * gates
    n_g = (g - hx_g) * (1 - new * new)
    r_g = n_g * hidden_gates[:, 2 * size :] * slopes[:, :size]
    z_g = g * (hx - new) * slopes[:, size:]
    input_g = np.concatenate((r_g, z_g, n_g), axis=1) if needs[0] else None
    hidden_g = np.concatenate((r_g, z_g, n_g * gates[:, :size]), axis=1) if needs[1] else None
    return input_g, hidden_g, hx_g


@general(
    inputs=("input_gates", "hidden_gates", "hx"),
    joint_vjp=_gradients,
    decomposition=_composed,
    residuals=("gates", "new"),
    name="_thnn_fused_gru_cell",
    node="ThnnFusedGruCellBackward0",
    dtypes="f",
)
def _gru_gates(input_gates: Array, hidden_gates: Array, hx: Array) -> Any:
    """The next state, and the activations of the gates r and z, and of n.

    Args:
        input_gates, hidden_gates: what input and state add to the gates, shape (N, 3 H).
        hx: the state, shape (N, H).
    """
    size = hx.shape[1]
    gates = exp_of_negative(input_gates[:, : 2 * size] + hidden_gates[:, : 2 * size])
    gates += 1
    gates = np.divide(1, gates)
    new = np.tanh(input_gates[:, 2 * size :] + gates[:, :size] * hidden_gates[:, 2 * size :])
    return new + gates[:, size:] * (hx - new), gates, new


def gru_gates(input_gates: Tensor, hidden_gates: Tensor, hx: Tensor) -> Tensor:
    """Return the next state: see `_gru_gates`."""
    dtype, shape = input_gates._spec.dtype, input_gates._shape
    few = dtype.category == FLOATING and not dtype.low and shape[0] * shape[1] < LARGE
    made: Tensor = (_gru_gates if few else _composed)(input_gates, hidden_gates, hx)
    return made
