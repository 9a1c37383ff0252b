"""Layers that normalise over dimensions or groups of channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.fill import empty
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


def _as_shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class _Affine(Module):
    """Base class of the layers with a learned weight and bias, or the weight alone, or neither."""

    weight: Tensor | None
    bias: Tensor | None

    def _register_affine(self, shape: Any, device: Any, dtype: Any, **wanted: bool) -> None:
        for name, there in wanted.items():
            self.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)) if there else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight ones, bias zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        bias = self._parameters.get("bias")  # there is none in `RMSNorm`
        if bias is not None:
            init.zeros_(bias)


class LayerNorm(_Affine):
    """Brings the last dimensions to mean 0 and variance 1, then scales and shifts.

    `(x - mean) / sqrt(var + eps) * weight + bias`. Mean and variance are those of each element of the batch, in
    training and in evaluation.

    Args:
        normalized_shape: the sizes of the dimensions to normalise over: an int for the last one.
        eps: what is added to the variance.
        elementwise_affine: whether to multiply by a learned weight.
        bias: whether there is a bias that is learned, besides the weight.

    Shape:
        input: (..., *normalized_shape), and so is the output.
        weight: normalized_shape: ones at the start.
        bias: normalized_shape: zeros at the start.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.LayerNorm(3)
        >>> layer(torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 6.0]]))
        tensor([[-1.2247,  0.0000,  1.2247],
                [-0.7071, -0.7071,  1.4142]], grad_fn=<NativeLayerNormBackward0>)
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        affine = {"weight": elementwise_affine, "bias": elementwise_affine and bias}
        self._register_affine(self.normalized_shape, device, dtype, **affine)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_Affine):
    """`x / sqrt(mean(x ** 2) + eps) * weight`, over the last dimensions.

    Args:
        normalized_shape: the sizes of the dimensions to normalise over: an int for the last one.
        eps: what is added to the mean; None takes the precision of the input's dtype.
        elementwise_affine: whether to multiply by a learned weight, ones at the start.

    Shape:
        input: (..., *normalized_shape), and so is the output.
        weight: normalized_shape: ones at the start.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.RMSNorm(2)(torch.tensor([3.0, 3.0])).tolist()
        [1.0, 1.0]
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._register_affine(self.normalized_shape, device, dtype, weight=elementwise_affine)

    def forward(self, x: Tensor) -> Tensor:  # torch's name
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    """Brings each of `num_groups` groups of channels to mean 0 and variance 1, then scales and shifts each channel.

    The statistics are those of each element of the batch, in training and in evaluation:
    `(x - mean) / sqrt(var + eps) * weight + bias`.

    Args:
        num_groups: the number of groups.
        num_channels: the number of channels of the input, which `num_groups` divides.
        eps: what is added to the variance.
        affine: whether to scale and shift by a learned weight and bias.
        bias: whether there is a bias, besides the weight.

    Shape:
        input: (batch, num_channels, *space), and so is the output.
        weight: (num_channels): ones at the start.
        bias: (num_channels): zeros at the start.

    Raises:
        ValueError: unless the channels divide evenly.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.GroupNorm(2, 4)(torch.randn(3, 4, 5)).shape
        gradpack.Size([3, 4, 5])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._register_affine(num_channels, device, dtype, weight=affine, bias=affine and bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class _ResponseNorm(Module):
    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LocalResponseNorm(_ResponseNorm):
    """Divides by `(k + alpha * a) ** beta`, where a is the average square over `size` neighbouring channels.

    Args:
        size: the number of neighbouring channels.
        alpha: the factor of their average square.
        beta: the exponent.
        k: what is added.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.LocalResponseNorm(2)(torch.ones(1, 4, 3)).shape
        gradpack.Size([1, 4, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


class CrossMapLRN2d(_ResponseNorm):
    """Divides by (k + alpha / size * the sum of squares over the channels around) ** beta: an older form.

    Around a channel are those that are at most (size - 1) // 2 away.

    Args:
        size: the number of neighbouring channels.
        alpha: the factor of their sum of squares, divided by `size`.
        beta: the exponent.
        k: what is added.

    Raises:
        ValueError: unless the input is (batch, channels, height, width).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0)(torch.ones(1, 4, 1, 1)).flatten()
        tensor([0.3333, 0.2500, 0.2500, 0.3333])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        window = (self.size - 1) // 2 * 2 + 1
        return F.local_response_norm(input, window, self.alpha * window / self.size, self.beta, self.k)
