"""Samples: their shapes, their moments, and what of their gradient can be known: that of the expected value."""

from __future__ import annotations

import numpy as np
import pytest
from tests.distributions.cases import CASES, SCIPY, made

import gradpack as torch

N = 2000
WITHOUT_MOMENTS = {"Cauchy", "HalfCauchy", "Categorical", "Categorical logits", "VonMises"}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(7)


@pytest.mark.parametrize("name", CASES)
def test_shapes_and_support(name):
    d = made(name, torch)
    for sample_shape in ((), (3,), (2, 1), (0,)):
        x = d.sample(sample_shape)
        assert x.shape == (*sample_shape, *d.batch_shape, *d.event_shape)
        assert not x.requires_grad and bool(d.support.check(x).all())
        assert d.log_prob(x).shape == (*sample_shape, *d.batch_shape)
    assert x.dtype in (torch.float64, torch.int64)


@pytest.mark.parametrize("name", sorted(set(CASES) - WITHOUT_MOMENTS))
def test_moments(name):
    d = made(name, torch)
    try:
        mean, variance = d.mean, d.variance
    except NotImplementedError:
        assert name in ("LKJCholesky", "LogisticNormal", "TransformedDistribution") or name.startswith("Relaxed")
        return
    x = d.sample((N,))
    assert mean.shape == variance.shape == d.batch_shape + d.event_shape
    error = (variance / N).sqrt()
    assert bool(((x.mean(0) - mean).abs() <= 5 * error + 1e-12).all())
    assert torch.allclose(d.stddev, variance.sqrt())
    squares = (x - mean).square()
    spread = squares.std(0) / N**0.5
    assert bool(((squares.mean(0) - variance).abs() <= 6 * spread + 1e-12).all())


@pytest.mark.parametrize("name", sorted(set(SCIPY) - {"Dirichlet", "Multinomial", "MultivariateNormal", "Wishart"}))
def test_distribution_of_samples(name):
    stats = pytest.importorskip("scipy.stats")
    d = made(name, torch)
    x = d.sample((N,)).numpy()
    for i, theirs in enumerate(SCIPY[name](stats)):
        if d.support.is_discrete:
            values, counts = np.unique(x[:, i], return_counts=True)
            expected = N * theirs.pmf(values)
            kept = expected > 5
            assert (np.abs(counts - expected)[kept] < 5 * np.sqrt(expected[kept])).all()
        else:
            values = x[:, i]
            if name == "VonMises":  # SciPy counts from the mean
                loc = d.loc[i].item()
                values = loc + (values - loc + np.pi) % (2 * np.pi) - np.pi
            assert stats.kstest(values, theirs.cdf).pvalue > 1e-4


def test_mixture_and_relaxed_bits_have_their_distribution():
    for name in ("MixtureSameFamily", "Kumaraswamy", "ContinuousBernoulli", "TransformedDistribution"):
        d = made(name, torch)
        u = np.sort(d.cdf(d.sample((N,))).numpy(), axis=0)
        grid = (np.arange(N) + 0.5) / N
        assert (np.abs(u - grid[:, None]).max(0) < 2.2 / N**0.5).all()


def slopes(kind, parameters, n, power=1):
    """For each parameter the gradients of `n` samples, each of which has the parameters to itself."""
    leaves = {k: p.detach().expand(n, *p.shape).clone().requires_grad_() for k, p in parameters.items()}
    x = kind(**leaves).rsample()
    return dict(zip(leaves, torch.autograd.grad(x.pow(power).sum(), list(leaves.values())), strict=True))


def moments(kind, parameters, power):
    """For each parameter the gradient of the expected value, or of that of the square."""
    leaves = {k: p.detach().clone().requires_grad_() for k, p in parameters.items()}
    d = kind(**leaves)
    moment = d.mean if power == 1 else d.variance + d.mean.square()
    found = torch.autograd.grad(moment.sum(), list(leaves.values()), allow_unused=True)
    return {k: torch.zeros_like(p) if g is None else g for (k, p), g in zip(leaves.items(), found, strict=True)}


def numbers(**values):
    return {k: torch.tensor(v, dtype=torch.float64) for k, v in values.items()}


