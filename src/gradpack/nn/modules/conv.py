"""Layers that convolve: `Conv1d`, `Conv2d`, `Conv3d` and their transposed ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from ...ops.conv.spatial import as_tuple
from ...ops.create.fill import empty
from .. import functional as F
from .. import init
from .._public import give_all
from ..parameter import Parameter
from .lazy import _LazyLayer, _named
from .module import Module
from .utils import _reverse_repeat_tuple, _Sizes


class _ConvNd(Module):
    ndim: int
    transposed = False
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            strings = {"same", "valid"}
            if padding not in strings:
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {strings}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        modes = {"zeros", "reflect", "replicate", "circular"}
        if padding_mode not in modes:
            raise ValueError(f"padding_mode must be one of {modes}, but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _pads(padding, kernel_size, dilation)
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(empty((first, second // groups, *kernel_size), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_channels, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize weight and bias with random values."""
        with no_grad():
            init.kaiming_uniform_(self.weight, a=math.sqrt(5))
            if self.bias is not None:
                fan_in = math.prod(self.weight.shape[1:])
                bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        n = len(self.kernel_size)
        usual = {"padding": (0,) * n, "dilation": (1,) * n, "output_padding": (0,) * n, "groups": 1}
        text += "".join(f", {name}={getattr(self, name)}" for name in usual if getattr(self, name) != usual[name])
        if self.bias is None:
            text += ", bias=False"
        return text if self.padding_mode == "zeros" else f"{text}, padding_mode={self.padding_mode}"


def _pads(padding: Any, kernel_size: Any, dilation: Any) -> tuple[int, ...]:
    """Return the padding in the order of `F.pad`: before and after, from the last dimension on."""
    if not isinstance(padding, str):
        return _reverse_repeat_tuple(padding, 2)
    totals = [d * (k - 1) if padding == "same" else 0 for d, k in zip(dilation, kernel_size, strict=True)]
    return tuple(pad for total in reversed(totals) for pad in (total // 2, total - total // 2))


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


give_all(globals())
