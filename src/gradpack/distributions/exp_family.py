"""Exponential families: densities `h(x) exp(t(x) · θ - A(θ))`, which are known by their log-normaliser `A`."""

from __future__ import annotations

from typing import Any

from ..autograd import grad
from ..autograd.grad_mode import enable_grad
from ..core.tensor import Tensor
from .distribution import Distribution
from .utils import sum_rightmost

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution whose entropy and divergences follow from the log-normaliser of its natural parameters.

    Source: Nielsen and Nock, 2010, "Entropies and cross-entropies of exponential families".
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        """θ."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its natural parameters are")

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        """A(θ)."""
        raise NotImplementedError(f"{type(self).__name__} has no log-normaliser")

    @property
    def _mean_carrier_measure(self) -> Any:
        """The expected value of log h(x)."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its carrier measure is")

    def _slopes(self) -> tuple[list[Tensor], Tensor, tuple[Tensor, ...]]:
        """Return the natural parameters, A(θ), and its gradient: the expected values of t(x)."""
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        with enable_grad():
            normalizer = self._log_normalizer(*natural)
        return natural, normalizer, grad(normalizer.sum(), natural, create_graph=True)

    def entropy(self) -> Tensor:
        """`A(θ) - θ · ∇A(θ) - E log h(x)`. It does not differentiate by the parameters of the distribution."""
        natural, normalizer, slopes = self._slopes()
        result = normalizer - self._mean_carrier_measure
        for p, slope in zip(natural, slopes, strict=True):
            result = result - sum_rightmost(p * slope, p.ndim - len(self._batch_shape))
        return result
