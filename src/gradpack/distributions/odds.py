"""Base class of distributions parametrized by `probs` or `logits`."""

from __future__ import annotations

from typing import Any

from ..base.size import Size
from ..core.tensor import Tensor
from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Odds", "given"]


def given(probs: Any, logits: Any) -> str:
    """Return which of `probs` and `logits` was given; raise unless it is exactly one."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return "logits" if probs is None else "probs"


class Odds(Distribution):
    """Base class of distributions with `probs` or `logits` of a binary event."""

    _given: str

    def _take(self, probs: Any, logits: Any, *others: Any) -> tuple[Tensor, ...]:
        """Store the given parameter, broadcast with the others. Return the others."""
        self._given = given(probs, logits)
        value, *rest = broadcast_all(logits if probs is None else probs, *others)
        self.__dict__[self._given] = value
        return tuple(rest)

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def _param(self) -> Tensor:
        return self.__dict__[self._given]

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.shape
