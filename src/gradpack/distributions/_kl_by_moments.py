"""Divergences between families: `-H(p) - E log q(x)`, where `log q` needs a few expected values under `p`.

So there is one function for each `q`, of the moments of any `p`; and a table of the pairs for which the moments are
known, or for which `p` has values where `q` has none: there the divergence is infinite.
"""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.fill import full
from ..ops.pointwise.rounding import where
from ..ops.shape.broadcasting import broadcast_shapes
from ._counts import Binomial, Poisson
from ._location_scale import Gumbel, Laplace, Uniform
from .bernoulli import Bernoulli, ContinuousBernoulli
from .dirichlet import Beta
from .gamma import Exponential, Gamma
from .kl import register_kl
from .normal import Normal
from .pareto import Pareto
from .utils import euler_constant


def _mean_log(p: Any) -> Tensor:
    """The expected value of `log x`."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Gamma):
        return p.concentration.digamma() - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return _uniform_mean_log(p.low, p.high)


def _uniform_mean_log(low: Tensor, high: Tensor) -> Tensor:
    def integral(x: Tensor) -> Tensor:
        return x.xlogy(x) - x

    return (integral(high) - integral(low)) / (high - low)


def _mean_exp(p: Any, t: Tensor) -> Tensor:
    """The expected value of `exp(-t x)`."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate + t)
    if isinstance(p, Gamma):
        return (1 + t / p.rate).pow(-p.concentration)
    if isinstance(p, Normal):
        return (0.5 * (t * p.scale).pow(2) - t * p.loc).exp()
    return ((-t * p.low).exp() - (-t * p.high).exp()) / (t * (p.high - p.low))


def _log_exponential(p: Any, q: Any) -> Tensor:
    return q.rate.log() - q.rate * p.mean


def _log_gamma(p: Any, q: Any) -> Tensor:
    a = q.concentration
    return a * q.rate.log() - a.lgamma() + (a - 1) * _mean_log(p) - q.rate * p.mean


def _log_normal(p: Any, q: Any) -> Tensor:
    square = p.variance + (p.mean - q.loc).pow(2)
    return -0.5 * (2 * math.pi * q.variance).log() - 0.5 * square / q.variance


def _log_gumbel(p: Any, q: Any) -> Tensor:
    rate = q.scale.reciprocal()
    return rate.log() - (p.mean - q.loc) * rate - (q.loc * rate).exp() * _mean_exp(p, rate)


def _log_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return p.mean * q.logits - q._log_normalizer(q.logits)


def _log_uniform(p: Any, q: Any) -> Tensor:
    return -(q.high - q.low).log()


def _log_laplace(p: Any, q: Any) -> Tensor:
    apart = (p.loc - q.loc) / p.scale
    distance = math.sqrt(2 / math.pi) * (-0.5 * apart.pow(2)).exp() + apart * (apart * math.sqrt(0.5)).erf()
    return -(2 * q.scale).log() - p.scale * distance / q.scale


def _log_poisson(p: Any, q: Any) -> Tensor:
    return p.mean * q.rate.log() - q.rate  # of 0 and 1, whose factorials are 1


def _log_beta(p: Any, q: Any) -> Tensor:
    """Return the expected log-density of `q` under a uniform `p`."""
    a, b = q.concentration1, q.concentration0
    normalizer = a.lgamma() + b.lgamma() - (a + b).lgamma()
    return (a - 1) * _uniform_mean_log(p.low, p.high) + (b - 1) * _uniform_mean_log(1 - p.high, 1 - p.low) - normalizer


def _log_pareto(p: Any, q: Any) -> Tensor:
    return q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_log(p)


# Where values of p may lie outside of those of q, which then is infinitely far.
def _uniform_below_zero(p: Any, q: Any) -> Tensor:
    return p.low < 0


def _uniform_beyond_unit(p: Any, q: Any) -> Tensor:
    return (p.low < 0) | (p.high > 1)


def _uniform_below_scale(p: Any, q: Any) -> Tensor:
    return p.low < q.scale


def _unit_beyond_uniform(p: Any, q: Any) -> Tensor:
    return (q.low > 0) | (q.high < 1)


# Of each formula: its q, and all p; then those that may have values where q has none.
_FORMULAS: list[tuple[Any, Any, tuple[Any, ...], dict[Any, Any]]] = [
    (_log_beta, Beta, (), {Uniform: _uniform_beyond_unit}),
    (_log_continuous_bernoulli, ContinuousBernoulli, (Beta,), {Uniform: _uniform_beyond_unit}),
    (_log_exponential, Exponential, (Beta, ContinuousBernoulli, Gamma, Pareto), {Uniform: _uniform_below_zero}),
    (_log_gamma, Gamma, (Beta, Exponential, Pareto), {Uniform: _uniform_below_zero}),
    (_log_gumbel, Gumbel, (Exponential, Gamma, Normal, Uniform), {}),
    (_log_laplace, Laplace, (Normal,), {}),
    (_log_normal, Normal, (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform), {}),
    (_log_pareto, Pareto, (), {Uniform: _uniform_below_scale}),
    (_log_poisson, Poisson, (Bernoulli,), {}),
    (_log_uniform, Uniform, (), {Beta: _unit_beyond_uniform, ContinuousBernoulli: _unit_beyond_uniform}),
]

# Of these, p always has values where q has none.
_INFINITE: dict[Any, tuple[Any, ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}


def _register_pair(type_p: Any, type_q: Any, expected_log: Any, outside: Any) -> None:
    @register_kl(type_p, type_q)
    def divergence(p: Any, q: Any) -> Tensor:
        found = -p.entropy() - expected_log(p, q)
        return found if outside is None else where(outside(p, q), math.inf, found)


def _infinite(p: Any, q: Any) -> Tensor:
    like = p.mean
    shape = broadcast_shapes(p.batch_shape, q.batch_shape)
    return full(shape, math.inf, dtype=like.dtype, device=like.device)


for _expected_log, _q, _inside, _outside in _FORMULAS:
    for _p in (*_inside, *_outside):
        _register_pair(_p, _q, _expected_log, _outside.get(_p))
for _type_p, _types_q in _INFINITE.items():
    for _type_q in _types_q:
        register_kl(_type_p, _type_q)(_infinite)
