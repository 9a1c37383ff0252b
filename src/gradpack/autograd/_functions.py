"""Functions that torch keeps beside `Function`: `torch.autograd._functions`."""

from __future__ import annotations

from math import prod
from typing import Any

from ..core.tensor import Tensor
from .function import Function


class Resize(Function):
    """`Resize.apply(tensor, sizes)`: a reshaped copy with the same number of elements.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.autograd._functions import Resize
        >>> tuple(Resize.apply(torch.ones(6), (2, 3)).shape)
        (2, 3)
    """

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, sizes: tuple[int, ...]) -> Tensor:
        """Return a copy with shape `sizes`.

        Raises:
            RuntimeError: if `sizes` has another number of elements.
        """
        ctx.sizes, ctx.numel, ctx.input_sizes = sizes, prod(sizes), tensor.size()
        if tensor.numel() != ctx.numel:
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, sizes))} ({ctx.numel} elements in total), but the given "
                f"tensor has a size of {'x'.join(map(str, tensor.size()))} ({tensor.numel()} elements)"
            )
        result: Tensor = tensor.clone().reshape(*sizes)
        return result

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradient in the shape of the input."""
        return grad_outputs[0].reshape(ctx.input_sizes), None


__all__ = ["Resize"]