PATHS = {
    "Beta": numbers(concentration1=[0.7, 30.0], concentration0=[3.0, 8.0]),
    "Chi2": numbers(df=[3.0, 0.4]),
    "ContinuousBernoulli": numbers(probs=[0.2, 0.5, 0.9]),
    "Dirichlet": numbers(concentration=[0.7, 1.0, 2.5]),
    "Exponential": numbers(rate=[0.5, 3.0]),
    "FisherSnedecor": numbers(df1=[8.0, 3.0], df2=[20.0, 30.0]),
    "Gamma": numbers(concentration=[0.3, 7.0], rate=[2.0, 0.5]),
    "GeneralizedPareto": numbers(loc=[1.0, 0.0, 0.0], scale=[2.0, 1.0, 0.5], concentration=[0.1, 0.0, -0.4]),
    "Gumbel": numbers(loc=[0.5, -1.0], scale=[0.7, 2.0]),
    "HalfNormal": numbers(scale=[0.7, 2.0]),
    "InverseGamma": numbers(concentration=[8.0, 12.0], rate=[2.0, 0.5]),
    "Kumaraswamy": numbers(concentration1=[0.7, 2.0], concentration0=[3.0, 1.5]),
    "Laplace": numbers(loc=[0.5, -1.0], scale=[0.7, 2.0]),
    "LogNormal": numbers(loc=[0.5, -1.0], scale=[0.3, 0.4]),
    "Normal": numbers(loc=[0.5, -1.0], scale=[0.7, 2.0]),
    "Pareto": numbers(scale=[0.7, 2.0], alpha=[8.0, 9.5]),
    "StudentT": numbers(df=[9.0, 20.0], loc=[0.5, -1.0], scale=[0.7, 2.0]),
    "Uniform": numbers(low=[-1.0, 2.0], high=[1.0, 5.0]),
    "Weibull": numbers(scale=[0.7, 2.0], concentration=[3.0, 1.5]),
}


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("name", PATHS)
def test_gradients_are_those_of_the_moments(name, power):
    """The mean of the gradients of samples is the gradient of the moment, within five times its error."""
    kind = getattr(torch.distributions, name)
    found, expected = slopes(kind, PATHS[name], N, power), moments(kind, PATHS[name], power)
    for k, each in found.items():
        if name == "Dirichlet":
            each = each[:, :2]  # of all three, those of the sum of shares are zero
            expected[k] = expected[k][:2]
        error = each.std(0) / N**0.5
        assert bool(((each.mean(0) - expected[k]).abs() <= 5 * error + 1e-9).all()), (k, each.mean(0), expected[k])


def test_others_have_gradients():
    for name, make in CASES.items():
        leaves = []

        def tensor(values):
            leaves.append(torch.tensor(values, dtype=torch.float64, requires_grad=True))  # noqa: B023 - used at once
            return leaves[-1]  # noqa: B023

        d = make(torch.distributions, tensor)
        x = d.rsample((2,)) if d.has_rsample else None
        assert x is None or x.requires_grad, name
        if not d.has_rsample:
            with pytest.raises(NotImplementedError):
                d.rsample()


def test_gradients_of_vectors():
    loc = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    factor = torch.tensor([[1.0], [2.0]], dtype=torch.float64, requires_grad=True)
    diag = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    d = torch.distributions.LowRankMultivariateNormal(loc, factor, diag)
    x = d.rsample((10000,))
    second = (x.unsqueeze(-1) * x.unsqueeze(-2)).mean(0)  # the covariance: W W^T + D
    got = torch.autograd.grad(second[0, 1], [factor, diag], retain_graph=True)
    assert torch.allclose(got[0], torch.tensor([[2.0], [1.0]], dtype=torch.float64), atol=0.2)
    assert torch.allclose(got[1], torch.zeros(2, dtype=torch.float64), atol=0.1)
    df = torch.tensor(6.0, dtype=torch.float64, requires_grad=True)
    scale = torch.eye(2, dtype=torch.float64, requires_grad=True)
    w = torch.distributions.Wishart(df, scale_tril=scale).rsample((2000,)).mean(0)
    (slope,) = torch.autograd.grad(w[0, 0], df, retain_graph=True)
    assert slope.item() == pytest.approx(1.0, abs=0.15)
    (slope,) = torch.autograd.grad(w[0, 0], scale)
    assert slope[0, 0].item() == pytest.approx(12.0, abs=0.9)


def test_straight_through_gradients_are_those_of_the_probabilities():
    logits = torch.randn(4, 3, requires_grad=True)
    d = torch.distributions.OneHotCategoricalStraightThrough(logits=logits)
    x = d.rsample()
    assert torch.equal(x.detach().round(), x.detach().round().clamp(0, 1))
    weight = torch.randn(4, 3)
    (got,) = torch.autograd.grad((x * weight).sum(), logits, retain_graph=True)
    (want,) = torch.autograd.grad((d.probs * weight).sum(), logits)
    assert torch.allclose(got, want)


def test_small_shapes_do_not_reach_the_ends():
    x = torch.distributions.Beta(torch.full((2000,), 1e-2), torch.full((2000,), 1e-2)).sample()
    assert bool((x > 0).all()) and bool((x < 1).all())
    assert 0.4 < (x > 0.5).float().mean().item() < 0.6
    g = torch.distributions.Gamma(torch.full((100,), 1e-3), 1.0).sample()
    assert bool((g > 0).all()) and bool(g.log().isfinite().all())


def test_single_precision_and_integer_parameters():
    for name, make in CASES.items():
        d = make(torch.distributions, lambda values: torch.tensor(values, dtype=torch.float32))
        x = d.sample((2,))
        assert x.dtype is (torch.int64 if name.startswith("Categorical") else torch.float32), name
        assert d.log_prob(x).dtype is torch.float32, name


def test_the_same_seed_gives_the_same_samples():
    for name in CASES:
        d = made(name, torch)
        torch.manual_seed(3)
        first = d.sample((2,))
        torch.manual_seed(3)
        assert torch.equal(first, d.sample((2,))), name


def test_sample_n_says_that_it_will_go():
    with pytest.warns(UserWarning, match="sample_n will be deprecated"):
        assert torch.distributions.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_wishart_draws_singular_matrices_again():
    d = torch.distributions.Wishart(torch.tensor(2.0), torch.eye(2))
    calls = []
    draw = d._drawn

    def first_singular(shape):
        calls.append(shape)
        made_now = draw(shape)
        return made_now * 0 if len(calls) == 1 else made_now

    d._drawn = first_singular
    with pytest.warns(UserWarning, match="Singular sample"):
        x = d.rsample((3,))
    assert len(calls) == 2 and bool(d.support.check(x).all())
