"""Recurrent networks: `rnn_tanh`, `rnn_relu`, `lstm`, `gru`, and one step of each.

What the input adds to all gates at all times is one product; only what comes from the state is a
loop over time. Sequences of different lengths come packed: sorted by length, time after time, with
how many are still running. Sequences of one length are a special case of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...base import late
from ...core.tensor import Tensor
from ...declare.signature.shown import showing
from .gru_gates import gru_gates
from .lstm_gates import lstm_gates

FUNCTIONS = "rnn_tanh rnn_relu lstm gru rnn_tanh_cell rnn_relu_cell lstm_cell gru_cell"

State = tuple[Tensor, ...]  # (h), or (h, c) of an LSTM
Step = Callable[..., State]

# -- one step: what the input adds to the gates, the state, its weights --


def _tanh_step(x: Tensor, state: State, w: Any, b: Any, project: Any) -> State:
    return (late.tanh(x + late.linear(state[0], w, b)),)


def _relu_step(x: Tensor, state: State, w: Any, b: Any, project: Any) -> State:
    return (late.relu(x + late.linear(state[0], w, b)),)


def _lstm_step(x: Tensor, state: State, w: Any, b: Any, project: Any) -> State:
    h, c = lstm_gates(x, late.linear(state[0], w), state[1], None, b)
    return (h if project is None else late.linear(h, project)), c


def _gru_step(x: Tensor, state: State, w: Any, b: Any, project: Any) -> State:
    return (gru_gates(x, late.linear(state[0], w, b), state[0]),)


_STEPS: dict[str, Step] = {"rnn_tanh": _tanh_step, "rnn_relu": _relu_step, "lstm": _lstm_step, "gru": _gru_step}


# -- one direction of one layer --


def _run(step: Any, data: Tensor, sizes: Sequence[int], start: State, weights: Any, backwards: bool) -> Any:
    """The outputs of all times as one tensor (packed), and the last state of each sequence."""
    w_ih, w_hh, b_ih, b_hh, project = weights
    pieces = late.split(late.linear(data, w_ih, b_ih), list(sizes), 0)
    outputs: list[Tensor] = []
    finished: list[State] = []
    if backwards:  # sequences join as time goes back
        running = sizes[-1] if sizes else 0
        state = tuple(s[:running] for s in start)
        for x, size in zip(reversed(pieces), reversed(sizes), strict=True):
            if size > running:
                state = tuple(late.cat((s, first[running:size])) for s, first in zip(state, start, strict=True))
                running = size
            state = step(x, state, w_hh, b_hh, project)
            outputs.append(state[0])
        outputs.reverse()
        return late.cat(outputs), state
    state, running = start, sizes[0] if sizes else 0
    for x, size in zip(pieces, sizes, strict=True):
        if size < running:
            finished.append(tuple(s[size:] for s in state))
            state = tuple(s[:size] for s in state)
            running = size
        state = step(x, state, w_hh, b_hh, project)
        outputs.append(state[0])
    if finished:
        parts = [state, *reversed(finished)]
        state = tuple(late.cat([part[k] for part in parts]) for k in range(len(start)))
    return late.cat(outputs), state


def _network(
    kind: str, data: Tensor, sizes: Sequence[int], start: State, params: Sequence[Tensor], has_biases: bool,
    num_layers: int, chance: float, train: bool, bidirectional: bool,
) -> tuple[Tensor, State]:  # fmt: skip
    """All layers on packed data. `start`: each (layers * directions, batch, size)."""
    directions = 2 if bidirectional else 1
    each = len(params) // (num_layers * directions)
    lasts: list[State] = []
    for layer in range(num_layers):
        found = []
        for d in range(directions):
            nr = layer * directions + d
            own = list(params[nr * each : (nr + 1) * each])
            biases = own[2:4] if has_biases else [None, None]
            project = own[-1] if len(own) == (5 if has_biases else 3) else None
            weights = (own[0], own[1], *biases, project)
            out, last = _run(_STEPS[kind], data, sizes, tuple(s[nr] for s in start), weights, d == 1)
            found.append(out)
            lasts.append(last)
        data = found[0] if directions == 1 else late.cat(found, -1)
        if chance and train and layer < num_layers - 1:
            data = late.dropout(data, chance, train)
    return data, tuple(late.stack([last[k] for last in lasts]) for k in range(len(start)))


def _called(kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a network given a padded batch, or packed data with batch sizes."""
    packed = len(args) > 3 and isinstance(args[3], list | tuple)  # `params` stands one place later then
    names: tuple[str, ...] = ("params", "has_biases", "num_layers", "dropout", "train", "bidirectional")
    if packed:
        data, batch_sizes, hx, *rest = args
    else:
        data, hx, *rest = args
        names = (*names, "batch_first")
    values = {**dict(zip(names, rest, strict=False)), **kwargs}
    start = tuple(hx) if isinstance(hx, list | tuple) else (hx,)
    settings = [values[n] for n in names[:6]]
    if packed:
        out, last = _network(kind, data, [int(n) for n in batch_sizes.tolist()], start, *settings)
        return out, *last
    batch_first = values.get("batch_first", False)
    if batch_first:
        data = late.transpose(data, 0, 1)
    length, batch = data._shape[:2]
    if not length:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    out, last = _network(kind, late.reshape(data, (length * batch, data._shape[2])), [batch] * length, start, *settings)
    out = late.reshape(out, (length, batch, out._shape[-1]))
    return (late.transpose(out, 0, 1) if batch_first else out), *last


