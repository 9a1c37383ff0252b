"""Layers that pad: with zeros, a constant, or elements of the input."""

from __future__ import annotations

from ...core.tensor import Tensor
from ...ops.conv.spatial import as_tuple
from .. import functional as F
from .._public import give_all
from .module import Module
from .utils import _Sizes


class _Pad(Module):
    """A layer that pads the last `ndim` dimensions."""

    ndim: int
    mode = "constant"

    def __init__(self, padding: _Sizes) -> None:
        super().__init__()
        self.padding = as_tuple(padding, 2 * self.ndim)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    _shown = ("padding", "value")

    def __init__(self, value: float) -> None:
        Module.__init__(self)  # subclasses set the sizes
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    extra_repr = Module.extra_repr


class _SizedConstantPad(_ConstantPadNd):
    def __init__(self, padding: _Sizes, value: float) -> None:
        super().__init__(value)
        self.padding = as_tuple(padding, 2 * self.ndim)


class _ZeroPad(_SizedConstantPad):
    def __init__(self, padding: _Sizes) -> None:
        super().__init__(padding, 0.0)

    extra_repr = _Pad.extra_repr


class _ReflectionPadNd(_Pad):
    mode = "reflect"


class _ReplicationPadNd(_Pad):
    mode = "replicate"


class _CircularPadNd(_Pad):
    mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (self.ndim + 1, self.ndim + 2):
            raise ValueError(f"expected {self.ndim + 1}D or {self.ndim + 2}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")


class ConstantPad1d(_SizedConstantPad):
    """Pads the last dimension with a constant.

    Args:
        padding: how many elements to add on each side: an int, or a pair (left, right); negative numbers take elements
            away.
        value: the constant.

    Shape:
        input: (batch, channels, length), or without batch.
        output: the same, with what is added to the length.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConstantPad1d((2, 1), 0.5)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[0.5000, 0.5000, 1.0000, 2.0000, 3.0000, 0.5000]])
    """

    ndim = 1


class ConstantPad2d(_SizedConstantPad):
    """Pads the last two dimensions with a constant.

    Args:
        padding: how many elements to add on each side: an int, or (left, right, top, bottom); negative numbers take
            elements away.
        value: the constant.

    Shape:
        input: (batch, channels, height, width), or without batch.
        output: the same, with what is added to each of height, width.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConstantPad2d(1, 0.5)(torch.ones(1, 1, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5])
    """

    ndim = 2


class ConstantPad3d(_SizedConstantPad):
    """Pads the last three dimensions with a constant.

    Args:
        padding: how many elements to add on each side: an int, or (left, right, top, bottom, front, back); negative
            numbers take elements away.
        value: the constant.

    Shape:
        input: (batch, channels, depth, height, width), or without batch.
        output: the same, with what is added to each of depth, height, width.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConstantPad3d(1, 0.5)(torch.ones(1, 1, 3, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5, 5])
    """

    ndim = 3


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Pads the last dimension with zeros.

    Args:
        padding: how many elements to add on each side: an int, or a pair (left, right); negative numbers take elements
            away.

    Shape:
        input: (batch, channels, length), or without batch.
        output: the same, with what is added to the length.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ZeroPad1d((2, 1))(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[0., 0., 1., 2., 3., 0.]])
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Pads the last two dimensions with zeros.

    Args:
        padding: how many elements to add on each side: an int, or (left, right, top, bottom); negative numbers take
            elements away.

    Shape:
        input: (batch, channels, height, width), or without batch.
        output: the same, with what is added to each of height, width.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ZeroPad2d((1, 0, 0, 1))(torch.ones(1, 1, 2))
        tensor([[[0., 1., 1.],
                 [0., 0., 0.]]])
    """


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Pads the last three dimensions with zeros.

    Args:
        padding: how many elements to add on each side: an int, or (left, right, top, bottom, front, back); negative
            numbers take elements away.

    Shape:
        input: (batch, channels, depth, height, width), or without batch.
        output: the same, with what is added to each of depth, height, width.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ZeroPad3d(1)(torch.ones(1, 1, 3, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5, 5])
    """


