"""`linear_cross_entropy` of `torch.nn.functional`, and its options."""

from __future__ import annotations

import dataclasses
import warnings
from math import prod
from typing import Any

from ..base.callers import depth_of_user
from ..base.dtypes import bfloat16, float16, float32, float64, int64
from ..core.tensor import Tensor
from ..ops.nn.affine import linear
from ..ops.nn.loss import cross_entropy
from ..ops.nn.loss_linear import chunked_cross_entropy


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How `linear_cross_entropy` goes through a batch in pieces.

    Args:
        allow_retain_graph: accepted; backward can always be repeated.
        batch_chunk_size: rows at a time; None for the rule below.
        chunking_method: "auto", "aspect_ratio" (the logits of a piece take the memory of the input), "aspect_ratio:N"
            (the N-th part of that), or None for one piece.
        acc_policy, acc_dtype: accepted; sums are in float32 at least.

    Raises:
        ValueError: for values that mean nothing.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2).batch_chunk_size
        2
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto"):
            name, colon, factor = str(self.chunking_method).partition(":")
            if name != "aspect_ratio" or (colon and not (factor.isdigit() and int(factor) > 0)):
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, float16, bfloat16, float32, float64):
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, got "
                f"{self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically."
            )

    def rows(self, batch: int, features: int, classes: int, low: bool) -> int:
        """How many rows to take at a time."""
        method = self.chunking_method
        if method == "auto":
            method = None if self.batch_chunk_size is not None else "aspect_ratio" if low else "aspect_ratio:2"
        if method is None:
            return max(1, min(self.batch_chunk_size or batch, batch))
        wanted = -(-batch // max(1, -(-classes // max(features, 1))))
        size = max(1, min((1 << max(wanted - 1, 0).bit_length()) // int(method.partition(":")[2] or 1), batch))
        if self.batch_chunk_size not in (None, size):
            raise ValueError(
                f"batch_chunk_size (={self.batch_chunk_size}) and chunking_method ('{method}') give different chunk "
                f"sizes ({self.batch_chunk_size} vs {size}); pass only one."
            )
        return size


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """`cross_entropy(linear(input, linear_weight, linear_bias), target)`; with options without holding all logits.

    Args:
        input: shape (features) or (N, features).
        linear_weight: shape (C, features) or (C, d1, ..., features).
        target: classes or probabilities, as for `cross_entropy`.
        linear_bias: shape (C) or (C, d1, ...).
        ignore_index: a class that does not count; not with probabilities.
        options: go through the batch in pieces, and compute logits again in backward.

    Raises:
        RuntimeError: for shapes that do not fit.

    Example::

        >>> import gradpack as torch
        >>> x, w = torch.ones(1, 2), torch.zeros(4, 2)
        >>> torch.nn.functional.linear_cross_entropy(x, w, torch.tensor([3]))
        tensor(1.3863)
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if linear_weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.ndim}")
    *batch, features = input._shape
    classes, *places, last = linear_weight._shape
    if features != last:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), "
            f"got {features} and {last}, respectively"
        )
    if linear_bias is not None and linear_bias._shape != (classes, *places):
        raise RuntimeError(f"expected linear_bias shape {(classes, *places)}, got {tuple(linear_bias._shape)}")
    if places and not batch:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight._shape)} requires batched input, "
            f"(N, {features}), got unbatched input with shape {tuple(input._shape)}"
        )
    shape = (*batch, classes, *places)
    if target._shape == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    if options is not None:
        fits = reduction in ("mean", "sum", "none") and not label_smoothing and target.dtype is int64 and not places
        if fits:
            size = options.rows(prod(batch), features, classes, input.dtype.low)
            return chunked_cross_entropy(input, linear_weight, linear_bias, target, weight, reduction, ignored, size)
        warnings.warn(
            "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
            "label_smoothing == 0, target.dtype == int64, out_features == (). Got "
            f"reduction={reduction!r}, label_smoothing={label_smoothing}, target.dtype={target.dtype}, "
            f"out_features={tuple(places)}, tracing=False, "
            f"linear_bias.shape={None if linear_bias is None else tuple(linear_bias._shape)}.",
            stacklevel=depth_of_user(),
        )
    if places:
        linear_weight = linear_weight.reshape(-1, features)
        linear_bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = linear(input, linear_weight, linear_bias).reshape(shape)
    return cross_entropy(logits, target, weight, reduction, ignored, label_smoothing)
