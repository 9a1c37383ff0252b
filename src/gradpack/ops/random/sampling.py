"""Random numbers with gradients by their parameters: gamma and Dirichlet; and counts, without gradients.

A gamma number is `F^-1(u)` for a uniform `u` and the distribution function `F` of its shape `a`. So
its derivative by the shape is `-(dF/da) / f`, with `f` the density: that of the implicit function.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import FLOATING, float64
from ...base.errors import not_implemented_for, scalar_type
from ...base.info import finfo
from ...core.tensor import Tensor
from ...declare.annotations import Array, Setting
from ...declare.decorators import elementwise, nondifferentiable
from ..create.making import finish
from ..pointwise.exponential import special
from ..pointwise.operands import not_implemented, zeros_for
from ..special.gamma_functions import _density
from .drawing import ELEMENT, drawing
from .floats import host_of, zero_slope
from .generator import Generator, source

FUNCTIONS = "poisson binomial _standard_gamma _sample_dirichlet _standard_gamma_grad _dirichlet_grad"


@elementwise(
    input=lambda g, input, other, order: g * _igamma_in_shape(input, other, order + 1),
    other=lambda g, input, other, order: g * _density_in_shape(input, other, order),
    dtypes="f",
    cost="dear",
)
def _igamma_in_shape(input: Array, other: Array, order: int) -> Any:
    """The first, second or third derivative of the regularised lower incomplete gamma function by its first argument.

    By central differences in float64, precise to eleven, nine and six digits.
    """
    if order > 3:
        raise not_implemented("_standard_gamma_grad")
    a, x = np.asarray(input, dtype=np.float64), np.asarray(other, dtype=np.float64)
    h = 2e-2 * np.minimum(a, 1.0 + 0.1 * a)
    out = np.zeros((), np.float64)
    for k, weight in _STENCILS[order].items():
        out = out + weight * special("gammainc", a + k * h, x)
    return np.asarray(out / h**order, dtype=input.dtype)


# Weights of the values at multiples of the step. Steps are large, as the values have errors of their own.
_STENCILS = {
    1: {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60},
    2: {-3: 1 / 90, -2: -3 / 20, -1: 3 / 2, 0: -49 / 18, 1: 3 / 2, 2: -3 / 20, 3: 1 / 90},
    3: {-3: 1 / 8, -2: -1, -1: 13 / 8, 1: -13 / 8, 2: 1, 3: -1 / 8},
}


def _gamma_slope(input: Any, other: Any, dtype: Any) -> Any:
    """The derivative of gamma numbers by their shape, in double precision: the density's terms are large."""
    a, x = late._to_copy(input, float64), late._to_copy(other, float64)
    return late._to_copy(-_igamma_in_shape(a, x, 1) / _density(a, x), dtype)


def _density_in_shape(input: Any, other: Any, order: int) -> Any:
    """A derivative of the gamma density by the shape."""
    slope = late.log(other) - late.digamma(input)
    density = _density(input, other)
    if order == 1:
        return density * slope
    bend = slope * slope - late.polygamma(1, input)
    if order == 2:
        return density * bend
    return density * (slope * (bend - late.polygamma(1, input) * 2) - late.polygamma(2, input))


@elementwise(
    input=lambda g, input, out, input_dtype: g * _gamma_slope(input, out, input_dtype),
    node="StandardGammaBackward0",
    dtypes="f",
    name="_standard_gamma",
    cost="dear",
)
def _gamma(input: Array, generator: Setting = None) -> Any:
    """Gamma numbers of rate 1 with the shapes in `input`."""
    u = source(generator).random(input.shape)
    shape = np.asarray(input, dtype=np.float64)
    found = np.where(shape == 0, 0.0, special("gammaincinv", shape, u))
    least = np.finfo(np.float32 if input.dtype.itemsize < 8 else np.float64).tiny
    return np.asarray(np.maximum(found, least), dtype=input.dtype)


