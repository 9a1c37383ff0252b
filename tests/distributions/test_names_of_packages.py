"""Attributes and functions that are private in torch, and that packages of distributions go by all the same."""

from __future__ import annotations

from typing import Any

import gradpack as torch
from gradpack import distributions as dist
from gradpack.distributions.lowrank_multivariate_normal import (
    _batch_capacitance_tril,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from gradpack.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv, _precision_to_scale_tril
from gradpack.distributions.utils import _standard_normal, _sum_rightmost

COVARIANCE = torch.tensor([[4.0, 2.0], [2.0, 5.0]])
ROOT = torch.tensor([[2.0, 0.0], [1.0, 2.0]])


def test_factors_of_normal_vectors() -> None:
    d = dist.MultivariateNormal(torch.zeros(3, 2), COVARIANCE)
    assert torch.equal(d._unbroadcasted_scale_tril, ROOT) and d.scale_tril.shape == (3, 2, 2)
    assert torch.allclose(_precision_to_scale_tril(COVARIANCE.inverse()), ROOT)
    assert torch.equal(dist.Wishart(3.0, COVARIANCE)._unbroadcasted_scale_tril, ROOT)
    x = torch.tensor([[2.0, 1.0], [0.0, 2.0]])
    assert torch.allclose(_batch_mahalanobis(ROOT, x), torch.tensor([1.0, 1.0]))
    assert _batch_mv(ROOT, x).tolist() == [[4.0, 4.0], [0.0, 4.0]]


def test_factors_of_low_rank() -> None:
    W, D, x = torch.tensor([[1.0], [2.0]]), torch.tensor([1.0, 4.0]), torch.tensor([1.0, 1.0])
    d = dist.LowRankMultivariateNormal(torch.zeros(3, 2), W, D)
    assert torch.equal(d._unbroadcasted_cov_factor, W) and torch.equal(d._unbroadcasted_cov_diag, D)
    factor = _batch_capacitance_tril(W, D)
    assert torch.allclose(d._capacitance_tril, factor) and torch.allclose(factor, torch.tensor([[3.0**0.5]]))
    assert torch.allclose(_batch_lowrank_logdet(W, D, factor).exp(), torch.tensor(12.0))
    full = W @ W.T + torch.diag(D)
    assert torch.allclose(_batch_lowrank_mahalanobis(W, D, x, factor), x @ full.inverse() @ x)


def test_a_subclass_that_fills_in_what_torch_has() -> None:
    class Mine(dist.MultivariateNormal):
        def __init__(self, scale: float) -> None:
            self.scale = scale
            super().__init__(torch.zeros(2), scale_tril=scale * torch.eye(2))

        def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
            new = self._get_checked_instance(Mine, _instance)
            batch_shape = torch.Size(batch_shape)
            new.scale, new.loc = self.scale, self.loc.expand(batch_shape + self.event_shape)
            new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
            super(dist.MultivariateNormal, new).__init__(batch_shape, self.event_shape, validate_args=False)
            return new

    wide = Mine(2.0).expand((3,))
    assert wide.sample().shape == (3, 2) and wide.scale_tril.shape == (3, 2, 2)
    assert torch.allclose(wide.log_prob(torch.zeros(2)), Mine(2.0).log_prob(torch.zeros(2)).expand(3))
    assert torch.allclose(dist.kl_divergence(wide, wide), torch.zeros(3), atol=1e-6)


def test_mixtures() -> None:
    parts = dist.Independent(dist.Normal(torch.zeros(2, 3, 4), 1.0), 1)
    d = dist.MixtureSameFamily(dist.Categorical(torch.ones(2, 3)), parts)
    assert d._event_ndims == 1 and d._num_component == 3
    assert d._pad(torch.zeros(5, 2, 4)).shape == (5, 2, 1, 4)
    assert d._pad_mixture_dimensions(torch.zeros(2, 3)).shape == (2, 3, 1)


def test_others() -> None:
    d = dist.Weibull(1.0, torch.tensor([2.0, 4.0]))
    assert d.concentration_reciprocal.tolist() == [0.5, 0.25]
    assert d.expand((3, 2)).concentration_reciprocal.shape == (3, 2)
    assert dist.Bernoulli(torch.tensor(0.5, dtype=torch.float64))._new((2,)).dtype is torch.float64
    flipped = dist.TransformedDistribution(dist.Uniform(0.0, 1.0), [dist.AffineTransform(0.0, -1.0)])
    assert flipped._monotonize_cdf(torch.tensor(0.25)).item() == 0.75
    assert _sum_rightmost(torch.ones(2, 3, 4), 2).tolist() == [12.0, 12.0]
    assert _standard_normal((2, 3), dtype=torch.float64, device="cpu").dtype is torch.float64
