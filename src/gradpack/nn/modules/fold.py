"""Layers that take windows of images apart, and put them together."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from .module import Module
from .utils import _Sizes

__all__ = ["Fold", "Unfold"]


class Unfold(Module):
    """The windows of images as columns: see `functional.unfold`.

    Args:
        kernel_size: the size of the windows: an int, or a pair for height and width.
        dilation: the distance between elements of a window.
        padding: zeros on both sides.
        stride: the step between windows.

    Shape:
        input: (batch, channels, height, width), or without batch.
        output: (batch, channels * elements of a window, windows).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Unfold(2)(torch.ones(1, 3, 4, 4)).shape
        gradpack.Size([1, 12, 9])
    """

    _shown = ("kernel_size", "dilation", "padding", "stride")

    def __init__(self, kernel_size: _Sizes, dilation: _Sizes = 1, padding: _Sizes = 0, stride: _Sizes = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(Module):
    """Columns added back to images: the adjoint of `Unfold`. See `functional.fold`.

    Args:
        output_size: height and width of the images: an int, or a pair.
        kernel_size: the size of the windows: an int, or a pair for height and width.
        dilation: the distance between elements of a window.
        padding: zeros on both sides.
        stride: the step between windows.

    Shape:
        input: (batch, channels * elements of a window, windows), or without batch.
        output: (batch, channels, height, width).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Fold(4, 2)(torch.ones(1, 12, 9)).shape
        gradpack.Size([1, 3, 4, 4])
    """

    _shown = ("output_size", "kernel_size", "dilation", "padding", "stride")

    def __init__(
        self, output_size: _Sizes, kernel_size: _Sizes, dilation: _Sizes = 1, padding: _Sizes = 0, stride: _Sizes = 1
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
