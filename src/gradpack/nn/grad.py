"""`torch.nn.grad`: the gradients of convolutions, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ops.conv.products import _conv_input, _conv_weight
from ..ops.conv.spatial import as_tuple

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _made(ndim: int) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    def by_input(
        input_size: Any,
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        steps, pads, spread = (as_tuple(v, ndim) for v in (stride, padding, dilation))
        size = tuple(input_size)[-ndim:]
        result: Tensor = _conv_input(grad_output, weight, size, steps, pads, spread, groups)
        return result

    def by_weight(
        input: Tensor,
        weight_size: Any,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        steps, pads, spread = (as_tuple(v, ndim) for v in (stride, padding, dilation))
        kernel = tuple(weight_size)[-ndim:]
        result: Tensor = _conv_weight(grad_output, input, kernel, steps, pads, spread, groups)
        return result

    ones = ", ".join(["1", "1", *["3"] * ndim])
    small = ", ".join(["1", "1", *["2"] * ndim])
    by_input.__name__ = by_input.__qualname__ = f"conv{ndim}d_input"
    by_input.__doc__ = (
        f"The gradient of `conv{ndim}d` by its input of size `input_size`.\n\nExample::\n\n"
        "    >>> import gradpack as torch\n    >>> import gradpack.nn.grad\n"
        f"    >>> g = torch.nn.grad.conv{ndim}d_input(({ones}), torch.ones({small}), torch.ones({small}))\n"
        f"    >>> g.shape\n    gradpack.Size([{ones}])\n"
    )
    by_weight.__name__ = by_weight.__qualname__ = f"conv{ndim}d_weight"
    by_weight.__doc__ = (
        f"The gradient of `conv{ndim}d` by its weight of size `weight_size`.\n\nExample::\n\n"
        "    >>> import gradpack as torch\n    >>> import gradpack.nn.grad\n"
        f"    >>> g = torch.nn.grad.conv{ndim}d_weight(torch.ones({ones}), ({small}), torch.ones({small}))\n"
        f"    >>> g.shape\n    gradpack.Size([{small}])\n"
    )
    return by_input, by_weight


conv1d_input, conv1d_weight = _made(1)
conv2d_input, conv2d_weight = _made(2)
conv3d_input, conv3d_weight = _made(3)
