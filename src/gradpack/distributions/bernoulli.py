"""Distributions of one bit and its relaxations: Bernoulli, continuous Bernoulli, relaxed Bernoulli."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..autograd.grad_mode import no_grad
from ..base.size import Size
from ..core.tensor import Tensor
from ..ops.nn.loss_pointwise import binary_cross_entropy_with_logits
from ..ops.pointwise.activation import softplus
from ..ops.pointwise.rounding import where
from ..ops.random.floats import bernoulli
from . import constraints
from ._parametrized import Odds
from .distribution import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs, enumerated, probs_to_logits, same_as, standard_uniform

__all__ = ["Bernoulli", "ContinuousBernoulli", "RelaxedBernoulli"]


def cross_entropy(logits: Tensor, value: Any) -> Tensor:
    """The negative logarithm of the probability of `value` under log-odds."""
    logits, value = broadcast_all(logits, value)
    return binary_cross_entropy_with_logits(logits, value, reduction=0)


class Bernoulli(Odds, ExponentialFamily):
    """1 with a probability `probs`, else 0.

    Args:
        probs: the probability, or
        logits: `log(probs / (1 - probs))`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Bernoulli(torch.tensor([0.25])).log_prob(torch.tensor([1.0]))
        tensor([-1.3863])
    """

    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    mean: Tensor = same_as("probs")

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mode(self) -> Tensor:
        p = self.probs
        return where(p == 0.5, math.nan, (p > 0.5).to(p.dtype))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        return -cross_entropy(self.logits, value)

    def entropy(self) -> Tensor:
        return cross_entropy(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return enumerated(2, self.batch_shape, expand, self._param.dtype, self._param.device)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Tensor:
        return softplus(x)


class ContinuousBernoulli(Odds, ExponentialFamily):
    """Numbers in [0, 1] with density proportional to `probs^x * (1 - probs)^(1 - x)`.

    With the log-odds `l` that is `exp(l x)` over `A = (exp(l) - 1) / l`: all else follows from log A and its
    derivatives, by their series near `l = 0`. Source: Loaiza-Ganem and Cunningham, 2019.

    Args:
        lims: between these probabilities the series are used.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.ContinuousBernoulli(0.2).mean
        tensor(0.3880)
    """

    support = constraints.unit_interval
    has_rsample = True
    _kept = ("_given", "_lims")
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._lims = lims
        self._take(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    def _split(self, probs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the mask where series are used, the logits there (0 elsewhere), and the logits elsewhere (1 there).

        As elsewhere in this package, probabilities keep away from 0 and 1 by the precision of their dtype.
        """
        near = (probs > self._lims[0]) & (probs < self._lims[1])
        logits = probs_to_logits(probs, is_binary=True)
        return near, where(near, logits, 0.0), where(near, 1.0, logits)

    @property
    def mean(self) -> Tensor:
        near, small, l = self._split(self.probs)
        return where(near, 0.5 + small / 12 - small**3 / 720, -1 / (-l).expm1() - 1 / l)

    @property
    def variance(self) -> Tensor:
        near, small, l = self._split(self.probs)
        return where(near, 1 / 12 - small**2 / 240, l.pow(-2) - (2 * (l / 2).sinh()).pow(-2))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.icdf(standard_uniform(self._extended_shape(sample_shape), self._param))

    def _log_constant(self, probs: Tensor) -> Tensor:
        """Return the log normaliser of the continuous Bernoulli: `log(l / tanh(l / 2))` for logits `l`."""
        near, small, l = self._split(probs)
        series = math.log(2) + (small**2 / 12 - small**4 / 720).log1p()
        return where(near, series, (l / (l / 2).tanh()).log())

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        return self._log_constant(self.probs) - cross_entropy(self.logits, value)

    def cdf(self, value: Any) -> Tensor:
        self._check(value)
        near, small, l = self._split(self.probs)
        series = value - 0.5 * small * value * (1 - value) * (1 + small * (2 * value - 1) / 6)
        inside = where(near, series, (l * value).expm1() / l.expm1())
        return where(value <= 0, 0.0, where(value >= 1, 1.0, inside))

    def icdf(self, value: Any) -> Tensor:
        near, small, l = self._split(self.probs)
        series = value + 0.5 * small * value * (1 - value) * (1 + small * (1 - 2 * value) / 3)
        return where(near, series, (value * l.expm1()).log1p() / l)

    def entropy(self) -> Tensor:
        return cross_entropy(self.logits, self.mean) - self._log_constant(self.probs)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Tensor:
        return softplus(x) - self._log_constant(x.sigmoid())


class LogitRelaxedBernoulli(Odds):
    """The log-odds of a relaxed bit: a logistic number about `logits`, over the temperature.

    Source: Maddison, Mnih and Teh, 2017; Jang, Gu and Poole, 2017.
    """

    support = constraints.real
    _kept = ("_given", "temperature")

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._take(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        u = clamp_probs(standard_uniform(self._extended_shape(sample_shape), self._param))
        return (u.log() - (-u).log1p() + self.logits) / self.temperature

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        z = self.logits - value * self.temperature
        return self.temperature.log() + z - 2 * softplus(z)


class RelaxedBernoulli(TransformedDistribution):
    """A bit relaxed to a number in (0, 1), through which gradients go; the smaller the temperature, the more a bit.

    Example::

        >>> import gradpack as torch
        >>> d = torch.distributions.RelaxedBernoulli(torch.tensor(2.0), torch.tensor([0.5]))
        >>> d.log_prob(torch.tensor([0.5]))
        tensor([0.6931])
    """

    arg_constraints: ClassVar[dict[str, Any]] = Odds.arg_constraints
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    temperature: Tensor = same_as("base_dist.temperature")
    logits: Tensor = same_as("base_dist.logits")
    probs: Tensor = same_as("base_dist.probs")
