"""Normal distributions, and what is made of normal numbers: log-normal, half-normal, logistic-normal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..autograd.grad_mode import no_grad
from ..base.size import Size
from ..core.tensor import Tensor
from ..ops.random.floats import normal
from . import constraints
from ._parametrized import Half, LocationScale
from .distribution import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform, ExpTransform, StickBreakingTransform
from .utils import _standard_normal, same_as

__all__ = ["HalfNormal", "LogNormal", "LogisticNormal", "Normal"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


class Normal(LocationScale, ExponentialFamily):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    Its density is `exp(-((x - loc) / scale)^2 / 2) / (scale * sqrt(2 * pi))`.

    Example::

        >>> import gradpack as torch
        >>> d = torch.distributions.Normal(torch.zeros(2), 1.0)
        >>> d.log_prob(torch.tensor([0.0, 1.0]))
        tensor([-0.9189, -1.4189])
    """

    _mean_carrier_measure = 0

    mean: Tensor = same_as("loc")
    stddev: Tensor = same_as("scale")

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        drawn = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + drawn * self.scale

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - _LOG_SQRT_2PI

    def cdf(self, value: Any) -> Tensor:
        self._check(value)
        return 0.5 * (1 + ((value - self.loc) / (self.scale * math.sqrt(2))).erf())

    def icdf(self, value: Any) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + _LOG_SQRT_2PI + self.scale.log()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        precision = self.scale.pow(-2)
        return self.loc * precision, -0.5 * precision

    def _log_normalizer(self, x: Any, y: Any) -> Tensor:
        return -0.25 * x.pow(2) / y + 0.5 * (-math.pi / y).log()


class LogNormal(TransformedDistribution):
    """The distribution of `exp` of a normal number.

    Args:
        loc: the mean of the logarithm.
        scale: the standard deviation of the logarithm.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.LogNormal(0.0, 1.0).mean
        tensor(1.6487)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    loc: Tensor = same_as("base_dist.loc")
    scale: Tensor = same_as("base_dist.scale")

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class HalfNormal(Half):
    """The distribution of the absolute value of a normal number of mean 0 and standard deviation `scale`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.HalfNormal(1.0).mean
        tensor(0.7979)
    """

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class LogisticNormal(TransformedDistribution):
    """Points of the simplex: `StickBreakingTransform` of vectors of normal numbers, one dimension longer.

    Args:
        loc: the mean of the normal vector, along the last dimension.
        scale: its standard deviation: positive.

    Example::

        >>> import gradpack as torch
        >>> d = torch.distributions.LogisticNormal(torch.zeros(3), torch.ones(3))
        >>> d.sample().shape
        gradpack.Size([4])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    loc: Tensor = same_as("base_dist.base_dist.loc")
    scale: Tensor = same_as("base_dist.base_dist.scale")
