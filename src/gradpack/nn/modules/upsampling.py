"""Layers that resize images."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Resizes (batch, channels, *space) to `size`, or by `scale_factor`: see `functional.interpolate`.

    Args:
        size: the new sizes of the dimensions of space, or
        scale_factor: what to multiply them with.
        mode: "nearest"; "linear" for one, "bilinear" and "bicubic" for two, "trilinear" for three dimensions of space.
        align_corners: whether the outermost elements stay where they are: for the modes that interpolate.
        recompute_scale_factor: compute with the ratio of the sizes, which are whole numbers, rather than with
            `scale_factor`.

    Shape:
        input: (batch, channels, *space).
        output: (batch, channels, *size), or `floor(n * scale_factor)` for each dimension of space.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Upsample(scale_factor=2)(torch.tensor([[[1.0, 3.0]]]))
        tensor([[[1., 1., 3., 3.]]])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(f) for f in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        options = (self.size, self.scale_factor, self.mode, self.align_corners)
        return F.interpolate(input, *options, recompute_scale_factor=self.recompute_scale_factor)

    def extra_repr(self) -> str:
        by = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{by}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample(mode="nearest")` of images.

    Args:
        size: the new height and width: an int, or a pair; or
        scale_factor: what to multiply them with.

    Shape:
        input: (batch, channels, height, width).
        output: (batch, channels, *size).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.UpsamplingNearest2d(4)(torch.ones(1, 1, 2, 2)).shape
        gradpack.Size([1, 1, 4, 4])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample(mode="bilinear", align_corners=True)` of images.

    Args:
        size: the new height and width: an int, or a pair; or
        scale_factor: what to multiply them with.

    Shape:
        input: (batch, channels, height, width).
        output: (batch, channels, *size).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.UpsamplingBilinear2d(scale_factor=2)(torch.ones(1, 1, 2, 2)).shape
        gradpack.Size([1, 1, 4, 4])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
