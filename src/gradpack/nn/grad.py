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
    for function, by, size, sizes in (
        (by_input, "input", ones, f"({ones}), torch.ones({small})"),
        (by_weight, "weight", small, f"torch.ones({ones}), ({small})"),
    ):
        function.__name__ = function.__qualname__ = f"conv{ndim}d_{by}"
        function.__doc__ = (
            f"The gradient of `conv{ndim}d` by its {by} of size `{by}_size`.\n\nExample::\n\n"
            "    >>> import gradpack as torch\n    >>> import gradpack.nn.grad\n"
            f"    >>> g = torch.nn.grad.conv{ndim}d_{by}({sizes}, torch.ones({small}))\n"
            f"    >>> g.shape\n    gradpack.Size([{size}])\n"
        )
    return by_input, by_weight


conv1d_input, conv1d_weight = _made(1)
conv2d_input, conv2d_weight = _made(2)
conv3d_input, conv3d_weight = _made(3)
