"""Operations that exist in `torch.ops.aten` only, as steps of others.

Each is composed of operations, and so differentiable to any order.
"""

from __future__ import annotations

import builtins
from typing import Any

from ..base.dtypes import uint8
from ..base.errors import refuse
from ..core.tensor import Tensor
from .conv.max_pool import _flat_place
from .index.getitem import _getitem
from .nn.batch_norm import native_batch_norm
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


NAMES = frozenset(
    "slice _safe_softmax native_dropout_backward max_pool2d_with_indices_backward "
    "_batch_norm_with_update _upsample_bilinear2d_aa".split()
)
