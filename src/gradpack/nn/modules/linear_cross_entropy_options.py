"""`LinearCrossEntropyOptions`: how to go through a batch in pieces."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...base.dtypes import bfloat16, float16, float32, float64

__all__ = ["LinearCrossEntropyOptions"]


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
