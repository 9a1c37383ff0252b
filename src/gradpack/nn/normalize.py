"""Layers that normalise: `LayerNorm`, `RMSNorm`; and that drop out: `Dropout`, `AlphaDropout`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.fill import empty
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


def _as_shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class _Affine(Module):
    """Base class of the layers with a learned weight and bias, or the weight alone, or neither."""

    weight: Tensor | None
    bias: Tensor | None

    def _register_affine(self, shape: Any, weight: bool, bias: bool, device: Any, dtype: Any) -> None:
        for name, wanted in (("weight", weight), ("bias", weight and bias)):
            self.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight ones, bias zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Affine):
    """(x - mean) / sqrt(var + eps) * weight + bias, over the last dimensions.

    Args:
        normalized_shape: the sizes of the dimensions to normalise over.
        eps: keeps the division away from zero.
        elementwise_affine: multiply with a learned `weight`, which starts as ones?
        bias: add a learned `bias`, which starts as zeros? (only with `elementwise_affine`)

    Example::

        >>> import gradpack as torch
        >>> torch.nn.LayerNorm(3)(torch.tensor([[1.0, 1.0, 1.0]])).tolist()
        [[0.0, 0.0, 0.0]]
    """

    weight: Tensor | None
    bias: Tensor | None

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
        self._register_affine(self.normalized_shape, elementwise_affine, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """x / sqrt(mean(x squared) + eps) * weight, over the last dimensions.

    Args:
        normalized_shape: the sizes of the dimensions to normalise over.
        eps: keeps the division away from zero; None takes that of the input's dtype.
        elementwise_affine: multiply with a learned `weight`, which starts as ones?

    Example::

        >>> import gradpack as torch
        >>> torch.nn.RMSNorm(2)(torch.tensor([3.0, 3.0])).tolist()
        [1.0, 1.0]
    """

    weight: Tensor | None

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
        value = Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight ones."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class _DropoutNd(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training, sets each element to zero with probability `p`, and divides the others by 1 - p.

    Raises:
        ValueError: unless p is between 0 and 1.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.Dropout(0.5)
        >>> layer.eval()(torch.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """In training, sets whole channels of (N, C, L) or (C, L) to zero with probability `p`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Dropout1d(0.5).eval()(torch.ones(1, 2)).tolist()
        [[1.0, 1.0]]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """In training, sets whole channels of (N, C, H, W) to zero with probability `p`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Dropout2d(0.5).eval()(torch.ones(1, 2, 1, 1)).shape
        gradpack.Size([1, 2, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """In training, sets whole channels of (N, C, D, H, W) to zero with probability `p`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Dropout3d(0.5).eval()(torch.ones(1, 2, 1, 1, 1)).shape
        gradpack.Size([1, 2, 1, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.FeatureAlphaDropout(0.5).eval()(torch.ones(1, 2)).tolist()
        [[1.0, 1.0]]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps the mean and variance of `SELU` activations.

    Source: Klambauer et al., 2017.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.AlphaDropout(0.5).eval()(torch.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class CrossMapLRN2d(Module):
    """Divides by (k + alpha / size * the sum of squares over the channels around) ** beta: an older form.

    Around a channel are those that are at most (size - 1) // 2 away.

    Raises:
        ValueError: unless the input is (batch, channels, height, width).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0)(torch.ones(1, 4, 1, 1)).flatten()
        tensor([0.3333, 0.2500, 0.2500, 0.3333])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        window = (self.size - 1) // 2 * 2 + 1
        return F.local_response_norm(input, window, self.alpha * window / self.size, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