_shown = showing(lambda input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first: None)


@_shown
def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """A recurrent network `h = tanh(w_ih @ x + b_ih + w_hh @ h + b_hh)`.

    Args: `(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or for packed
        sequences `(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)`.

    Returns:
        The outputs of the last layer, and the last state of all layers.

    Example::

        >>> import gradpack as torch
        >>> w, h = torch.zeros(3, 3), torch.zeros(1, 2, 3)
        >>> out, h = torch.rnn_tanh(torch.ones(5, 2, 3), h, [w, w], False, 1, 0.0, False, False, False)
        >>> out.shape, h.shape
        (gradpack.Size([5, 2, 3]), gradpack.Size([1, 2, 3]))
    """
    return _called("rnn_tanh", args, kwargs)


@_shown
def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """A recurrent network `h = relu(w_ih @ x + b_ih + w_hh @ h + b_hh)`: see `rnn_tanh`.

    Example::

        >>> import gradpack as torch
        >>> w, h = torch.zeros(3, 3), torch.zeros(1, 2, 3)
        >>> out, h = torch.rnn_relu(torch.ones(5, 2, 3), h, [w, w], False, 1, 0.0, False, False, False)
        >>> out.shape
        gradpack.Size([5, 2, 3])
    """
    return _called("rnn_relu", args, kwargs)


@_shown
def gru(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """Gated recurrent units (Cho et al., 2014): see `rnn_tanh`.

    Example::

        >>> import gradpack as torch
        >>> w, h = torch.zeros(9, 3), torch.zeros(1, 2, 3)
        >>> out, h = torch.gru(torch.ones(5, 2, 3), h, [w, w], False, 1, 0.0, False, False, False)
        >>> out.shape
        gradpack.Size([5, 2, 3])
    """
    return _called("gru", args, kwargs)


@_shown
def lstm(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Long short-term memory (Hochreiter and Schmidhuber, 1997): see `rnn_tanh`; `hx` is the pair (h, c).

    Example::

        >>> import gradpack as torch
        >>> w, h = torch.zeros(12, 3), torch.zeros(1, 2, 3)
        >>> out, h, c = torch.lstm(torch.ones(5, 2, 3), (h, h), [w, w], False, 1, 0.0, False, False, False)
        >>> out.shape
        gradpack.Size([5, 2, 3])
    """
    return _called("lstm", args, kwargs)


def _cell(kind: str, input: Tensor, state: State, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> State:
    if input._shape[1:] != w_ih._shape[1:]:
        raise RuntimeError(f"input has inconsistent input_size: got {input._shape[1]} expected {w_ih._shape[1]}")
    for s in state:
        if s._shape != (input._shape[0], w_hh._shape[1]):
            if s._shape[0] != input._shape[0]:
                raise RuntimeError(f"Input batch size {input._shape[0]} doesn't match hidden0 batch size {s._shape[0]}")
            raise RuntimeError(f"hidden0 has inconsistent hidden_size: got {s._shape[1]}, expected {w_hh._shape[1]}")
    if kind == "lstm":
        return lstm_gates(late.linear(input, w_ih), late.linear(state[0], w_hh), state[1], b_ih, b_hh)
    return _STEPS[kind](late.linear(input, w_ih, b_ih), state, w_hh, b_hh, None)


def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """One step of `rnn_tanh`.

    Example::

        >>> import gradpack as torch
        >>> torch.rnn_tanh_cell(torch.ones(1, 1), torch.zeros(1, 1), torch.zeros(1, 1), torch.zeros(1, 1))
        tensor([[0.]])
    """
    return _cell("rnn_tanh", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """One step of `rnn_relu`.

    Example::

        >>> import gradpack as torch
        >>> torch.rnn_relu_cell(torch.ones(1, 1), torch.zeros(1, 1), torch.ones(1, 1), torch.zeros(1, 1))
        tensor([[1.]])
    """
    return _cell("rnn_relu", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """One step of `gru`.

    Example::

        >>> import gradpack as torch
        >>> torch.gru_cell(torch.ones(1, 1), torch.ones(1, 1), torch.zeros(3, 1), torch.zeros(3, 1))
        tensor([[0.5000]])
    """
    return _cell("gru", input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def lstm_cell(
    input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> tuple[Tensor, Tensor]:
    """One step of `lstm`; `hx` is the pair (h, c), and so is the result.

    Example::

        >>> import gradpack as torch
        >>> h = torch.zeros(1, 1)
        >>> torch.lstm_cell(torch.ones(1, 1), (h, h), torch.zeros(4, 1), torch.zeros(4, 1))
        (tensor([[0.]]), tensor([[0.]]))
    """
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    h, c = _cell("lstm", input, tuple(hx), w_ih, w_hh, b_ih, b_hh)
    return h, c
