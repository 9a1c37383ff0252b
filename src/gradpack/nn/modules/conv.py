"""Layers that convolve: `Conv1d`, `Conv2d`, `Conv3d` and their transposed ones."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.conv.spatial import as_tuple
from .. import _layers
from .. import functional as F
from .._layers.conv_base import _ConvNd
from .._layers.conv_transpose import *
from .._layers.conv_transpose import (
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    _ConvTransposeNd,  # noqa: F401 - torch's name, by which programs import it
)
from .._public import adopt, give_all
from .lazy import _LazyLayer, _named
from .utils import _Sizes


class _Conv(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: str | _Sizes = 0,
        dilation: _Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        n = self.ndim
        pads = padding if isinstance(padding, str) else as_tuple(padding, n)
        sizes = (as_tuple(kernel_size, n), as_tuple(stride, n), pads, as_tuple(dilation, n), False, (0,) * n)
        super().__init__(in_channels, out_channels, *sizes, groups, bias, padding_mode, device, dtype)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
        convolve: Any = getattr(F, f"conv{self.ndim}d")
        if self.padding_mode == "zeros":
            return convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return convolve(input, weight, bias, self.stride, (0,) * self.ndim, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """A layer that slides kernels along one dimension of signals with channels: a convolution.

    Each output channel is the sum, over the channels of the input, of windows times a kernel that is learned, plus a
    bias. See `nn.functional.conv1d`.

    Args:
        in_channels: the number of channels of the input.
        out_channels: the number of channels of the output: how many kernels there are.
        kernel_size: the size of the windows: an int.
        stride: the step between windows: an int.
        padding: how much is added on both sides: an int; or "same" for as much as keeps the size, with a stride of 1,
            "valid" for nothing.
        dilation: the distance between elements of a window: an int.
        groups: the channels are divided into so many groups, each convolved by itself: `in_channels` for one kernel a
            channel.
        bias: whether there is a bias that is learned.
        padding_mode: what is added: "zeros", "reflect", "replicate" or "circular".

    Shape:
        input: (batch, in_channels, length), or without batch.
        output: (batch, out_channels, length): each size is `floor((size + 2 * padding - dilation * (kernel_size - 1) -
            1) / stride + 1)`.
        weight: (out_channels, in_channels / groups, *kernel_size): uniform between -1/sqrt(k) and 1/sqrt(k) at the
            start, as is the bias, with k = in_channels / groups * the number of elements of a window.
        bias: (out_channels), or None.

    Raises:
        ValueError: unless `groups` divides both numbers of channels; for another `padding` or `padding_mode`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Conv1d(3, 8, 5, padding="same")(torch.ones(2, 3, 10)).shape
        gradpack.Size([2, 8, 10])
    """

    ndim = 1


class Conv2d(_Conv):
    """A layer that slides kernels along height and width of signals with channels: a convolution.

    Each output channel is the sum, over the channels of the input, of windows times a kernel that is learned, plus a
    bias. See `nn.functional.conv2d`.

    Args:
        in_channels: the number of channels of the input.
        out_channels: the number of channels of the output: how many kernels there are.
        kernel_size: the size of the windows: an int, or a pair for height and width.
        stride: the step between windows: an int, or a pair for height and width.
        padding: how much is added on both sides: an int, or a pair for height and width; or "same" for as much as keeps
            the size, with a stride of 1, "valid" for nothing.
        dilation: the distance between elements of a window: an int, or a pair for height and width.
        groups: the channels are divided into so many groups, each convolved by itself: `in_channels` for one kernel a
            channel.
        bias: whether there is a bias that is learned.
        padding_mode: what is added: "zeros", "reflect", "replicate" or "circular".

    Shape:
        input: (batch, in_channels, height, width), or without batch.
        output: (batch, out_channels, height, width): each size is `floor((size + 2 * padding - dilation * (kernel_size
            - 1) - 1) / stride + 1)`.
        weight: (out_channels, in_channels / groups, *kernel_size): uniform between -1/sqrt(k) and 1/sqrt(k) at the
            start, as is the bias, with k = in_channels / groups * the number of elements of a window.
        bias: (out_channels), or None.

    Raises:
        ValueError: unless `groups` divides both numbers of channels; for another `padding` or `padding_mode`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)(torch.ones(2, 3, 8, 8)).shape
        gradpack.Size([2, 8, 4, 4])
    """

    ndim = 2


class Conv3d(_Conv):
    """A layer that slides kernels along depth, height and width of signals with channels: a convolution.

    Each output channel is the sum, over the channels of the input, of windows times a kernel that is learned, plus a
    bias. See `nn.functional.conv3d`.

    Args:
        in_channels: the number of channels of the input.
        out_channels: the number of channels of the output: how many kernels there are.
        kernel_size: the size of the windows: an int, or three for depth, height and width.
        stride: the step between windows: an int, or three for depth, height and width.
        padding: how much is added on both sides: an int, or three for depth, height and width; or "same" for as much as
            keeps the size, with a stride of 1, "valid" for nothing.
        dilation: the distance between elements of a window: an int, or three for depth, height and width.
        groups: the channels are divided into so many groups, each convolved by itself: `in_channels` for one kernel a
            channel.
        bias: whether there is a bias that is learned.
        padding_mode: what is added: "zeros", "reflect", "replicate" or "circular".

    Shape:
        input: (batch, in_channels, depth, height, width), or without batch.
        output: (batch, out_channels, depth, height, width): each size is `floor((size + 2 * padding - dilation *
            (kernel_size - 1) - 1) / stride + 1)`.
        weight: (out_channels, in_channels / groups, *kernel_size): uniform between -1/sqrt(k) and 1/sqrt(k) at the
            start, as is the bias, with k = in_channels / groups * the number of elements of a window.
        bias: (out_channels), or None.

    Raises:
        ValueError: unless `groups` divides both numbers of channels; for another `padding` or `padding_mode`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Conv3d(3, 8, 2)(torch.ones(3, 4, 4, 4)).shape
        gradpack.Size([8, 3, 3, 3])
    """

    ndim = 3


class _LazyConvXdMixin(_LazyLayer):
    """Base class of the lazy convolutions: `in_channels` is taken from the first input."""

    sized_by = "in_channels"

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Weight and bias for the channels of `input`.

        Raises:
            RuntimeError: for another number of dimensions.
            ValueError: for channels that cannot be put into groups.
        """
        n, out = self.ndim, self.out_channels
        if input.ndim not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {type(self).__name__}, but got input of "
                f"size: {list(input.shape)}"
            )
        channels = input.shape[input.ndim - n - 1]
        if channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        first, second = (channels, out) if self.transposed else (out, channels)
        self._materialize(channels, weight=(first, second // self.groups, *self.kernel_size), bias=(out,))


def _lazy_conv(base: Any) -> Any:
    class Lazy(_LazyConvXdMixin, base):  # type: ignore[misc]
        cls_to_become = base

        def __init__(
            self,
            out_channels: int,
            kernel_size: _Sizes,
            stride: _Sizes = 1,
            padding: str | _Sizes = 0,
            dilation: _Sizes = 1,
            groups: int = 1,
            bias: bool = True,
            padding_mode: str = "zeros",
            device: Any = None,
            dtype: Any = None,
        ) -> None:
            super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
            self.out_channels = out_channels
            self._later(bias, device, dtype)

    return _named(Lazy, base, "a convolution whose `in_channels` is that of the first input", "(2, 3)")


def _lazy_conv_transpose(base: Any) -> Any:
    class Lazy(_LazyConvXdMixin, base):  # type: ignore[misc]
        cls_to_become = base

        def __init__(
            self,
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
            super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
            self.out_channels = out_channels
            self._later(bias, device, dtype)

    return _named(Lazy, base, "a transposed convolution whose `in_channels` is that of the first input", "(2, 3)")


LazyConv1d, LazyConv2d, LazyConv3d = map(_lazy_conv, (Conv1d, Conv2d, Conv3d))


LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = map(
    _lazy_conv_transpose, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
)


adopt(globals(), _layers.__name__)
give_all(globals())
