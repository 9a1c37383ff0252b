"""The base class of recurrent networks."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar, TypeVar

from ...core.tensor import Tensor
from ...ops.create.fill import empty, zeros
from ...ops.nn import recurrent
from .. import init
from .._public import give_all
from ..modules.module import Module
from ..parameter import Parameter
from ..utils.rnn import PackedSequence

_Sequences = TypeVar("_Sequences", Tensor, PackedSequence)
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """Base class of recurrent networks: weights by layer and direction, checks of inputs, and batches.

    Args:
        mode: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU".
        input_size, hidden_size: features of the input and of the state.
        num_layers: how many layers, each on the outputs of the one before.
        bias: add biases to all products?
        batch_first: (N, L, H) instead of (L, N, H)?
        dropout: probability of dropping outputs between layers, in training.
        bidirectional: a second network backwards in time for each layer?
        proj_size: of an LSTM, features that the state is projected to (0 for none).

    Example::

        >>> import gradpack as torch
        >>> list(torch.nn.RNNBase("GRU", 2, 3).state_dict())
        ['weight_ih_l0', 'weight_hh_l0', 'bias_ih_l0', 'bias_hh_l0']
    """

    kind: ClassVar[str] = ""
    weight_ih_l0: Parameter
    weight_hh_l0: Parameter
    bias_ih_l0: Parameter
    bias_hh_l0: Parameter

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_settings(dropout)
        self._all_weights: list[list[str]] = []
        gates, real = _GATES[mode] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            features = input_size if layer == 0 else real * (2 if bidirectional else 1)
            for suffix in ("", "_reverse") if bidirectional else ("",):
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, features), "weight_hh": (gates, real)}
                if bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = [f"{name}_l{layer}{suffix}" for name in shapes]
                for name, shape in zip(names, shapes.values(), strict=True):
                    setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(names)
        self.reset_parameters()

    def _check_settings(self, dropout: Any) -> None:
        if not isinstance(dropout, int | float) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
            if kind is int and value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights(self) -> list[Any]:
        return [weight for weights in self.all_weights for weight in weights]

    def flatten_parameters(self) -> None:
        """Do nothing: gradpack has no flattened weights."""

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform between -1/sqrt(hidden_size) and 1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _sizes(self, batch: int) -> list[tuple[int, int, int]]:
        """Return the shapes of the hidden state, of an LSTM also that of the cell state."""
        layers = self.num_layers * (2 if self.bidirectional else 1)
        shapes = [(layers, batch, self.proj_size or self.hidden_size)]
        return [*shapes, (layers, batch, self.hidden_size)] if self.mode == "LSTM" else shapes

    def _check(self, input: Tensor, state: tuple[Tensor, ...], packed: bool, batch: int) -> None:
        weight = getattr(self, self._all_weights[0][0])
        if input.dtype is not weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        wanted = 2 if packed else 3
        if input.ndim != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.ndim}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )
        sizes = self._sizes(batch)
        if len(state) != len(sizes):
            raise RuntimeError(f"hx of an LSTM must be a tuple of two tensors, (h_0, c_0), and got {len(state)}")
        for nr, (s, shape) in enumerate(zip(state, sizes, strict=True)):
            if tuple(s._shape) != shape:
                which = f"hidden[{nr}]" if self.mode == "LSTM" else "hidden"
                raise RuntimeError(f"Expected {which} size {shape}, got {list(s.size())}")

    def _no_batch(self, state: tuple[Tensor, ...], ndim: int) -> None:
        if all(s.ndim == ndim for s in state):
            return
        how = f"For {'batched 3-D' if ndim == 3 else 'unbatched 2-D'} input,"
        if len(state) == 1:
            raise RuntimeError(f"{how} hx should also be {ndim}-D but got {state[0].ndim}-D tensor")
        raise RuntimeError(
            f"{how} hx and cx should also be {ndim}-D but got ({state[0].ndim}-D, {state[1].ndim}-D) tensors"
        )

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """The outputs of the last layer, and the last state."""
        call = getattr(recurrent, self.mode.lower())
        state = None if hx is None else tuple(hx) if isinstance(hx, tuple | list) else (hx,)
        settings = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if isinstance(input, PackedSequence):
            data, batch_sizes, order, back = input
            batch = int(batch_sizes[0])
            state = self._start(data, batch) if state is None else _permuted(state, order)
            self._check(data, state, True, batch)
            out, *last = call(data, batch_sizes, self._as_given(state), *settings)
            return PackedSequence(out, batch_sizes, order, back), self._as_given(_permuted(tuple(last), back))
        if input.ndim not in (2, 3):
            kind = "RNN" if self.mode.startswith("RNN") else self.mode
            end = " tensor" if kind == "RNN" else ""
            raise ValueError(f"{kind}: Expected input to be 2D or 3D, got {input.ndim}D{end} instead")
        place = 0 if self.batch_first else 1
        batched = input.ndim == 3
        if state is not None:
            self._no_batch(state, input.ndim)
        if not batched:
            input = input.unsqueeze(place)
            state = None if state is None else tuple(s.unsqueeze(1) for s in state)
        batch = input.size(place)
        state = self._start(input, batch) if state is None else state
        self._check(input, state, False, batch)
        out, *last = call(input, self._as_given(state), *settings, self.batch_first)
        if not batched:
            out, last = out.squeeze(place), [s.squeeze(1) for s in last]
        return out, self._as_given(tuple(last))

    def _start(self, input: Tensor, batch: int) -> tuple[Tensor, ...]:
        return tuple(zeros(shape, dtype=input.dtype, device=input.device) for shape in self._sizes(batch))

    def _as_given(self, state: tuple[Tensor, ...]) -> Any:
        return state if self.mode == "LSTM" else state[0]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        defaults = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}
        for name, default in {**defaults, "bidirectional": False}.items():
            value = getattr(self, name)
            text += "" if value == default else f", {name}={value}"
        return text


def _permuted(state: tuple[Tensor, ...], order: Tensor | None) -> tuple[Tensor, ...]:
    return state if order is None else tuple(s.index_select(1, order) for s in state)


give_all(globals())
