"""`PixelShuffle` and its inverse."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Images `upscale_factor` times as high and wide, of that many squared fewer channels.

    Args:
        upscale_factor: how many times as high and wide the result is.

    Shape:
        input: (..., channels * upscale_factor ** 2, height, width).
        output: (..., channels, height * upscale_factor, width * upscale_factor).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.PixelShuffle(2)(torch.ones(1, 8, 2, 3)).shape
        gradpack.Size([1, 2, 4, 6])
    """

    _shown = ("upscale_factor",)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    """The inverse of `PixelShuffle`: images of fewer pixels and more channels.

    Args:
        downscale_factor: by how much to divide height and width.

    Shape:
        input: (..., channels, height * downscale_factor, width * downscale_factor).
        output: (..., channels * downscale_factor ** 2, height, width).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.PixelUnshuffle(2)(torch.ones(1, 2, 4, 6)).shape
        gradpack.Size([1, 8, 2, 3])
    """

    _shown = ("downscale_factor",)

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)
