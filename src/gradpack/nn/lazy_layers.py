"""Layers that take the number of their input features from the first input."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..base.dtypes import int64
from ..core.tensor import Tensor
from ..ops.create.create import tensor
from .batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, _NormBase
from .convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .layers import Linear
from .lazy import LazyModuleMixin
from .uninitialized import UninitializedBuffer, UninitializedParameter


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` whose `in_features` is the last size of the first input.

    Args:
        out_features: size of the last dimension of the result.
        bias: add one?

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.LazyLinear(2)
        >>> layer(torch.ones(4, 3)).shape
        gradpack.Size([4, 2])
        >>> layer
        Linear(in_features=3, out_features=2, bias=True)
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, if they are there."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Weight and bias for the features of `input`."""
        fresh, self.in_features = self.has_uninitialized_params(), input.shape[-1]
        if fresh:
            _materialize(self, weight=(self.out_features, self.in_features), bias=(self.out_features,))


def _materialize(module: Any, **shapes: tuple[int, ...]) -> None:
    with no_grad():
        for name, shape in shapes.items():
            value = getattr(module, name)
            if value is not None:
                value.materialize(shape)
        module.reset_parameters()


class _LazyConvXdMixin(LazyModuleMixin):
    """Base class of the lazy convolutions: `in_channels` is taken from the first input."""

    def _later(self: Any, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self: Any) -> None:
        """Draw weight and bias anew, if they are there."""
        if not self.has_uninitialized_params() and self.in_channels:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Weight and bias for the channels of `input`.

        Raises:
            RuntimeError: for another number of dimensions.
            ValueError: for channels that cannot be put into groups.
        """
        fresh, n = self.has_uninitialized_params(), self.ndim
        if input.ndim not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {type(self).__name__}, but got input of "
                f"size: {list(input.shape)}"
            )
        channels = input.shape[input.ndim - n - 1]
        if channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        self.in_channels = channels
        if fresh:
            first, second = (channels, self.out_channels) if self.transposed else (self.out_channels, channels)
            weight = (first, second // self.groups, *self.kernel_size)
            _materialize(self, weight=weight, bias=(self.out_channels,))


def _lazy_conv(base: Any) -> Any:
    class Lazy(_LazyConvXdMixin, base):  # type: ignore[misc]
        cls_to_become = base

        def __init__(
            self,
            out_channels: int,
            kernel_size: Any,
            stride: Any = 1,
            padding: Any = 0,
            dilation: Any = 1,
            groups: int = 1,
            bias: bool = True,
            padding_mode: str = "zeros",
            device: Any = None,
            dtype: Any = None,
        ) -> None:
            super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
            self._later(out_channels, bias, device, dtype)

    return _named(Lazy, base, "a convolution whose `in_channels` is that of the first input", "(2, 3)")


def _lazy_conv_transpose(base: Any) -> Any:
    class Lazy(_LazyConvXdMixin, base):  # type: ignore[misc]
        cls_to_become = base

        def __init__(
            self,
            out_channels: int,
            kernel_size: Any,
            stride: Any = 1,
            padding: Any = 0,
            output_padding: Any = 0,
            groups: int = 1,
            bias: bool = True,
            dilation: Any = 1,
            padding_mode: str = "zeros",
            device: Any = None,
            dtype: Any = None,
        ) -> None:
            super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
            self._later(out_channels, bias, device, dtype)

    return _named(Lazy, base, "a transposed convolution whose `in_channels` is that of the first input", "(2, 3)")


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """Base class of the lazy normalisation layers: `num_features` is taken from the first input."""

    def reset_parameters(self: Any) -> None:
        """Reset weight, bias and running statistics, if they are initialized."""
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()

    def initialize_parameters(self: Any, input: Tensor) -> None:
        """Weight, bias and statistics for the features of `input`."""
        fresh, features = self.has_uninitialized_params(), tuple(input.shape)[1]
        self.num_features = features
        if fresh:
            shape = (features,)
            _materialize(self, weight=shape, bias=shape, running_mean=shape, running_var=shape)


def _lazy_norm(base: Any) -> Any:
    instance = base.__name__.startswith("Instance")

    class Lazy(_LazyNormBase, base.__base__):  # type: ignore[misc]
        cls_to_become = base
        dims = base.dims

        def __init__(
            self,
            eps: float = 1e-5,
            momentum: float | None = 0.1,
            affine: bool = True,
            track_running_stats: bool = True,
            device: Any = None,
            dtype: Any = None,
            *,
            bias: bool = True,
        ) -> None:
            super().__init__(0, eps, momentum, False, False)
            self.affine, self.track_running_stats = affine, track_running_stats
            if affine:
                self.weight = UninitializedParameter(device=device, dtype=dtype)
                if bias:
                    self.bias = UninitializedParameter(device=device, dtype=dtype)
            if track_running_stats:
                self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
                self.running_var = UninitializedBuffer(device=device, dtype=dtype)
                self.num_batches_tracked = tensor(0, dtype=int64, device=device)

    kind = "an instance" if instance else "a batch"
    return _named(Lazy, base, f"{kind} normalization whose `num_features` is that of the first input", "()")


def _named(made: Any, base: Any, words: str, arguments: str) -> Any:
    made.__name__ = made.__qualname__ = f"Lazy{base.__name__}"
    shape = ", ".join(["1", "2", *["4"] * int(base.__name__[-2])])
    made.__doc__ = f"""{words[0].upper()}{words[1:]}: see `{base.__name__}` for its arguments.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.{made.__name__}{arguments}
        >>> _ = layer(torch.randn({shape}))
        >>> type(layer).__name__
        '{base.__name__}'
    """
    return made


LazyConv1d, LazyConv2d, LazyConv3d = map(_lazy_conv, (Conv1d, Conv2d, Conv3d))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = map(
    _lazy_conv_transpose, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = map(_lazy_norm, (BatchNorm1d, BatchNorm2d, BatchNorm3d))
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = map(
    _lazy_norm, (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
)