class ReflectionPad1d(_ReflectionPadNd):
    """Pads the last dimension with a reflection, without the outermost element.

    Args:
        padding: how many elements to add on each side: an int, or a pair (left, right); negative numbers take elements
            away.

    Shape:
        input: (batch, channels, length), or without batch.
        output: the same, with what is added to the length.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReflectionPad1d((2, 1))(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[3., 2., 1., 2., 3., 2.]])
    """

    ndim = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pads the last two dimensions with a reflection, without the outermost element.

    Args:
        padding: how many elements to add on each side: an int, or (left, right, top, bottom); negative numbers take
            elements away.

    Shape:
        input: (batch, channels, height, width), or without batch.
        output: the same, with what is added to each of height, width.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReflectionPad2d(1)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[4., 3., 4., 3.],
                 [2., 1., 2., 1.],
                 [4., 3., 4., 3.],
                 [2., 1., 2., 1.]]])
    """

    ndim = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pads the last three dimensions with a reflection, without the outermost element.

    Args:
        padding: how many elements to add on each side: an int, or (left, right, top, bottom, front, back); negative
            numbers take elements away.

    Shape:
        input: (batch, channels, depth, height, width), or without batch.
        output: the same, with what is added to each of depth, height, width.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReflectionPad3d(1)(torch.ones(1, 1, 3, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5, 5])
    """

    ndim = 3


class ReplicationPad1d(_ReplicationPadNd):
    """Pads the last dimension with the outermost element.

    Args:
        padding: how many elements to add on each side: an int, or a pair (left, right); negative numbers take elements
            away.

    Shape:
        input: (batch, channels, length), or without batch.
        output: the same, with what is added to the length.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReplicationPad1d((2, 1))(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[1., 1., 1., 2., 3., 3.]])
    """

    ndim = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pads the last two dimensions with the outermost element.

    Args:
        padding: how many elements to add on each side: an int, or (left, right, top, bottom); negative numbers take
            elements away.

    Shape:
        input: (batch, channels, height, width), or without batch.
        output: the same, with what is added to each of height, width.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReplicationPad2d(1)(torch.ones(1, 1, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5])
    """

    ndim = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pads the last three dimensions with the outermost element.

    Args:
        padding: how many elements to add on each side: an int, or (left, right, top, bottom, front, back); negative
            numbers take elements away.

    Shape:
        input: (batch, channels, depth, height, width), or without batch.
        output: the same, with what is added to each of depth, height, width.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReplicationPad3d(1)(torch.ones(1, 1, 3, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5, 5])
    """

    ndim = 3


class CircularPad1d(_CircularPadNd):
    """Pads the last dimension with what lies at the other end.

    Args:
        padding: how many elements to add on each side: an int, or a pair (left, right); negative numbers take elements
            away.

    Shape:
        input: (batch, channels, length), or without batch.
        output: the same, with what is added to the length.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CircularPad1d((2, 1))(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[2., 3., 1., 2., 3., 1.]])
    """

    ndim = 1


class CircularPad2d(_CircularPadNd):
    """Pads the last two dimensions with what lies at the other end.

    Args:
        padding: how many elements to add on each side: an int, or (left, right, top, bottom); negative numbers take
            elements away.

    Shape:
        input: (batch, channels, height, width), or without batch.
        output: the same, with what is added to each of height, width.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CircularPad2d(1)(torch.ones(1, 1, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5])
    """

    ndim = 2


class CircularPad3d(_CircularPadNd):
    """Pads the last three dimensions with what lies at the other end.

    Args:
        padding: how many elements to add on each side: an int, or (left, right, top, bottom, front, back); negative
            numbers take elements away.

    Shape:
        input: (batch, channels, depth, height, width), or without batch.
        output: the same, with what is added to each of depth, height, width.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CircularPad3d(1)(torch.ones(1, 1, 3, 3, 3)).shape
        gradpack.Size([1, 1, 5, 5, 5])
    """

    ndim = 3


give_all(globals())
