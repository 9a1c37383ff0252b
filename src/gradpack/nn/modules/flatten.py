"""Layers that make one dimension of several, or several of one."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.tensor import Tensor
from .module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Makes one dimension of those from `start_dim` to `end_dim`; by default, of all but the batch.

    Args:
        start_dim: the first of them.
        end_dim: the last of them.

    Shape:
        input: (*, sizes from start_dim to end_dim, *).
        output: (*, their product, *).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Flatten()(torch.ones(2, 3, 4)).shape
        gradpack.Size([2, 12])
    """

    _shown = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """Makes several dimensions, of the sizes `unflattened_size`, of one.

    Args:
        dim: the dimension.
        unflattened_size: the sizes of those that it becomes, of which one may be -1: it follows from the others.

    Raises:
        TypeError: for sizes that are no tuple or list of ints, or a `dim` that is no int.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Unflatten(1, (3, 4))(torch.ones(2, 12)).shape
        gradpack.Size([2, 3, 4])
    """

    _shown = ("dim", "unflattened_size")

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if not isinstance(unflattened_size, tuple | list):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )
        for i, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {i}"
                )
        if not isinstance(dim, int):
            raise TypeError(
                f"Unflatten: dim must be an int, not {type(dim).__name__} (tensors have no named dimensions)"
            )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)
