"""Layers that pad: with zeros, a constant, or elements of the input."""

from __future__ import annotations

from typing import Any

from ..ops.spatial import as_tuple
from ..tensor.tensor import Tensor
from . import functional as F
from .module import Module


class _Pad(Module):
    """A layer that pads the last `ndim` dimensions."""

    ndim: int
    mode = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = as_tuple(padding, 2 * self.ndim)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPad(_Pad):
    mode = "reflect"


class _ReplicationPad(_Pad):
    mode = "replicate"


class _CircularPad(_Pad):
    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (self.ndim + 1, self.ndim + 2):
            raise ValueError(f"expected {self.ndim + 1}D or {self.ndim + 2}D input (got {input.dim()}D input)")
        return F.pad(input, self.padding, "circular")


class ConstantPad1d(_ConstantPad):
    """Pads the last dimension with a constant.

    Args:
        padding: a number for all sides, or pairs (before, after) from the last dimension on; negative ones crop.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConstantPad1d(1, 0.5)(torch.ones(1, 1, 3)).shape
        gradpack.Size([1, 1, 5])
    """

    ndim = 1


class ConstantPad2d(_ConstantPad):
    """Pads the last two dimensions with a constant.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConstantPad2d(1, 0.5)(torch.ones(1, 1, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5])
    """

    ndim = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three dimensions with a constant.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConstantPad3d(1, 0.5)(torch.ones(1, 1, 3, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5, 5])
    """

    ndim = 3


class ZeroPad1d(_ZeroPad):
    """Pads the last dimension with zeros.

    Args:
        padding: a number for all sides, or pairs (before, after) from the last dimension on; negative ones crop.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ZeroPad1d(1)(torch.ones(1, 1, 3)).shape
        gradpack.Size([1, 1, 5])
    """

    ndim = 1


class ZeroPad2d(_ZeroPad):
    """Pads the last two dimensions with zeros.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ZeroPad2d(1)(torch.ones(1, 1, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5])
    """

    ndim = 2


class ZeroPad3d(_ZeroPad):
    """Pads the last three dimensions with zeros.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ZeroPad3d(1)(torch.ones(1, 1, 3, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5, 5])
    """

    ndim = 3


class ReflectionPad1d(_ReflectionPad):
    """Pads the last dimension with a reflection, without the outermost element.

    Args:
        padding: a number for all sides, or pairs (before, after) from the last dimension on; negative ones crop.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReflectionPad1d(1)(torch.ones(1, 1, 3)).shape
        gradpack.Size([1, 1, 5])
    """

    ndim = 1


class ReflectionPad2d(_ReflectionPad):
    """Pads the last two dimensions with a reflection, without the outermost element.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReflectionPad2d(1)(torch.ones(1, 1, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5])
    """

    ndim = 2


class ReflectionPad3d(_ReflectionPad):
    """Pads the last three dimensions with a reflection, without the outermost element.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReflectionPad3d(1)(torch.ones(1, 1, 3, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5, 5])
    """

    ndim = 3


class ReplicationPad1d(_ReplicationPad):
    """Pads the last dimension with the outermost element.

    Args:
        padding: a number for all sides, or pairs (before, after) from the last dimension on; negative ones crop.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReplicationPad1d(1)(torch.ones(1, 1, 3)).shape
        gradpack.Size([1, 1, 5])
    """

    ndim = 1


class ReplicationPad2d(_ReplicationPad):
    """Pads the last two dimensions with the outermost element.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReplicationPad2d(1)(torch.ones(1, 1, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5])
    """

    ndim = 2


class ReplicationPad3d(_ReplicationPad):
    """Pads the last three dimensions with the outermost element.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReplicationPad3d(1)(torch.ones(1, 1, 3, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5, 5])
    """

    ndim = 3


class CircularPad1d(_CircularPad):
    """Pads the last dimension with what lies at the other end.

    Args:
        padding: a number for all sides, or pairs (before, after) from the last dimension on; negative ones crop.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CircularPad1d(1)(torch.ones(1, 1, 3)).shape
        gradpack.Size([1, 1, 5])
    """

    ndim = 1


class CircularPad2d(_CircularPad):
    """Pads the last two dimensions with what lies at the other end.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CircularPad2d(1)(torch.ones(1, 1, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5])
    """

    ndim = 2


class CircularPad3d(_CircularPad):
    """Pads the last three dimensions with what lies at the other end.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CircularPad3d(1)(torch.ones(1, 1, 3, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5, 5])
    """

    ndim = 3
