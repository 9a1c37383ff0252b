"""Derivatives of random numbers by their parameters, from the implicit function: `-(dF/da) / f`.

A number that is drawn as `F^-1(u)` keeps its `u` when a parameter moves. So it moves by what the distribution function
`F` changes there, over the density `f`. Source: Figurnov, Mohamed and Mnih, 2018.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..declare.kinds import nondifferentiable
from ..tensor.tensor import Tensor
from .exponential import special
from .sampling import _gamma_slope

FUNCTIONS = "_standard_gamma_grad _dirichlet_grad"


def _standard_gamma_grad(self: Tensor, output: Tensor) -> Tensor:
    """The derivative of gamma numbers by their shape.

    Args:
        self: the shapes.
        output: the numbers.

    Example::

        >>> import gradpack as torch
        >>> torch._standard_gamma_grad(torch.tensor([2.0]), torch.tensor([1.0]))
        tensor([0.7508])
    """
    return _gamma_slope(self, output, output.dtype)


def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """The derivative of shares under Dirichlet distributions by their own concentrations, over `1 - x`.

    Args:
        x: the shares.
        alpha: their concentrations.
        total: the sums of all concentrations, so that a share is a Beta number of `alpha` and `total - alpha`.

    Example::

        >>> import gradpack as torch
        >>> torch._dirichlet_grad(torch.tensor([0.5]), torch.tensor([1.0]), torch.tensor([2.0]))
        tensor([0.6931])
    """
    return _beta_slope(x, alpha, total - alpha)


@nondifferentiable(promote=("x", "a", "b"), dtypes="f")
def _beta_slope(x: Any, a: Any, b: Any) -> Any:
    """The derivative of Beta numbers by their first parameter, over `1 - x`."""
    # Not quite 0 or 1: there the density is 0 or infinite.
    limits = np.finfo(np.float32 if x.dtype.itemsize < 8 else np.float64)
    y, a, b = (np.asarray(v, dtype=np.float64) for v in (x, a, b))
    y = np.clip(y, limits.tiny, 1 - limits.epsneg)
    return np.asarray(_beta_in_shape(y, a, b) / (1 - y), dtype=x.dtype)


# Weights of the values at multiples of the step, for a first derivative.
_STENCIL = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}


def _beta_in_shape(x: Any, a: Any, b: Any) -> Any:
    """`-(dF/da) / f` of Beta numbers, by differences of log F, or of log(1 - F) in the upper half: ten digits."""
    step = 2e-2 * np.minimum(a, 1.0 + 0.1 * a)
    log_density = (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - special("betaln", a, b)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        below, above = special("betainc", a, b, x), special("betaincc", a, b, x)
        low: Any = 0.0
        high: Any = 0.0
        for k, weight in _STENCIL.items():
            low = low + weight * np.log(special("betainc", a + k * step, b, x))
            high = high + weight * np.log(special("betaincc", a + k * step, b, x))
        from_below = -np.exp(np.log(below) - log_density) * low / step
        from_above = np.exp(np.log(above) - log_density) * high / step
    found = np.where(below < 0.5, from_below, from_above)
    # Where F underflows it is its first term, x^a / (a B(a, b)).
    first = -(x / a) * (np.log(x) - 1 / a - special("digamma", a) + special("digamma", a + b))
    return np.where(np.isfinite(found), found, first)
