"""Base classes by parameters: of `probs` or `logits`, one of which is given; of `loc` and `scale`; of `scale`."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..base.size import Size
from ..core.tensor import Tensor
from ..ops.create.create import as_tensor
from ..ops.create.fill_like import zeros_like
from ..ops.pointwise.rounding import where
from . import constraints
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits, same_as


def given(probs: Any, logits: Any) -> str:
    """Return which of `probs` and `logits` was given; raise unless it is exactly one."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return "logits" if probs is None else "probs"


class Odds(Distribution):
    """Base class of distributions with `probs` or `logits`: of a binary event, or of classes."""

    arg_constraints: ClassVar[dict[str, Any]] = {"probs": constraints.unit_interval, "logits": constraints.real}
    _kept: ClassVar[tuple[str, ...]] = ("_given",)
    _given: str
    _is_binary = True

    def _take(self, probs: Any, logits: Any, *others: Any) -> tuple[Tensor, ...]:
        """Store the given parameter, broadcast with the others. Return the others."""
        self._given = given(probs, logits)
        value, *rest = broadcast_all(logits if probs is None else probs, *others)
        self.__dict__[self._given] = value
        return tuple(rest)

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, is_binary=self._is_binary)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits, is_binary=self._is_binary)

    @property
    def _param(self) -> Tensor:
        return self.__dict__[self._given]

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.shape


class LocationScale(Distribution):
    """Base class of distributions of `loc + scale * x`, with all numbers as values and `loc` as mode."""

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    mode: Tensor = same_as("loc")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)


class Half(TransformedDistribution):
    """Base class of distributions of absolute values of numbers that are symmetric about 0."""

    arg_constraints: ClassVar[dict[str, Any]] = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    scale: Tensor = same_as("base_dist.scale")

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.scale)

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        value = as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Tensor:
        self._check(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Tensor:  # torch's name
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
