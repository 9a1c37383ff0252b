"""Distributions of counts: binomial, negative binomial, geometric and Poisson."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..autograd.grad_mode import no_grad
from ..base.info import finfo
from ..base.size import Size
from ..core.tensor import Tensor
from ..ops.create.fill_like import zeros_like
from ..ops.pointwise.activation import logsigmoid
from ..ops.pointwise.rounding import where
from ..ops.random.sampling import binomial, poisson
from . import constraints
from ._parametrized import Odds
from .bernoulli import cross_entropy
from .distribution import ExponentialFamily
from .gamma import Gamma
from .utils import broadcast_all, enumerated, same_as, standard_uniform

__all__ = ["Binomial", "Geometric", "NegativeBinomial", "Poisson"]


class Binomial(Odds):
    """The number of successes, each of probability `probs`, in `total_count` trials.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Binomial(2, torch.tensor(0.5)).enumerate_support()
        tensor([0., 1., 2.])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"total_count": constraints.nonnegative_integer, **Odds.arg_constraints}
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Tensor | float = 1,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._take(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        n = self.total_count
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return ways + value * self.logits + n * logsigmoid(-self.logits)

    def _the_count(self, name: str) -> int:
        most = int(self.total_count.max())
        if not self.total_count.min() == most:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{name}`.")
        return most

    def entropy(self) -> Tensor:
        self._the_count("entropy")
        logs = self.log_prob(self.enumerate_support(False))
        return -(logs.exp() * logs).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = 1 + self._the_count("enumerate_support")
        return enumerated(n, self.batch_shape, expand, self._param.dtype, self._param.device)


class NegativeBinomial(Odds):
    """The number of successes, each of probability `probs`, before `total_count` failures.

    `total_count` may be any number from zero on: a Poisson number whose rate is a gamma number.

    Args:
        total_count: the number of failures.
        probs: the probability of a success.
        logits: its log-odds; instead of `probs`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.NegativeBinomial(3, probs=0.5).mean
        tensor(3.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._take(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    @property
    def _gamma(self) -> Gamma:
        """Return the gamma distribution of the Poisson rate."""
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        n = self.total_count
        ways = (n + value).lgamma() - (1.0 + value).lgamma() - n.lgamma()
        ways = where(n + value == 0.0, 0.0, ways)  # nothing before nothing
        return ways + n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)


class Geometric(Odds):
    """The number of failures before the first success, of probability `probs`: `(1 - probs)^k * probs`.

    Raises:
        ValueError: for a probability of zero.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Geometric(0.25).mean
        tensor(3.)
    """

    support = constraints.nonnegative_integer

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of "
                f"distribution {self!r} to be positive but found invalid values:\n{self.probs}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            u = standard_uniform(shape, self.probs).clamp(min=finfo(self.probs.dtype).tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        value, probs = broadcast_all(value, self.probs)
        failures = where((probs == 1) & (value == 0), 0.0, probs)  # no failures of probability 0
        return value * (-failures).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return cross_entropy(self.logits, self.probs) / self.probs


class Poisson(ExponentialFamily):
    """The number of independent events that occur at a rate: `rate^k * exp(-rate) / factorial(k)`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Poisson(2.0).log_prob(torch.tensor(0.0))
        tensor(-2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    mean: Tensor = same_as("rate")

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    variance: Tensor = same_as("rate")

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.rate.log(),)

    def _log_normalizer(self, x: Any) -> Tensor:
        return x.exp()
