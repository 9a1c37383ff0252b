"""One step of recurrent networks as modules: `RNNCell`, `LSTMCell`, `GRUCell`."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ...core.tensor import Tensor
from ...ops.create.fill import empty, zeros
from ...ops.nn import recurrent
from .. import init
from .._public import give_all
from ..modules.module import Module
from ..parameter import Parameter


class RNNCellBase(Module):
    """Base class of the recurrent cells: their weights and biases.

    Args:
        num_chunks: how many gates.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.RNNCellBase(2, 3, True, 4).weight_ih.shape
        gradpack.Size([12, 2])
    """

    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        for name, size in (("weight_ih", input_size), ("weight_hh", hidden_size)):
            setattr(self, name, Parameter(empty((gates, size), device=device, dtype=dtype)))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(gates, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform between -1/sqrt(hidden_size) and 1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _step(self, call: Any, input: Tensor, state: tuple[Tensor, ...] | None, count: int) -> tuple[Tensor, ...]:
        name = type(self).__name__
        ndim = len(input._shape)
        if ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {ndim}D instead")
        for nr, s in enumerate(state or ()):
            if len(s._shape) not in (1, 2):
                what = "hidden" if count == 1 else f"hx[{nr}]"
                raise ValueError(f"{name}: Expected {what} to be 1D or 2D, got {s.ndim}D instead")
        batched = ndim == 2
        x = input if batched else input.unsqueeze(0)
        if state is None:
            state = (zeros((x.size(0), self.hidden_size), dtype=x.dtype, device=x.device),) * count
        elif not batched:
            state = tuple(s.unsqueeze(0) for s in state)
        given = state[0] if count == 1 else state
        out = call(x, given, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        found = (out,) if count == 1 else out
        return found if batched else tuple(s.squeeze(0) for s in found)


class RNNCell(RNNCellBase):
    """One step of `RNN`: `tanh(W_ih @ x + b_ih + W_hh @ h + b_hh)`, or `relu` of it.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        bias: whether there are biases.
        nonlinearity: "tanh" or "relu".

    Shape:
        input: (N, input_size), or (input_size).
        hx: the state: (N, hidden_size), or (hidden_size); zeros if None. The next one has the same shape.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.RNNCell(2, 3)(torch.ones(4, 2)).shape
        gradpack.Size([4, 3])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        calls = {"tanh": recurrent.rnn_tanh_cell, "relu": recurrent.rnn_relu_cell}
        if self.nonlinearity not in calls:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(calls[self.nonlinearity], input, None if hx is None else (hx,), 1)[0]


class _GatedCell(RNNCellBase):
    chunks: ClassVar[int]

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, self.chunks, device, dtype)


class LSTMCell(_GatedCell):
    """One step of `LSTM`: takes and gives the pair (h, c). See there for the formulas.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        bias: whether there are biases.

    Shape:
        input: (N, input_size), or (input_size).
        hx: the pair (h, c), each (N, hidden_size), or (hidden_size); zeros if None. The next one has the same shapes.

    Example::

        >>> import gradpack as torch
        >>> h, c = torch.nn.LSTMCell(2, 3)(torch.ones(4, 2))
        >>> h.shape
        gradpack.Size([4, 3])
    """

    chunks = 4

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        h, c = self._step(recurrent.lstm_cell, input, hx, 2)
        return h, c


class GRUCell(_GatedCell):
    """One step of `GRU`: the next state. See there for the formulas.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        bias: whether there are biases.

    Shape:
        input: (N, input_size), or (input_size).
        hx: the state: (N, hidden_size), or (hidden_size); zeros if None. The next one has the same shape.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.GRUCell(2, 3)(torch.ones(4, 2)).shape
        gradpack.Size([4, 3])
    """

    chunks = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(recurrent.gru_cell, input, None if hx is None else (hx,), 1)[0]


give_all(globals())
