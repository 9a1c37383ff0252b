"""Divergences between two distributions, of one family or of two.

Between families it is `-H(p) - E log q(x)`, where `log q` needs a few expected values under `p`. So there is one
function for each `q`, of the moments of any `p`; and a table of the pairs for which the moments are known, or for which
`p` has values where `q` has none: there the divergence is infinite.
"""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from ..linalg import solve_triangular
from ..ops.create.fill import full
from ..ops.pointwise.activation import softplus
from ..ops.pointwise.rounding import where
from ..ops.shape.broadcasting import broadcast_shapes
from ._counts import Binomial, Geometric, Poisson
from ._location_scale import Cauchy, Gumbel, Laplace, Uniform
from .bernoulli import Bernoulli, ContinuousBernoulli
from .categorical import Categorical, OneHotCategorical
from .dirichlet import Beta, Dirichlet
from .gamma import Exponential, Gamma
from .kl import register_kl
from .multivariate_normal import LowRankMultivariateNormal, MultivariateNormal
from .normal import HalfNormal, Normal
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


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Tensor:
    one = _of_outcome(p.probs * (softplus(-q.logits) - softplus(-p.logits)), p.probs == 0, q.probs == 0)
    zero = _of_outcome((1 - p.probs) * (softplus(q.logits) - softplus(p.logits)), p.probs == 1, q.probs == 1)
    return one + zero


def _of_outcome(term: Tensor, never_p: Tensor, never_q: Tensor) -> Tensor:
    """The share of one outcome: nothing if it never comes under p, infinite if it never comes under q."""
    return where(never_p, 0.0, where(never_q, math.inf, term))


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Tensor:
    return _of_outcome(p.probs * (p.logits - q.logits), p.probs == 0, q.probs == 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return p.mean * (p.logits - q.logits) - p._log_normalizer(p.logits) + q._log_normalizer(q.logits)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return where(p.total_count > q.total_count, math.inf, p.total_count * each)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Tensor:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    normalizers = total.lgamma() - b.sum(-1).lgamma() + (b.lgamma() - a.lgamma()).sum(-1)
    return normalizers + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    rates = b * (p.rate / q.rate).log() + (q.rate - p.rate) * (a / p.rate)
    return rates + b.lgamma() - a.lgamma() + (a - b) * a.digamma()


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Tensor:
    ratio = p.scale / q.scale
    apart = (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Tensor:
    """Source: Chyzak and Nielsen, 2019."""
    square = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return square.log() - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Tensor:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc) / q.scale
    overlap = ((1 + ratio).lgamma() - apart).exp()  # E exp(-(x - loc) / scale) of q
    return -ratio.log() + apart + ratio * euler_constant + overlap - (1 + euler_constant)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    inside = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return where(p.scale < q.scale, math.inf, inside)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Tensor:
    inside = ((q.high - q.low) / (p.high - p.low)).log()
    return where((q.low > p.low) | (q.high < p.high), math.inf, inside)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _normal_vectors(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two normal vectors of different sizes: {tuple(p.event_shape)}, "
            f"{tuple(q.event_shape)}"
        )
    trace = sum(_trace(q, root) for root in _roots(p))
    log_dets = q._half_log_det() - p._half_log_det()
    return log_dets + 0.5 * (trace + q._distance(q.loc - p.loc) - p.event_shape[0])


def _roots(d: Any) -> tuple[Tensor, ...]:
    """Matrices `M` the sum of whose `M M^T` is the covariance."""
    if isinstance(d, LowRankMultivariateNormal):
        return d._unbroadcasted_cov_factor, d._unbroadcasted_cov_diag.sqrt().diag_embed()
    return (d._unbroadcasted_scale_tril,)


def _trace(d: Any, root: Tensor) -> Tensor:
    """The trace of `C^-1 M M^T` for the covariance C."""
    if not isinstance(d, LowRankMultivariateNormal):
        return solve_triangular(d._unbroadcasted_scale_tril, root, upper=False).square().sum((-2, -1))
    scaled = root / d._unbroadcasted_cov_diag.unsqueeze(-1)
    inner = solve_triangular(d._capacitance_tril, d._unbroadcasted_cov_factor.mT @ scaled, upper=False)
    return (root * scaled).sum((-2, -1)) - inner.square().sum((-2, -1))
