"""Gradients of several parameters as one tensor, which ranks reduce together."""

from __future__ import annotations

from ..core.tensor import Tensor

__all__ = ["GradBucket"]


class GradBucket:
    """The gradients of some parameters, one after the other in one tensor: the argument of communication hooks."""

    def __init__(self, index: int, buffer: Tensor, parameters: list[Tensor], is_last: bool) -> None:
        self._index, self._buffer, self._parameters, self._is_last = index, buffer, parameters, is_last

    def index(self) -> int:
        """Return the place of the bucket in the order of reduction."""
        return self._index

    def buffer(self) -> Tensor:
        """Return the gradients as a tensor of one dimension."""
        return self._buffer

    def set_buffer(self, tensor: Tensor) -> None:
        """Put another tensor into the place of the buffer."""
        self._buffer = tensor

    def gradients(self) -> list[Tensor]:
        """Return the gradient of each parameter, as a view of the buffer."""
        parts = self._buffer.split([p.numel() for p in self._parameters])
        return [part.view(p.shape) for part, p in zip(parts, self._parameters, strict=True)]

    def parameters(self) -> list[Tensor]:
        """Return the parameters."""
        return self._parameters

    def is_last(self) -> bool:
        """Return whether it is the last bucket of a backward pass."""
        return self._is_last
