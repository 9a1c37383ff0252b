"""Distributions with explicit quantiles over a half-line: Pareto, generalised Pareto and Weibull."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..base.size import Size
from ..core.tensor import Tensor
from ..ops.create.fill_like import full_like, ones_like
from ..ops.pointwise.rounding import where
from . import constraints
from ._parametrized import LocationScale
from .distribution import Distribution
from .gamma import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform, PowerTransform
from .utils import broadcast_all, euler_constant, same_as, standard_uniform

__all__ = ["GeneralizedPareto", "Pareto", "Weibull"]


class Pareto(TransformedDistribution):
    """A power law: `P(X > x) = (scale / x)^alpha`, for `x` from `scale` on.

    Args:
        scale: the smallest value: positive.
        alpha: the exponent: the probability of values above `x` is `(scale / x)^alpha`; positive.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Pareto(torch.tensor([1.0]), torch.tensor([3.0])).mean
        tensor([1.5000])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Tensor | float, alpha: Tensor | float, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return where(self.alpha > 1, self.alpha * self.scale / (self.alpha - 1), math.inf)

    mode: Tensor = same_as("scale")

    @property
    def variance(self) -> Tensor:
        a = self.alpha
        return where(a > 2, self.scale.square() * a / ((a - 1).square() * (a - 2)), math.inf)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class GeneralizedPareto(Distribution):
    """Generalized Pareto: `P(X > x) = (1 + c z)^(-1/c)` with `z = (x - loc) / scale`; `exp(-z)` for `c = 0`.

    Args:
        loc: the smallest value.
        scale: how far values spread above `loc`: positive.
        concentration: `c`. Below zero the values end at `loc - scale / c`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.GeneralizedPareto(0.0, 1.0, 0.5).cdf(torch.tensor(2.0))
        tensor(0.7500)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {**LocationScale.arg_constraints, "concentration": constraints.real}
    has_rsample = True

    def __init__(
        self,
        loc: Tensor | float,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def _shape(self) -> tuple[Tensor, Tensor]:
        """Return the mask of concentrations close to zero, and the concentrations with ones there, to divide by."""
        flat = self.concentration.isclose(full_like(self.concentration, 0.0))
        return flat, where(flat, ones_like(self.concentration), self.concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        flat, c = self._shape()
        end = where((c < 0) & ~flat, self.loc - self.scale / c, math.inf)
        return constraints.interval(self.loc, end)

    @property
    def mean(self) -> Tensor:
        c = self.concentration
        return where(c < 1, self.loc + self.scale / (1 - c), math.nan)

    mode: Tensor = same_as("loc")

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        return where(c < 0.5, self.scale.pow(2) / ((1 - c).pow(2) * (1 - 2 * c)), math.nan)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.icdf(standard_uniform(self._extended_shape(sample_shape), self.loc))

    def log_survival_function(self, value: Any) -> Tensor:
        """The logarithm of the probability of values above this one."""
        self._check(value)
        flat, c = self._shape()
        z = (value - self.loc) / self.scale
        return where(flat, -z + self.concentration * z * z / 2, -(c * z).clamp(min=-1).log1p() / c)

    def log_cdf(self, value: Any) -> Tensor:
        """The logarithm of the probability of values up to this one."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Any) -> Tensor:
        return self.log_cdf(value).exp()

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        flat, c = self._shape()
        z = (value - self.loc) / self.scale
        series = -z + self.concentration * z * (z / 2 - 1)  # to the first power, for the gradient
        return where(flat, series, -(1 + 1 / c) * (c * z).log1p()) - self.scale.log()

    def icdf(self, value: Any) -> Tensor:
        flat, c = self._shape()
        from_end = (-value).log1p()
        series = -from_end + self.concentration * from_end * from_end / 2
        return self.loc + self.scale * where(flat, series, (-c * from_end).expm1() / c)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1


class Weibull(TransformedDistribution):
    """The Weibull distribution: `P(X > x) = exp(-(x / scale)^concentration)`.

    Args:
        scale: the value that is exceeded with probability `exp(-1)`: positive.
        concentration: the exponent: positive; 1 gives the exponential distribution.

    Raises:
        ValueError: for parameters that are not positive, if arguments are validated.

    Example::

        >>> import gradpack as torch
        >>> weibull = torch.distributions.Weibull(scale=2.0, concentration=1.0)
        >>> weibull.mean
        tensor(2.)
        >>> 1 - weibull.cdf(torch.tensor(2.0))
        tensor(0.3679)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _parts: ClassVar[dict[str, int]] = {"concentration_reciprocal": 0}

    def __init__(self, scale: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(ones_like(self.scale), validate_args=validate_args)
        steps = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, steps, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Tensor:
        k = self.concentration
        return self.scale * ((k - 1) / k).clamp(min=0).pow(self.concentration_reciprocal)

    @property
    def variance(self) -> Tensor:
        k = self.concentration_reciprocal
        return self.scale.pow(2) * ((1 + 2 * k).lgamma().exp() - (2 * (1 + k).lgamma()).exp())

    def entropy(self) -> Tensor:
        k = self.concentration_reciprocal
        return euler_constant * (1 - k) + (self.scale * k).log() + 1