@partial(drawing, how=ELEMENT)
def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Gamma numbers of rate 1 with the shapes in `input`, differentiable by them. Needs SciPy.

    Example::

        >>> import gradpack as torch
        >>> bool((torch._standard_gamma(torch.ones(3)) > 0).all())
        True
    """
    if input._spec.dtype.category < FLOATING:
        raise not_implemented_for("gamma_cpu", input._spec.dtype)
    return _gamma(input, generator)


@partial(drawing, how=ELEMENT)
def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Points of the simplex along the last dimension, with the concentrations in `input`. Needs SciPy.

    Example::

        >>> import gradpack as torch
        >>> torch._sample_dirichlet(torch.ones(2, 3)).sum(-1).shape
        gradpack.Size([2])
    """
    # Of a small shape a gamma number may be too small for its dtype. Its logarithm is that of a gamma number of a
    # shape larger by 1, and that of a uniform number over the shape.
    u = late.rand_like(input, generator=generator)
    logs = late.log(_standard_gamma(input + 1, generator)) + late.log1p(-u) / input
    info = finfo(input._spec.dtype)
    return late.softmax(logs, -1).clamp(info.tiny, 1 - info.eps / 2)


@partial(drawing, how=ELEMENT)
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson numbers with the rates in `input`; the gradient is zero.

    Raises:
        RuntimeError: for negative rates.

    Example::

        >>> import gradpack as torch
        >>> torch.poisson(torch.zeros(2))
        tensor([0., 0.])
    """
    if input._spec.dtype.category != FLOATING:
        raise not_implemented_for("poisson_cpu", input._spec.dtype)
    rates = np.asarray(host_of(input), dtype=np.float64)
    if np.any(rates < 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return _drawn(input, generator=generator)


@elementwise(input=lambda g: zeros_for(g), node="PoissonBackward0", dtypes="f", name="poisson")
def _drawn(input: Array, *, generator: Setting = None) -> Any:
    """Poisson numbers."""
    return np.asarray(source(generator).poisson(np.asarray(input, dtype=np.float64)), dtype=input.dtype)


@drawing
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw binomial numbers: how often something of probability `prob` happens in `count` trials.

    Args:
        count: the numbers of trials: whole numbers, of a floating point dtype.
        prob: the probabilities: of the same dtype, and of a shape that broadcasts with that of `count`.

    Raises:
        ValueError: for counts that are no floating point numbers.
        RuntimeError: for different dtypes.

    Example::

        >>> import gradpack as torch
        >>> torch.binomial(torch.tensor([3.0, 5.0]), torch.tensor([0.0, 1.0]))
        tensor([0., 5.])
        >>> counts = torch.binomial(torch.full((1000,), 10.0), torch.tensor(0.5))
        >>> bool((counts.mean() - 5).abs() < 0.3)
        True
    """
    if count._spec.dtype.category != FLOATING:
        raise ValueError(
            f"binomial only supports floating-point dtypes for count, got: {scalar_type(count._spec.dtype)}"
        )
    if prob._spec.dtype is not count._spec.dtype:
        names = scalar_type(prob._spec.dtype), scalar_type(count._spec.dtype)
        raise RuntimeError(f"Found dtype {names[0]} but expected {names[1]}")
    trials = np.maximum(np.nan_to_num(np.asarray(host_of(count), dtype=np.float64)), 0).astype(np.int64)
    chance = np.clip(np.asarray(host_of(prob), dtype=np.float64), 0, 1)
    drawn = np.asarray(source(generator).binomial(trials, np.where(np.isnan(chance), 0, chance)), dtype=np.float64)
    drawn = np.where(np.isnan(chance), math.nan, drawn)
    return zero_slope(finish(np.asarray(drawn.astype(count._spec.native)), False, count._spec.device), count, prob)


# -- derivatives from the implicit function: `-(dF/da) / f` --


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
