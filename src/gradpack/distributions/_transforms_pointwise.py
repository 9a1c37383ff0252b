"""Transforms of each number for itself."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

from ..base.info import finfo
from ..core.tensor import Tensor
from ..ops.create.fill_like import full_like
from ..ops.pointwise.activation import softplus
from ..ops.shape.broadcasting import broadcast_shapes
from . import constraints
from ._transform import Alike, Transform
from .utils import _sum_rightmost, broadcast_all, same_as

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "TanhTransform",
]


def clipped_sigmoid(x: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))`, never quite 0 or 1."""
    info = finfo(x.dtype)
    return x.sigmoid().clamp(min=info.tiny, max=1.0 - info.eps)


class _Pointwise(Alike):
    """A bijection of numbers that increases."""

    domain = constraints.real
    bijective = True
    sign: Any = 1


class ExpTransform(_Pointwise):
    """`y = exp(x)`.

    Example::

        >>> import gradpack as torch
        >>> t = torch.distributions.ExpTransform()
        >>> x = torch.tensor([0.0, 1.0])
        >>> t(x), t.inv(t(x))
        (tensor([1.0000, 2.7183]), tensor([0.0000, 1.0000]))
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class SigmoidTransform(_Pointwise):
    """`y = 1 / (1 + exp(-x))`, kept away from 0 and 1 by the precision of the dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.SigmoidTransform()(torch.tensor([0.0, 2.0]))
        tensor([0.5000, 0.8808])
    """

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        info = finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Pointwise):
    """`y = log(1 + exp(x))`; above 20 that is `x`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.SoftplusTransform()(torch.tensor([0.0, 2.0]))
        tensor([0.6931, 2.1269])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Pointwise):
    """`y = tanh(x)`. Where the tanh rounds to 1, a cache gives back the `x` that it came from.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.TanhTransform()(torch.tensor([0.0, 2.0]))
        tensor([0.0000, 0.9640])
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))  # log(1 - tanh²)


class AbsTransform(Alike):
    """`y = |x|`. Two numbers have the same image: the inverse gives the positive one.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.AbsTransform()(torch.tensor([-2.0, 3.0]))
        tensor([2., 3.])
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class PowerTransform(Transform):
    """`y = x ** exponent`, for positive numbers.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.PowerTransform(2.0)(torch.tensor([1.0, 3.0]))
        tensor([1., 9.])
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Tensor:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and _equal(self.exponent, other.exponent)

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """`y = loc + scale * x`.

    Args:
        loc: what is added: a number or a tensor.
        scale: the factor: a number or a tensor, not 0.
        event_dim: how many of the last dimensions are one value, over which the log-determinant is summed.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.AffineTransform(loc=1.0, scale=2.0)(torch.tensor([0.0, 3.0]))
        tensor([1., 7.])
    """

    bijective = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale = loc, scale
        self._event_dim = event_dim

    event_dim = same_as("_event_dim")

    @property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    codomain = same_as("domain")

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and _equal(self.loc, other.loc) and _equal(self.scale, other.scale)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if isinstance(self.scale, Number):
            each = full_like(x, math.log(abs(self.scale)))  # type: ignore[arg-type]
        else:
            scale: Any = self.scale
            each = scale.abs().log().expand(x.shape)
        return _sum_rightmost(each, self._event_dim)

    def forward_shape(self, shape: Any) -> Any:
        return broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


def _equal(a: Any, b: Any) -> bool:
    """Whether two parameters, numbers or tensors, are the same."""
    same = a == b
    return bool(same.all()) if isinstance(same, Tensor) else bool(same)


class CumulativeDistributionTransform(Transform):
    """`y = P(X <= x)` under a distribution of numbers, which maps its values to the unit interval.

    Args:
        distribution: the distribution, which has `cdf` and, for the inverse, `icdf`.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import CumulativeDistributionTransform, Normal
        >>> CumulativeDistributionTransform(Normal(0.0, 1.0))(torch.zeros(2))
        tensor([0.5000, 0.5000])
    """

    bijective = True
    codomain = constraints.unit_interval
    sign: Any = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    domain = same_as("distribution.support")

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
