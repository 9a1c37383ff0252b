"""Gamma distributions and what is made of gamma numbers: exponential, χ², inverse gamma, Student's t, Fisher's F."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..base.info import finfo
from ..base.size import Size
from ..core.tensor import Tensor
from ..ops.create.create import as_tensor
from ..ops.create.fill_like import ones_like, zeros_like
from ..ops.pointwise.rounding import where
from ..ops.random.sampling import _standard_gamma
from . import constraints
from ._parametrized import LocationScale
from .distribution import Distribution, ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform
from .utils import _standard_normal, broadcast_all, same_as

__all__ = ["Chi2", "Exponential", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT"]

_POSITIVE_PAIR: dict[str, Any] = {"concentration": constraints.positive, "rate": constraints.positive}


def _gamma_numbers(shape: Any, concentration: Tensor) -> Tensor:
    """Gamma numbers of rate 1, none of which is zero: their logarithm is taken."""
    drawn = _standard_gamma(concentration.expand(shape))
    return drawn.clamp(min=finfo(drawn.dtype).tiny)


class Gamma(ExponentialFamily):
    """The gamma distribution: density `rate^a * x^(a - 1) * exp(-rate * x) / Γ(a)`. Samples need SciPy.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Gamma(2.0, 4.0).mean
        tensor(0.5000)
    """

    arg_constraints: ClassVar[dict[str, Any]] = _POSITIVE_PAIR
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return drawn.clamp(min=finfo(drawn.dtype).tiny)

    def log_prob(self, value: Any) -> Tensor:
        value = as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        self._check(value)
        a, rate = self.concentration, self.rate
        return a.xlogy(rate) + (a - 1).xlogy(value) - rate * value - a.lgamma()

    def cdf(self, value: Any) -> Tensor:
        self._check(value)
        return self.concentration.igamma(self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Tensor:
        return (x + 1).lgamma() - (x + 1) * (-y).log()


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal numbers: the gamma distribution of shape `df / 2`, rate 1/2.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Chi2(3.0).mean
        tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"df": constraints.positive}
    _parts: ClassVar[dict[str, int]] = {"concentration": 0, "rate": 0}

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2


class Exponential(ExponentialFamily):
    """Waiting times of a process of this rate: density `rate * exp(-rate * x)`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Exponential(2.0).log_prob(torch.tensor(1.0))
        tensor(-1.3069)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Tensor:
        self._check(value)
        return -(-self.rate * value).expm1()

    def icdf(self, value: Any) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - self.rate.log()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Tensor:
        return -(-x).log()


class InverseGamma(TransformedDistribution):
    """The distribution of `1 / x` for a gamma number `x`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.InverseGamma(3.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = _POSITIVE_PAIR
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-ones_like(base.rate[(0,) * base.rate.ndim])), validate_args)

    concentration: Tensor = same_as("base_dist.concentration")
    rate: Tensor = same_as("base_dist.rate")

    @property
    def mean(self) -> Tensor:
        a = self.concentration
        return where(a > 1, self.rate / (a - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        return where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class StudentT(Distribution):
    """Student's t: a standard normal number over `sqrt(χ² / df)`, scaled and moved.

    Args:
        df: the degrees of freedom: positive.
        loc: where the density is largest.
        scale: the factor of its width: positive. `variance` is `scale² df / (df - 2)`.

    Raises:
        ValueError: for parameters that are not positive, if arguments are validated.

    Example::

        >>> import gradpack as torch
        >>> t = torch.distributions.StudentT(df=3.0)
        >>> t.variance
        tensor(3.)
        >>> t.log_prob(torch.tensor(0.0))
        tensor(-1.0009)
        >>> torch.distributions.StudentT(torch.tensor([1.0, 2.0])).mean
        tensor([nan, 0.])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"df": constraints.positive, **LocationScale.arg_constraints}
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        df: Tensor | float,
        loc: Tensor | float = 0.0,
        scale: Tensor | float = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return where(self.df > 1, self.loc, math.nan)

    mode: Tensor = same_as("loc")

    @property
    def variance(self) -> Tensor:
        df = self.df
        finite = self.scale.pow(2) * df / (df - 2)
        return where(df > 2, finite, where(df > 1, zeros_like(df) + math.inf, math.nan))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        chi2 = 2 * _gamma_numbers(shape, self.df / 2)
        return self.loc + self.scale * _standard_normal(shape, self.df.dtype, self.df.device) * (chi2 / self.df).rsqrt()

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        z = (value - self.loc) / self.scale
        return self._log_at_mode() - 0.5 * (self.df + 1.0) * (z.square() / self.df).log1p()

    def _log_at_mode(self) -> Tensor:
        half = 0.5 * self.df
        return (half + 0.5).lgamma() - half.lgamma() - 0.5 * (math.pi * self.df).log() - self.scale.log()

    def entropy(self) -> Tensor:
        half = 0.5 * self.df
        return (half + 0.5) * ((half + 0.5).digamma() - half.digamma()) - self._log_at_mode()


class FisherSnedecor(Distribution):
    """Fisher's F: the ratio of two χ² numbers, each over its degrees of freedom.

    Args:
        df1: the degrees of freedom of the numerator: positive.
        df2: those of the denominator: positive.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.FisherSnedecor(3.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Tensor | float, df2: Tensor | float, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> Tensor:
        at = (self.df1 - 2) / self.df1 * (self.df2 / (self.df2 + 2))
        return where(self.df1 > 2, at, math.nan)

    @property
    def variance(self) -> Tensor:
        a, b = self.df1, self.df2
        return where(b > 4, 2 * b.square() * (a + b - 2) / (a * (b - 2).square() * (b - 4)), math.nan)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        above = _gamma_numbers(shape, self.df1 / 2) / self.df1
        below = _gamma_numbers(shape, self.df2 / 2) / self.df2
        ratio = above / below
        return ratio.clamp(min=finfo(ratio.dtype).tiny)

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        a, b = self.df1 / 2, self.df2 / 2
        ratio = self.df1 / self.df2
        return (
            (a + b).lgamma() - a.lgamma() - b.lgamma()
            + a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p()
        )  # fmt: skip
