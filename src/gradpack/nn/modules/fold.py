"""Layers that take windows of images apart, and put them together."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from .. import functional as F
from .module import Module
from .utils import _Sizes

__all__ = ["Fold", "Unfold"]


class Unfold(Module):
    """The windows of images as columns: see `functional.unfold`.

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

    def forward(self, input: Tensor) -> Any:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(Module):
    """Columns added back to images: see `functional.fold`.

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

    def forward(self, input: Tensor) -> Any:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
