"""Densities and probabilities: as SciPy has them, and with a sum or an integral of one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.distributions.cases import CASES, SCIPY, made

import gradpack as torch

DISCRETE = ["Bernoulli", "Binomial", "Geometric", "NegativeBinomial", "Poisson", "Bernoulli logits", "Binomial logits"]
# Numbers over which to integrate: a wide middle, where the rest is known to be negligible.
RANGES = {
    "Beta": (0, 1),
    "Chi2": (0, 80),
    "ContinuousBernoulli": (0, 1),
    "Exponential": (0, 80),
    "FisherSnedecor": (0, 2000),
    "Gamma": (0, 120),
    "Gumbel": (-20, 60),
    "HalfNormal": (0, 30),
    "InverseGamma": (0, 500),
    "Kumaraswamy": (0, 1),
    "Laplace": (-60, 60),
    "LogNormal": (0, 200),
    "MixtureSameFamily": (-30, 30),
    "Normal": (-30, 30),
    "RelaxedBernoulli": (0, 1),
    "StudentT": (-900, 900),
    "TransformedDistribution": (0, 1),
    "VonMises": (-np.pi, np.pi),
    "Weibull": (0, 60),
}


@pytest.mark.parametrize("name", SCIPY)
def test_as_in_scipy(name):
    stats = pytest.importorskip("scipy.stats")
    torch.manual_seed(0)
    d = made(name, torch)
    values = d.sample((20,))
    found = d.log_prob(values).numpy()
    for i, theirs in enumerate(SCIPY[name](stats)):
        x = values[:, i].numpy()
        logs = theirs.logpdf if hasattr(theirs, "logpdf") else theirs.logpmf
        if name == "Dirichlet":
            expected = np.array([logs(row / row.sum()) for row in x])
        elif name == "Wishart":
            expected = logs(np.moveaxis(x, 0, -1))
        elif hasattr(theirs, "dist") and not hasattr(theirs.dist, "pdf") and not hasattr(theirs, "logpdf"):
            expected = theirs.logpmf(x)
        else:
            expected = theirs.logpmf(x) if name in (*DISCRETE, "Multinomial") else theirs.logpdf(x)
        np.testing.assert_allclose(found[:, i], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", sorted(set(SCIPY) - {"Dirichlet", "Multinomial", "MultivariateNormal", "Wishart"}))
def test_distribution_function_as_in_scipy(name):
    stats = pytest.importorskip("scipy.stats")
    torch.manual_seed(0)
    d = made(name, torch)
    values = d.sample((20,))
    try:
        found = d.cdf(values)
    except NotImplementedError:
        assert name in (*DISCRETE, "Beta", "FisherSnedecor", "StudentT", "VonMises")  # nor has torch
        return
    for i, theirs in enumerate(SCIPY[name](stats)):
        np.testing.assert_allclose(found[:, i].numpy(), theirs.cdf(values[:, i].numpy()), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", DISCRETE)
def test_probabilities_sum_to_one(name):
    d = made(name, torch)
    values = torch.arange(300, dtype=torch.float64).reshape(300, *([1] * len(d.batch_shape)))
    inside = d.support.check(values).to(torch.float64)
    loose = CASES[name](torch.distributions, lambda v: torch.tensor(v, dtype=torch.float64))
    loose._validate_args = False
    total = torch.where(inside > 0, loose.log_prob(values).exp(), 0.0).sum(0)
    assert torch.allclose(total, torch.ones_like(total), atol=1e-9)


@pytest.mark.parametrize("name", RANGES)
def test_densities_integrate_to_one(name):
    low, high = RANGES[name]
    d = made(name, torch)
    # Dense near the ends, where a density may be infinite: steps in u of x = low + (high - low) u² / (u² + (1 - u)²).
    u = np.linspace(0, 1, 10001)[1:-1]
    rise = u**2 / (u**2 + (1 - u) ** 2)
    slope = 2 * u * (1 - u) / (u**2 + (1 - u) ** 2) ** 2
    x = torch.from_numpy(low + (high - low) * rise).reshape(-1, *([1] * len(d.batch_shape)))
    density = d.log_prob(x).exp() * torch.from_numpy(slope * (high - low)).reshape(x.shape)
    total = density.sum(0) * (u[1] - u[0])
    assert torch.allclose(total, torch.ones_like(total), atol=1e-3), total


@pytest.mark.parametrize(
    "name", ["Categorical", "Categorical logits", "OneHotCategorical", "Bernoulli", "Binomial logits"]
)
def test_enumerated_values_have_all_of_the_probability(name):
    d = made(name, torch)
    values = d.enumerate_support()
    assert values.shape == (len(values), *d.batch_shape, *d.event_shape)
    assert d.enumerate_support(expand=False).shape == (len(values), *([1] * len(d.batch_shape)), *d.event_shape)
    total = d.log_prob(values).exp().sum(0)
    assert torch.allclose(total, torch.ones_like(total))


def test_probability_of_impossible_counts():
    d = torch.distributions.Multinomial(2, torch.tensor([0.0, 1.0]))
    assert d.log_prob(torch.tensor([0.0, 2.0])).item() == pytest.approx(0.0, abs=1e-6)
    logits = torch.tensor([-float("inf"), 0.0])
    d = torch.distributions.Multinomial(2, logits=logits, validate_args=False)
    assert d.log_prob(torch.tensor([0.0, 2.0])).item() == 0.0
    d = torch.distributions.NegativeBinomial(0.0, torch.tensor(0.5))
    assert d.log_prob(torch.tensor(0.0)).item() == 0.0


def test_lkj_density_is_that_of_matrices():
    """By the determinant of a correlation of 2 rows, whose density is explicit: (1 - r²)^(c - 1), over its integral."""
    r = torch.linspace(-0.9, 0.9, 7, dtype=torch.float64)
    root = (1 - r * r).sqrt()
    rows = torch.stack([torch.stack([torch.ones_like(r), 0 * r], -1), torch.stack([r, root], -1)], -2)
    c = 2.5
    d = torch.distributions.LKJCholesky(2, torch.tensor(c, dtype=torch.float64))
    grid = np.linspace(-1, 1, 200001)
    integral = np.trapezoid((1 - grid**2) ** (c - 1), grid)
    # dr = (dr/dL21) dL21, and L21 is r itself.
    assert torch.allclose(d.log_prob(rows).exp(), (1 - r * r) ** (c - 1) / integral, rtol=1e-6)
