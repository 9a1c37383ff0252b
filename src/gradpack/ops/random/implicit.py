"""Derivatives of random numbers by their parameters, from the implicit function: `-(dF/da) / f`.

A number that is drawn as `F^-1(u)` keeps its `u` when a parameter moves. So it moves by what the distribution function
`F` changes there, over the density `f`. Source: Figurnov, Mohamed and Mnih, 2018.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import nondifferentiable
from ..pointwise.exponential import special
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
def _beta_slope(x: Array, a: Array, b: Array) -> Any:
    """The derivative of Beta numbers by their first parameter, over `1 - x`."""
    # Not quite 0 or 1: there the density is 0 or infinite.
    limits = np.finfo(np.float32 if x.dtype.itemsize < 8 else np.float64)
    y, a, b = (np.asarray(v, dtype=np.float64) for v in (x, a, b))
    y = np.clip(y, limits.tiny, 1 - limits.epsneg)
    return np.asarray(_beta_in_shape(y, a, b) / (1 - y), dtype=x.dtype)


def _beta_in_shape(x: Any, a: Any, b: Any) -> Any:
    """`-(dF/da) / f` of Beta numbers, by a difference of log F, or of log(1 - F) in the upper half: nine digits."""
    upper = x > a / (a + b)
    first, second, y = np.where(upper, b, a), np.where(upper, a, b), np.where(upper, 1 - x, x)
    step = 3e-5 * np.minimum(a, 1.0 + 0.1 * a)
    low, high = np.where(upper, 0.0, step), np.where(upper, step, 0.0)
    log_density = (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - special("betaln", a, b)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        above = np.log(special("betainc", first + low, second + high, y))
        below = np.log(special("betainc", first - low, second - high, y))
        slope = np.exp((above + below) / 2 - log_density) * (above - below) / (2 * step)
    found = np.where(upper, slope, -slope)
    # Where F underflows it is its first term, x^a / (a B(a, b)).
    limit = -(x / a) * (np.log(x) - 1 / a - special("digamma", a) + special("digamma", a + b))
    return np.where(np.isfinite(found), found, limit)
