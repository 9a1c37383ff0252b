"""Layers that pool."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.tensor import Tensor
from ...ops.conv.spatial import as_tuple
from .. import _layers
from .. import functional as F
from .._layers import adaptive_pooling
from .._layers.adaptive_pooling import *
from .._public import adopt, give_all
from .module import Module
from .utils import _Sizes

_LPPoolNd = adaptive_pooling._LPPoolNd
_AdaptiveMaxPoolNd = adaptive_pooling._AdaptiveMaxPoolNd
_AdaptiveAvgPoolNd = adaptive_pooling._AdaptiveAvgPoolNd


class _MaxPoolNd(Module):
    function: str  # of `nn.functional`
    _shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        windows = (self.kernel_size, self.stride, self.padding, self.dilation)
        return getattr(F, self.function)(input, *windows, ceil_mode=self.ceil_mode, return_indices=self.return_indices)


class MaxPool1d(_MaxPoolNd):
    """The maxima over windows along one dimension.

    Args:
        kernel_size: the size of the windows: an int.
        stride: the step between windows: an int; None for their size.
        padding: how much is added on both sides, below every number: an int; at most half the window.
        dilation: the distance between elements of a window: an int.
        return_indices: return also where the maxima are, in the flattened dimensions, for `MaxUnpool1d`.
        ceil_mode: take a last window that only begins inside.

    Shape:
        input: (batch, channels, length), or without batch.
        output: the same, with `floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1)` for each
            size; rounded up with `ceil_mode`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.MaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
        tensor([[3., 2.]])
    """

    function = "max_pool1d"


class MaxPool2d(_MaxPoolNd):
    """The maxima over windows along height and width.

    Args:
        kernel_size: the size of the windows: an int, or a pair for height and width.
        stride: the step between windows: an int, or a pair for height and width; None for their size.
        padding: how much is added on both sides, below every number: an int, or a pair for height and width; at most
            half the window.
        dilation: the distance between elements of a window: an int, or a pair for height and width.
        return_indices: return also where the maxima are, in the flattened dimensions, for `MaxUnpool2d`.
        ceil_mode: take a last window that only begins inside.

    Shape:
        input: (batch, channels, height, width), or without batch.
        output: the same, with `floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1)` for each
            size; rounded up with `ceil_mode`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.MaxPool2d(3, stride=2, padding=1)(torch.ones(1, 2, 8, 8)).shape
        gradpack.Size([1, 2, 4, 4])
    """

    function = "max_pool2d"


class MaxPool3d(_MaxPoolNd):
    """The maxima over windows along depth, height and width.

    Args:
        kernel_size: the size of the windows: an int, or three for depth, height and width.
        stride: the step between windows: an int, or three for depth, height and width; None for their size.
        padding: how much is added on both sides, below every number: an int, or three for depth, height and width; at
            most half the window.
        dilation: the distance between elements of a window: an int, or three for depth, height and width.
        return_indices: return also where the maxima are, in the flattened dimensions, for `MaxUnpool3d`.
        ceil_mode: take a last window that only begins inside.

    Shape:
        input: (batch, channels, depth, height, width), or without batch.
        output: the same, with `floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1)` for each
            size; rounded up with `ceil_mode`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.MaxPool3d(2)(torch.ones(1, 4, 4, 4)).shape
        gradpack.Size([1, 2, 2, 2])
    """

    function = "max_pool3d"


class _MaxUnpoolNd(Module):
    function: str  # of `nn.functional`
    _shown = ("kernel_size", "stride", "padding")
    ndim: int

    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = as_tuple(kernel_size, self.ndim)
        self.stride = as_tuple(kernel_size if stride is None else stride, self.ndim)
        self.padding = as_tuple(padding, self.ndim)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return getattr(F, self.function)(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpoolNd):
    """Zeros, with each element where `MaxPool1d` found it: its inverse, as far as there is one.

    Args:
        kernel_size: the size of the windows: an int.
        stride: the step between windows: an int; None for their size.
        padding: what `MaxPool1d` added on both sides: an int.

    Example::

        >>> import gradpack as torch
        >>> x, where = torch.nn.MaxPool1d(2, return_indices=True)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
        >>> torch.nn.MaxUnpool1d(2)(x, where)
        tensor([[0., 3., 2., 0.]])
    """

    ndim, function = 1, "max_unpool1d"


class MaxUnpool2d(_MaxUnpoolNd):
    """Zeros, with each element where `MaxPool2d` found it: its inverse, as far as there is one.

    Args:
        kernel_size: the size of the windows: an int, or a pair for height and width.
        stride: the step between windows: an int, or a pair for height and width; None for their size.
        padding: what `MaxPool2d` added on both sides: an int, or a pair for height and width.

    Example::

        >>> import gradpack as torch
        >>> x, where = torch.nn.MaxPool2d(2, return_indices=True)(torch.ones(1, 4, 4))
        >>> torch.nn.MaxUnpool2d(2)(x, where).sum()
        tensor(4.)
    """

    ndim, function = 2, "max_unpool2d"


class MaxUnpool3d(_MaxUnpoolNd):
    """Zeros, with each element where `MaxPool3d` found it: its inverse, as far as there is one.

    Args:
        kernel_size: the size of the windows: an int, or three for depth, height and width.
        stride: the step between windows: an int, or three for depth, height and width; None for their size.
        padding: what `MaxPool3d` added on both sides: an int, or three for depth, height and width.

    Example::

        >>> import gradpack as torch
        >>> x, where = torch.nn.MaxPool3d(2, return_indices=True)(torch.ones(1, 4, 4, 4))
        >>> torch.nn.MaxUnpool3d(2)(x, where).sum()
        tensor(8.)
    """

    ndim, function = 3, "max_unpool3d"


class _AvgPoolNd(Module):
    _shown = ("kernel_size", "stride", "padding")


class AvgPool1d(_AvgPoolNd):
    """The averages over windows along one dimension.

    Args:
        kernel_size: the size of the windows: an int.
        stride: the step between windows: an int; None for their size.
        padding: zeros on both sides: an int; at most half the window.
        ceil_mode: take a last window that only begins inside.
        count_include_pad: whether the zeros count.

    Shape:
        input: (batch, channels, length), or without batch.
        output: the same, with `floor((size + 2 * padding - kernel_size) / stride + 1)` for each size; rounded up with
            `ceil_mode`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.AvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
        tensor([[2., 1.]])
    """

    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = as_tuple(kernel_size, 1)
        self.stride = as_tuple(kernel_size if stride is None else stride, 1)
        self.padding = as_tuple(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPool(_AvgPoolNd):
    function: str

    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        windows = (self.kernel_size, self.stride, self.padding)
        return getattr(F, self.function)(input, *windows, self.ceil_mode, self.count_include_pad, self.divisor_override)


class AvgPool2d(_AvgPool):
    """The averages over windows along height and width.

    Args:
        kernel_size: the size of the windows: an int, or a pair for height and width.
        stride: the step between windows: an int, or a pair for height and width; None for their size.
        padding: zeros on both sides: an int, or a pair for height and width; at most half the window.
        ceil_mode: take a last window that only begins inside.
        count_include_pad: whether the zeros count.
        divisor_override: divide each sum by this instead of the size of the window.

    Shape:
        input: (batch, channels, height, width), or without batch.
        output: the same, with `floor((size + 2 * padding - kernel_size) / stride + 1)` for each size; rounded up with
            `ceil_mode`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.AvgPool2d(2)(torch.ones(1, 2, 8, 8)).shape
        gradpack.Size([1, 2, 4, 4])
    """

    function = "avg_pool2d"


class AvgPool3d(_AvgPool):
    """Averages over windows of (batch, channels, depth, height, width): see `AvgPool2d`.

    Args:
        kernel_size: the size of the windows: an int, or one for each of depth, height and width.
        stride: the step between windows; None for their size.
        padding: zeros on both sides, at most half the window.
        ceil_mode: take a last window that only begins inside.
        count_include_pad: whether the zeros count.
        divisor_override: divide each sum by this instead of the size of the window.

    Shape:
        input: (batch, channels, depth, height, width), or without batch.
        output: the same, with `(size + 2 * padding - kernel_size) // stride + 1` for each of depth, height and width.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.AvgPool3d(2)(torch.ones(1, 4, 4, 4)).shape
        gradpack.Size([1, 2, 2, 2])
    """

    function = "avg_pool3d"


adopt(globals(), _layers.__name__)
give_all(globals())
