"""Recurrent networks as modules, and one step of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...declare.signature.shown import showing
from .. import _layers
from .._layers.rnn_base import *
from .._layers.rnn_base import RNNBase
from .._layers.rnn_cells import *
from .._public import adopt, give_all

if TYPE_CHECKING:
    from ...core.tensor import Tensor
    from .._layers.rnn_base import _Sequences

    _Cell = tuple[Tensor, Tensor]


def _of_rnn(
    self: Any, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
    batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: Any = None, dtype: Any = None,
) -> None: ...  # fmt: skip


def _of_gru(
    self: Any, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
    dropout: float = 0.0, bidirectional: bool = False, device: Any = None, dtype: Any = None,
) -> None: ...  # fmt: skip


class RNN(RNNBase):
    """A recurrent network: `h = tanh(W_ih @ x + b_ih + W_hh @ h + b_hh)` at each place of a sequence, or `relu` of it.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        num_layers: how many layers, each on the outputs of the one before.
        nonlinearity: "tanh" or "relu".
        bias: whether there are biases.
        batch_first: whether input and output have the batch before the sequence. States do not change.
        dropout: the probability of zeroing outputs between layers, in training.
        bidirectional: whether a second network reads each sequence backwards; its outputs stand beside those of the
            first.

    Returns:
        The tuple (output, h_n).

    Shape:
        input: (L, N, input_size); (N, L, input_size) with `batch_first`; (L, input_size) without a batch; or a
            `PackedSequence`.
        hx: the state at the start: (D * num_layers, N, hidden_size); zeros if None.
        output: (L, N, D * hidden_size), of the last layer, with D = 2 if bidirectional and 1 else; the batch first as
            in the input.
        h_n: the state at the end: (D * num_layers, N, hidden_size).
        weight_ih_l0, weight_ih_l1, ...: weights for the input of each layer: (hidden_size, input_size), and
            (hidden_size, D * hidden_size) after the first. Their names end in `_reverse` for the other direction.
        weight_hh_l0, ...: weights for the state: (hidden_size, hidden_size).
        bias_ih_l0, bias_hh_l0, ...: (hidden_size).

    Raises:
        ValueError: for another nonlinearity, or sizes that are not positive.
        RuntimeError: for an input or a state whose shape does not fit.

    Example::

        >>> import gradpack as torch
        >>> out, h = torch.nn.RNN(2, 3)(torch.ones(5, 4, 2))
        >>> out.shape, h.shape
        (gradpack.Size([5, 4, 3]), gradpack.Size([1, 4, 3]))
    """

    @showing(_of_rnn)
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        nonlinearity = args[3] if len(args) > 3 else kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args[:3], *args[4:], **kwargs)
        self.nonlinearity = nonlinearity

    if TYPE_CHECKING:  # the result of `forward`, which checkers would not follow

        def __call__(self, input: _Sequences, hx: Tensor | None = None) -> tuple[_Sequences, Tensor]: ...


class LSTM(RNNBase):
    """Long short-term memory: a recurrent network with a cell `c` that gates write, forget and read.

    For each place of a sequence, `*` element by element:

        i = sigmoid(W_ii @ x + b_ii + W_hi @ h + b_hi)
        f = sigmoid(W_if @ x + b_if + W_hf @ h + b_hf)
        g = tanh(W_ig @ x + b_ig + W_hg @ h + b_hg)
        o = sigmoid(W_io @ x + b_io + W_ho @ h + b_ho)
        c = f * c + i * g
        h = o * tanh(c)

    Source: Hochreiter and Schmidhuber, 1997; projections: Sak et al., 2014.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        num_layers: how many layers, each on the outputs of the one before.
        bias: whether there are biases.
        batch_first: whether input and output have the batch before the sequence. States do not change.
        dropout: the probability of zeroing outputs between layers, in training.
        bidirectional: whether a second network reads each sequence backwards; its outputs stand beside those of the
            first.
        proj_size: the number of features that each state `h` is projected to; 0 for no projection.

    Returns:
        The tuple (output, (h_n, c_n)).

    Shape:
        input: (L, N, input_size); (N, L, input_size) with `batch_first`; (L, input_size) without a batch; or a
            `PackedSequence`.
        hx: the pair (h_0, c_0) at the start: (D * num_layers, N, H) and (D * num_layers, N, hidden_size), with H =
            proj_size if it is given and hidden_size else; zeros if None.
        output: (L, N, D * H), of the last layer, with D = 2 if bidirectional and 1 else; the batch first as in the
            input.
        h_n, c_n: both at the end, of the same shapes.
        weight_ih_l0, weight_ih_l1, ...: weights for the input of each layer: (4 * hidden_size, input_size), and (4 *
            hidden_size, D * H) after the first. Their names end in `_reverse` for the other direction.
        weight_hh_l0, ...: weights for the state: (4 * hidden_size, H).
        bias_ih_l0, bias_hh_l0, ...: (4 * hidden_size).
        weight_hr_l0, ...: the projections, if there are any: (proj_size, hidden_size).

    Raises:
        ValueError: for sizes that are not positive, or a `proj_size` that is not smaller than `hidden_size`.
        RuntimeError: for an input or a state whose shape does not fit.

    Example::

        >>> import gradpack as torch
        >>> out, (h, c) = torch.nn.LSTM(2, 3)(torch.ones(5, 4, 2))
        >>> out.shape, c.shape
        (gradpack.Size([5, 4, 3]), gradpack.Size([1, 4, 3]))
        >>> lstm = torch.nn.LSTM(2, 3, num_layers=2, bidirectional=True, batch_first=True)
        >>> out, (h, c) = lstm(torch.ones(4, 5, 2))
        >>> out.shape, h.shape
        (gradpack.Size([4, 5, 6]), gradpack.Size([4, 4, 3]))
    """

    def __init__(
        self,
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
        sizes = input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size
        super().__init__("LSTM", *sizes, device, dtype)

    if TYPE_CHECKING:

        def __call__(self, input: _Sequences, hx: _Cell | None = None) -> tuple[_Sequences, _Cell]: ...


class GRU(RNNBase):
    """Gated recurrent units: a recurrent network whose gates say how much of the state to renew.

    For each place of a sequence, `*` element by element:

        r = sigmoid(W_ir @ x + b_ir + W_hr @ h + b_hr)
        z = sigmoid(W_iz @ x + b_iz + W_hz @ h + b_hz)
        n = tanh(W_in @ x + b_in + r * (W_hn @ h + b_hn))
        h = (1 - z) * n + z * h

    Source: Cho et al., 2014.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        num_layers: how many layers, each on the outputs of the one before.
        bias: whether there are biases.
        batch_first: whether input and output have the batch before the sequence. States do not change.
        dropout: the probability of zeroing outputs between layers, in training.
        bidirectional: whether a second network reads each sequence backwards; its outputs stand beside those of the
            first.

    Returns:
        The tuple (output, h_n).

    Shape:
        input: (L, N, input_size); (N, L, input_size) with `batch_first`; (L, input_size) without a batch; or a
            `PackedSequence`.
        hx: the state at the start: (D * num_layers, N, hidden_size); zeros if None.
        output: (L, N, D * hidden_size), of the last layer, with D = 2 if bidirectional and 1 else; the batch first as
            in the input.
        h_n: the state at the end: (D * num_layers, N, hidden_size).
        weight_ih_l0, weight_ih_l1, ...: weights for the input of each layer: (3 * hidden_size, input_size), and (3 *
            hidden_size, D * hidden_size) after the first. Their names end in `_reverse` for the other direction.
        weight_hh_l0, ...: weights for the state: (3 * hidden_size, hidden_size).
        bias_ih_l0, bias_hh_l0, ...: (3 * hidden_size).

    Raises:
        ValueError: for sizes that are not positive.
        RuntimeError: for an input or a state whose shape does not fit.

    Example::

        >>> import gradpack as torch
        >>> out, h = torch.nn.GRU(2, 3, batch_first=True)(torch.ones(4, 5, 2))
        >>> out.shape, h.shape
        (gradpack.Size([4, 5, 3]), gradpack.Size([1, 4, 3]))
    """

    @showing(_of_gru)
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    if TYPE_CHECKING:  # the result of `forward`, which checkers would not follow

        def __call__(self, input: _Sequences, hx: Tensor | None = None) -> tuple[_Sequences, Tensor]: ...


adopt(globals(), _layers.__name__)
give_all(globals())
