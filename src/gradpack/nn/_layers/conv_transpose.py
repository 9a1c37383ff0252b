"""Layers of transposed convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.conv.spatial import as_tuple
from .. import functional as F
from .._public import give_all
from ..modules.utils import _Sizes
from .conv_base import _ConvNd


class _ConvTransposeNd(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: str | _Sizes = 0,
        output_padding: _Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        kernel, steps, pads, spread, more = (
            as_tuple(size, self.ndim) for size in (kernel_size, stride, padding, dilation, output_padding)
        )
        sizes = (kernel, steps, pads, spread, True, more)
        super().__init__(in_channels, out_channels, *sizes, groups, bias, padding_mode, device, dtype)

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """Return the output padding of each spatial dimension with which the result has `output_size`."""
        if output_size is None:
            return as_tuple(self.output_padding, self.ndim)
        n, lead = self.ndim, 2 if input.dim() == self.ndim + 2 else 1
        wanted = tuple(output_size)
        if len(wanted) == lead + n:
            wanted = wanted[lead:]
        if len(wanted) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {lead + n} elements (got "
                f"{len(wanted)})"
            )
        padding: Any = self.padding
        least = [
            (size - 1) * s - 2 * p + d * (k - 1) + 1
            for size, s, p, d, k in zip(
                input.shape[lead:], self.stride, padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        most = [m + s - 1 for m, s in zip(least, self.stride, strict=True)]
        if any(not low <= w <= high for low, w, high in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to {most} (for an input of "
                f"{input.size()[2:]})"
            )
        return tuple(w - low for w, low in zip(wanted, least, strict=True))

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        more = self._output_padding(input, output_size)
        convolve: Any = getattr(F, f"conv_transpose{self.ndim}d")
        return convolve(input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """A layer that spreads each element over a window, along one dimension: the transposed convolution.

    It makes larger images of smaller ones, as the gradient of `Conv1d` by its input does.

    Args:
        in_channels: the number of channels of the input.
        out_channels: the number of channels of the output.
        kernel_size: the size of the windows: an int.
        stride: the step between windows in the output: an int.
        padding: how much is taken away on both sides of the output: an int.
        output_padding: how much is added on one side of the output, less than stride or dilation: `Conv1d` with a
            stride gives several sizes the same, and this says which one it was.
        groups: the channels are divided into so many groups, each convolved by itself.
        bias: whether there is a bias that is learned.
        dilation: the distance between elements of a window: an int.
        padding_mode: "zeros": there is no other.

    Shape:
        input: (batch, in_channels, length), or without batch.
        output: (batch, out_channels, length): each size is `(size - 1) * stride - 2 * padding + dilation * (kernel_size
            - 1) + output_padding + 1`.
        weight: (in_channels, out_channels / groups, *kernel_size).
        bias: (out_channels), or None.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConvTranspose1d(3, 8, 4, stride=2)(torch.ones(2, 3, 5), output_size=(13,)).shape
        gradpack.Size([2, 8, 13])
    """

    ndim = 1


class ConvTranspose2d(_ConvTransposeNd):
    """A layer that spreads each element over a window, along height and width: the transposed convolution.

    It makes larger images of smaller ones, as the gradient of `Conv2d` by its input does.

    Args:
        in_channels: the number of channels of the input.
        out_channels: the number of channels of the output.
        kernel_size: the size of the windows: an int, or a pair for height and width.
        stride: the step between windows in the output: an int, or a pair for height and width.
        padding: how much is taken away on both sides of the output: an int, or a pair for height and width.
        output_padding: how much is added on one side of the output, less than stride or dilation: `Conv2d` with a
            stride gives several sizes the same, and this says which one it was.
        groups: the channels are divided into so many groups, each convolved by itself.
        bias: whether there is a bias that is learned.
        dilation: the distance between elements of a window: an int, or a pair for height and width.
        padding_mode: "zeros": there is no other.

    Shape:
        input: (batch, in_channels, height, width), or without batch.
        output: (batch, out_channels, height, width): each size is `(size - 1) * stride - 2 * padding + dilation *
            (kernel_size - 1) + output_padding + 1`.
        weight: (in_channels, out_channels / groups, *kernel_size).
        bias: (out_channels), or None.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConvTranspose2d(3, 8, 2, stride=2)(torch.ones(2, 3, 4, 4)).shape
        gradpack.Size([2, 8, 8, 8])
    """

    ndim = 2


class ConvTranspose3d(_ConvTransposeNd):
    """A layer that spreads each element over a window, along depth, height and width: the transposed convolution.

    It makes larger images of smaller ones, as the gradient of `Conv3d` by its input does.

    Args:
        in_channels: the number of channels of the input.
        out_channels: the number of channels of the output.
        kernel_size: the size of the windows: an int, or three for depth, height and width.
        stride: the step between windows in the output: an int, or three for depth, height and width.
        padding: how much is taken away on both sides of the output: an int, or three for depth, height and width.
        output_padding: how much is added on one side of the output, less than stride or dilation: `Conv3d` with a
            stride gives several sizes the same, and this says which one it was.
        groups: the channels are divided into so many groups, each convolved by itself.
        bias: whether there is a bias that is learned.
        dilation: the distance between elements of a window: an int, or three for depth, height and width.
        padding_mode: "zeros": there is no other.

    Shape:
        input: (batch, in_channels, depth, height, width), or without batch.
        output: (batch, out_channels, depth, height, width): each size is `(size - 1) * stride - 2 * padding + dilation
            * (kernel_size - 1) + output_padding + 1`.
        weight: (in_channels, out_channels / groups, *kernel_size).
        bias: (out_channels), or None.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConvTranspose3d(3, 8, 2)(torch.ones(3, 2, 2, 2)).shape
        gradpack.Size([8, 3, 3, 3])
    """

    ndim = 3


give_all(globals())
