"""Operations that exist in `torch.ops.aten` only, as steps of others.

Each is composed of operations, and so differentiable to any order.
"""

from __future__ import annotations

import builtins
from typing import Any

from ..base import late
from ..base.dtypes import float32, uint8
from ..base.errors import refuse
from ..core.tensor import Tensor
from .conv.max_pool import _flat_place
from .create.fill import zeros
from .index.getitem import _getitem
from .nn.batch_norm import native_batch_norm
from .nn.embedding import embedding as _rows
from .nn.loss import nll_loss
from .nn.resample import _resize
from .pointwise.compare import eq
from .pointwise.rounding import where
from .reduce.softmax import softmax
from .reduce.truth import all
from .shape.dims import wrap_dim


def slice(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    """Every `step`-th element along a dimension, from `start` up to `end`. A view."""
    before = (builtins.slice(None),) * wrap_dim(dim, input.ndim)
    return _getitem(input, (*before, builtins.slice(start, end, step)))


def _safe_softmax(input: Tensor, dim: int, dtype: Any = None) -> Any:
    """`softmax`, with zeros instead of nan where all elements are -inf."""
    nothing = all(eq(input, float("-inf")), dim, True)
    return where(nothing, 0.0, softmax(where(nothing, 0.0, input), dim, dtype))


def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Any:
    """The gradient of `native_dropout`."""
    return grad_output * (mask.type_as(grad_output) * scale)


def max_pool2d_with_indices_backward(
    grad_output: Tensor, self: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    indices: Tensor,
) -> Any:  # fmt: skip
    """The gradient of `max_pool2d`: each element of `grad_output` at the index of its maximum."""
    refuse("max_pool2d_backward", self._spec.dtype, "bluic")
    return _flat_place(grad_output, indices, self._shape, 2)


def _batch_norm_with_update(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor, running_var: Tensor,
    momentum: float, eps: float,
) -> Any:  # fmt: skip
    """`native_batch_norm` in training, and an empty tensor in place of torch's reserve for backward."""
    done = native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return (*done, input.detach().new_empty(0, dtype=uint8))


def _upsample_bilinear2d_aa(
    input: Tensor, output_size: Any, align_corners: bool, scale_factors: Any = None,
    *, scales_h: float | None = None, scales_w: float | None = None,
) -> Any:  # fmt: skip
    """Bilinear `interpolate` with `antialias`."""
    refuse("compute_index_ranges_weights", input._spec.dtype, "bilhc")
    factors = None if scales_h is None and scales_w is None else [scales_h, scales_w]
    if output_size is None:
        factors = list(scale_factors)
    return _resize(input, output_size, factors, "bilinear", align_corners, True)


def index(input: Tensor, indices: Any) -> Any:
    """The elements at index tensors, one for each of the first dimensions, or None for all along it."""
    return _getitem(input, _all_for_none(indices))


def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Any:
    """`Tensor.index_put_`, of which an index may be None: all along its dimension."""
    if not any_none(indices):
        return input.index_put_(tuple(indices), values, accumulate)
    return input.put_(*_places(input, indices, values), accumulate)


def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Any:
    """`Tensor.index_put`, of which an index may be None: all along its dimension."""
    if not any_none(indices):
        return input.index_put(tuple(indices), values, accumulate)
    return input.put(*_places(input, indices, values), accumulate)


_unsafe_index, _unsafe_index_put = index, index_put


def any_none(indices: Any) -> bool:
    """Return whether an index is None."""
    return builtins.any(i is None for i in indices)


def _all_for_none(indices: Any) -> tuple[Any, ...]:
    return tuple(builtins.slice(None) if i is None else i for i in indices)


def _places(input: Tensor, indices: Any, values: Tensor) -> tuple[Tensor, Tensor]:
    """Where the elements are that indices choose, in row-major order, and what is to be written to each."""
    places = _getitem(late.arange(input.numel(), device=input.device).view(input._shape), _all_for_none(indices))
    return places, values.expand(places._shape)


def _softmax(input: Tensor, dim: int, half_to_float: bool = False) -> Any:
    """`softmax`."""
    return softmax(input, dim, float32 if half_to_float else None)


def _log_softmax(input: Tensor, dim: int, half_to_float: bool = False) -> Any:
    """`log_softmax`."""
    return late.log_softmax(input, dim, float32 if half_to_float else None)


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    """Rows of `weight`."""
    padded = None if padding_idx < 0 else padding_idx
    return _rows(indices, weight, padded, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def nll_loss_forward(input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Any:
    """`nll_loss`, and the sum of the weights of the targets that count, zero where nothing is reduced."""
    total = zeros((), dtype=input.dtype, device=input.device)
    if reduction:
        counting = target[target != ignore_index]
        total = total + counting.numel() if weight is None else weight.detach()[counting].sum()
    return nll_loss(input, target, weight, ("none", "mean", "sum")[reduction], ignore_index), total


def _convolution(input: Tensor, weight: Tensor, bias: Tensor | None, *settings: Any) -> Any:
    """`convolution`, with settings of cuDNN behind its own."""
    return late.convolution(input, weight, bias, *settings[:6])


def glu(input: Tensor, dim: int = -1) -> Any:
    """The first half of `input` along a dimension, times the sigmoid of the second."""
    return late.glu(input, dim)


def sigmoid_backward(grad_output: Tensor, output: Tensor) -> Any:
    """The gradient of `sigmoid`, by its result."""
    return grad_output * (output.conj() * (1 - output.conj()))


def tanh_backward(grad_output: Tensor, output: Tensor) -> Any:
    """The gradient of `tanh`, by its result."""
    return grad_output * (1 - output.conj() ** 2)


def slice_backward(grad_output: Tensor, input_sizes: Any, dim: int, start: int, end: int, step: int) -> Any:
    """The gradient of `slice`."""
    return late.slice_scatter(grad_output.new_zeros(input_sizes), grad_output, dim, start, end, step)


def threshold_backward(grad_output: Tensor, self: Tensor, threshold: float) -> Any:
    """The gradient of `relu` and `threshold`."""
    return where(self > threshold, grad_output, 0)


def gelu_backward(grad_output: Tensor, self: Tensor, *, approximate: str = "none") -> Any:
    """The gradient of `gelu`."""
    return late.gelu_backward(grad_output, self, approximate)


def _unsafe_view(self: Tensor, size: Any) -> Any:
    """`Tensor.view`, of which no gradient is a view."""
    return self.view(size)


def _reshape_alias(self: Tensor, size: Any, stride: Any) -> Any:
    """`as_strided`."""
    return late.as_strided(self, size, stride)


def lift_fresh(self: Tensor) -> Tensor:
    """The tensor itself."""
    return self


lift_fresh_copy = late.clone


NAMES = frozenset(
    "slice _safe_softmax native_dropout_backward max_pool2d_with_indices_backward "
    "_batch_norm_with_update _upsample_bilinear2d_aa index index_put index_put_ _unsafe_index _unsafe_index_put "
    "_softmax _log_softmax embedding nll_loss_forward glu sigmoid_backward tanh_backward threshold_backward "
    "gelu_backward slice_backward _convolution _unsafe_view _reshape_alias lift_fresh lift_fresh_copy".split()
)
