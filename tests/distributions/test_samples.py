"""Samples: their shapes, their moments, and what of their gradient can be known: that of the expected value."""

from __future__ import annotations

import numpy as np
import pytest
from tests.distributions.cases import CASES, SCIPY, made, parameters_of

import gradpack as torch

N = 4000
WITHOUT_MOMENTS = {"Cauchy", "HalfCauchy", "Categorical", "Categorical logits", "VonMises"}
REPARAMETRIZED = [n for n in CASES if made(n, torch).has_rsample]


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


@pytest.mark.parametrize("name", REPARAMETRIZED)
def test_gradient_of_the_expected_value(name):
    """The mean of the gradients of samples is the gradient of the mean, within five times its error."""
    d = made(name, torch)
    parameters = parameters_of(getattr(d, "base_dist", d) if not parameters_of(d) else d)
    leaves = [p.detach().clone().requires_grad_() for p in parameters.values() if p.is_floating_point()]
    if not leaves or type(d).__name__ in ("Independent", "Wishart", "LowRankMultivariateNormal", "Uniform"):
        assert d.rsample((2,)).shape[0] == 2  # their parameters are held below
        return
    made_of = dict(zip(parameters, leaves, strict=True))
    try:
        again = type(d)(**made_of)
        mean = again.mean
    except (TypeError, NotImplementedError):
        return  # made of other things than it shows: Beta and the like, below
    x = again.rsample((N,))
    assert x.requires_grad
    if type(d).__name__ == "OneHotCategoricalStraightThrough" or not bool(mean.isfinite().all()):
        return
    expected = torch.autograd.grad(mean.sum(), leaves, allow_unused=True)
    for leaf, want in zip(leaves, expected, strict=True):
        (got,) = torch.autograd.grad(x.sum(), leaf, retain_graph=True)
        assert got.shape == leaf.shape
        want = torch.zeros_like(leaf) if want is None else want
        # The error of the mean, from parts of the samples.
        parts = [torch.autograd.grad(part.sum(), leaf, retain_graph=True)[0] for part in x.chunk(20)]
        error = torch.stack(parts).std(0) * 20**0.5
        assert bool(((got - N * want).abs() <= 5 * error + 1e-9 * N).all()), (name, got / N, want)


PAIRS = {
    "Beta": (torch.distributions.Beta, (0.7, 3.0)),
    "Beta of large": (torch.distributions.Beta, (30.0, 8.0)),
    "Chi2": (torch.distributions.Chi2, (3.0,)),
    "InverseGamma": (torch.distributions.InverseGamma, (6.0, 2.0)),
    "LogNormal": (torch.distributions.LogNormal, (0.2, 0.4)),
    "HalfNormal": (torch.distributions.HalfNormal, (0.7,)),
    "Gamma": (torch.distributions.Gamma, (0.3, 2.0)),
    "StudentT": (torch.distributions.StudentT, (8.0, 0.5, 2.0)),
    "FisherSnedecor": (torch.distributions.FisherSnedecor, (8.0, 20.0)),
    "Uniform": (torch.distributions.Uniform, (-1.0, 2.0)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_gradient_of_the_variance(name):
    """As above, of the second moment: it sees every parameter."""
    kind, numbers = PAIRS[name]
    leaves = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in numbers]
    d = kind(*leaves)
    x = d.rsample((N,))
    for leaf, want in zip(
        leaves, torch.autograd.grad(d.variance + d.mean.square(), leaves, retain_graph=True), strict=True
    ):
        squares = x.square()
        parts = [torch.autograd.grad(part.mean(), leaf, retain_graph=True)[0] for part in squares.chunk(25)]
        got, error = torch.stack(parts).mean(), torch.stack(parts).std() / 5
        assert abs(got - want) <= 5 * error + 1e-9, (got, want)


def test_gradients_of_vectors():
    loc = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    factor = torch.tensor([[1.0], [2.0]], dtype=torch.float64, requires_grad=True)
    diag = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    d = torch.distributions.LowRankMultivariateNormal(loc, factor, diag)
    x = d.rsample((20000,))
    second = (x.unsqueeze(-1) * x.unsqueeze(-2)).mean(0)  # the covariance: W W^T + D
    got = torch.autograd.grad(second[0, 1], [factor, diag], retain_graph=True)
    assert torch.allclose(got[0], torch.tensor([[2.0], [1.0]], dtype=torch.float64), atol=0.15)
    assert torch.allclose(got[1], torch.zeros(2, dtype=torch.float64), atol=0.05)
    df = torch.tensor(6.0, dtype=torch.float64, requires_grad=True)
    scale = torch.eye(2, dtype=torch.float64, requires_grad=True)
    w = torch.distributions.Wishart(df, scale_tril=scale).rsample((4000,)).mean(0)
    (slope,) = torch.autograd.grad(w[0, 0], df, retain_graph=True)
    assert slope.item() == pytest.approx(1.0, abs=0.1)
    (slope,) = torch.autograd.grad(w[0, 0], scale)
    assert slope[0, 0].item() == pytest.approx(12.0, abs=0.6)


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
