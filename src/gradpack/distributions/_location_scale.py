"""Distributions of `loc + scale * x`: Laplace, Cauchy and half-Cauchy, Gumbel; uniform numbers; von Mises angles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..autograd.grad_mode import no_grad
from ..base.dtypes import bool_, float64
from ..base.info import finfo
from ..base.size import Size
from ..core.tensor import Tensor
from ..ops.create.fill import zeros
from ..ops.create.fill_like import full_like, ones_like
from ..ops.pointwise.rounding import where
from ..ops.random.floats import rand
from ..ops.special.bessel import i0e, i1e
from . import constraints
from ._parametrized import Half, LocationScale
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform, AffineTransform, ExpTransform
from .utils import broadcast_all, euler_constant, same_as, standard_uniform

__all__ = ["Cauchy", "Gumbel", "HalfCauchy", "Laplace", "Uniform", "VonMises"]


class Laplace(LocationScale):
    """Two exponential tails about `loc`: density `exp(-|x - loc| / scale) / (2 * scale)`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Laplace(0.0, 1.0).log_prob(torch.tensor(1.0))
        tensor(-1.6931)
    """

    mean: Tensor = same_as("loc")

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        u = 2 * standard_uniform(self._extended_shape(sample_shape), self.loc) + (finfo(self.loc.dtype).eps - 1)
        return self.loc - self.scale * u.sign() * (-u.abs().clamp(min=finfo(u.dtype).tiny)).log1p()

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Tensor:
        self._check(value)
        z = (value - self.loc) / self.scale
        return 0.5 - 0.5 * z.sign() * (-z.abs()).expm1()

    def icdf(self, value: Any) -> Tensor:
        from_half = value - 0.5
        return self.loc - self.scale * from_half.sign() * (-2 * from_half.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Cauchy(LocationScale):
    """The ratio of two normal numbers: density `1 / (π scale (1 + z²))` with `z = (x - loc) / scale`. No mean.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Cauchy(0.0, 1.0).cdf(torch.tensor(1.0))
        tensor(0.7500)
    """

    @property
    def mean(self) -> Tensor:
        return full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        return full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.loc + self.loc.new_empty(shape).cauchy_() * self.scale

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        return -math.log(math.pi) - self.scale.log() - ((value - self.loc) / self.scale).square().log1p()

    def cdf(self, value: Any) -> Tensor:
        self._check(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Any) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class HalfCauchy(Half):
    """The distribution of the absolute value of a Cauchy number about 0.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.HalfCauchy(1.0).cdf(torch.tensor(1.0))
        tensor(0.5000)
    """

    variance: Tensor = same_as("base_dist.variance")

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return full_like(self.scale, math.inf)


class Gumbel(TransformedDistribution):
    """The distribution of largest values: `P(X <= x) = exp(-exp(-(x - loc) / scale))`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Gumbel(0.0, 1.0).mean
        tensor(0.5772)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = finfo(self.loc.dtype)
        uniform = Uniform(full_like(self.loc, info.tiny), full_like(self.loc, 1 - info.eps), validate_args=False)
        # x = loc - scale log(-log(u))
        steps = [
            ExpTransform().inv,
            AffineTransform(0, -ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(self.loc, -self.scale),
        ]
        super().__init__(uniform, steps, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    mode: Tensor = same_as("loc")

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        z = (self.loc - value) / self.scale
        return z - z.exp() - self.scale.log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)


class Uniform(Distribution):
    """All numbers from `low` up to but without `high` alike: the density is `1 / (high - low)`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Uniform(torch.tensor([0.0, 0.0]), torch.tensor([1.0, 4.0])).entropy()
        tensor([0.0000, 1.3863])
    """

    has_rsample = True

    def __init__(self, low: Tensor | float, high: Tensor | float, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return full_like(self.low, math.nan)

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        u = standard_uniform(self._extended_shape(sample_shape), self.low)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        inside = ((self.low <= value) & (value < self.high)).to(self.low.dtype)
        return inside.log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Tensor:
        self._check(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


class VonMises(Distribution):
    """Angles about `loc`: density `exp(concentration * cos(x - loc)) / (2 * pi * I0(concentration))`.

    Values and `loc` are in radians; samples lie between -π and π.

    Example::

        >>> import gradpack as torch
        >>> d = torch.distributions.VonMises(torch.tensor(0.0), torch.tensor(4.0))
        >>> d.log_prob(torch.tensor(0.0))
        tensor(-0.2628)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        k = self.concentration
        # log I0(k) = k + log(exp(-k) I0(k)), which does not overflow.
        return k * ((value - self.loc).cos() - 1) - math.log(2 * math.pi) - i0e(k).log()

    def _envelope(self) -> tuple[Tensor, Tensor]:
        """The concentration in double precision, and the parameter of the wrapped Cauchy numbers that are proposed."""
        k = self.concentration.to(float64)
        tau = 1 + (1 + 4 * k * k).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return k, where(k < 1e-5, 1 / k + k, (1 + rho * rho) / (2 * rho))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Angles, by rejection of wrapped Cauchy numbers. Source: Best and Fisher, 1979."""
        shape = self._extended_shape(sample_shape)
        device = self.loc.device
        with no_grad():
            k, r = self._envelope()
            angle = zeros(shape, dtype=float64, device=device)
            done = zeros(shape, dtype=bool_, device=device)
            while not done.all():
                u1, u2, u3 = rand((3, *shape), dtype=float64, device=device).unbind()
                z = (math.pi * u1).cos()
                f = ((1 + r * z) / (r + z)).clamp(min=-1, max=1)
                c = k * (r - f)
                accepted = (c * (2 - c) > u2) | ((c / u2).log() + 1 >= c)
                angle = where(~done & accepted, (u3 - 0.5).sign() * f.acos(), angle)
                done = done | accepted
            return ((angle + math.pi + self.loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self) -> Tensor:
        """The circular mean."""
        return self.loc

    mode: Tensor = same_as("loc")

    @property
    def variance(self) -> Tensor:
        """The circular variance: 1 less the expected cosine of the distance from the mean."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)
