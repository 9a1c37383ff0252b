"""Divergences between two distributions of one family."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from ..linalg import solve_triangular
from ..ops.pointwise.activation import softplus
from ..ops.pointwise.rounding import where
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
