"""Layers that convolve: `Conv1d`, `Conv2d`, `Conv3d` and their transposed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.conv.spatial import as_tuple
from .. import functional as F
from .._layers import conv_base
from .._layers.conv_base import _ConvNd
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

    def forward(self, input: Tensor) -> Any:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """A convolution of (batch, in_channels, length), or without batch.

    Args:
        kernel_size, stride, dilation: a number, or a tuple with one for each dimension.
        padding: the same; or "same", "valid".
        groups: the channels are divided into so many groups, each convolved by itself.
        padding_mode: "zeros", "reflect", "replicate" or "circular".

    `weight` is (out_channels, in_channels / groups, *kernel_size), `bias` is (out_channels,); both start uniform
    between -1/sqrt(n) and 1/sqrt(n), n = in_channels / groups * the product of `kernel_size`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Conv1d(3, 8, 5, padding="same")(torch.ones(2, 3, 10)).shape
        gradpack.Size([2, 8, 10])
    """

    ndim = 1


class Conv2d(_Conv):
    """A convolution of (batch, in_channels, height, width): see `Conv1d`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)(torch.ones(2, 3, 8, 8)).shape
        gradpack.Size([2, 8, 4, 4])
    """

    ndim = 2


class Conv3d(_Conv):
    """A convolution of (batch, in_channels, depth, height, width): see `Conv1d`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Conv3d(3, 8, 2)(torch.ones(3, 4, 4, 4)).shape
        gradpack.Size([8, 3, 3, 3])
    """

    ndim = 3


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

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Any:
        more = self._output_padding(input, output_size)
        convolve: Any = getattr(F, f"conv_transpose{self.ndim}d")
        return convolve(input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """The transposed convolution of (batch, in_channels, length), or without batch: the gradient of `Conv1d`.

    `weight` is (in_channels, out_channels / groups, *kernel_size). The call takes an `output_size`, of those that a
    stride leaves open.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConvTranspose1d(3, 8, 4, stride=2)(torch.ones(2, 3, 5), output_size=(13,)).shape
        gradpack.Size([2, 8, 13])
    """

    ndim = 1


class ConvTranspose2d(_ConvTransposeNd):
    """The transposed convolution of (batch, in_channels, height, width): see `ConvTranspose1d`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConvTranspose2d(3, 8, 2, stride=2)(torch.ones(2, 3, 4, 4)).shape
        gradpack.Size([2, 8, 8, 8])
    """

    ndim = 2


class ConvTranspose3d(_ConvTransposeNd):
    """The transposed convolution of (batch, in_channels, depth, height, width): see `ConvTranspose1d`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ConvTranspose3d(3, 8, 2)(torch.ones(3, 2, 2, 2)).shape
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


adopt(globals(), conv_base.__name__)
give_all(globals())
