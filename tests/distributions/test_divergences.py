"""Kullback-Leibler divergences: every registered pair against samples, and how formulas are found."""

from __future__ import annotations

import math
from collections.abc import Sized
from itertools import product

import pytest
from tests.distributions.cases import made

import gradpack as torch
from gradpack.distributions import kl as table
from gradpack.distributions import kl_divergence, register_kl

dist = torch.distributions
D = torch.float64


def t(*values):
    return torch.tensor(values, dtype=D)


# Two of each class, as a batch, with the support that the others ask for where they can.
FAMILIES = {
    "Bernoulli": [lambda: dist.Bernoulli(t(0.2, 0.7)), lambda: dist.Bernoulli(t(0.6, 0.5))],
    "Beta": [lambda: dist.Beta(t(1.5, 3.0), t(2.0, 1.5)), lambda: dist.Beta(t(2.5, 1.0), t(1.0, 4.0))],
    "Binomial": [lambda: dist.Binomial(4, t(0.2, 0.7)), lambda: dist.Binomial(4, t(0.6, 0.5))],
    "Categorical": [lambda: dist.Categorical(t([0.2, 0.8], [0.5, 0.5])), lambda: dist.Categorical(t([0.4, 0.6]))],
    "Cauchy": [lambda: dist.Cauchy(t(0.0, 1.0), t(1.0, 2.0)), lambda: dist.Cauchy(t(1.0, -1.0), t(0.5, 3.0))],
    "ContinuousBernoulli": [
        lambda: dist.ContinuousBernoulli(t(0.2, 0.5)),
        lambda: dist.ContinuousBernoulli(t(0.7, 0.9)),
    ],
    "Dirichlet": [lambda: dist.Dirichlet(t([1.5, 3.0, 2.0])), lambda: dist.Dirichlet(t([2.5, 1.0, 1.0]))],
    "Exponential": [lambda: dist.Exponential(t(0.5, 3.0)), lambda: dist.Exponential(t(2.0, 1.0))],
    "Gamma": [lambda: dist.Gamma(t(1.5, 4.0), t(1.0, 2.0)), lambda: dist.Gamma(t(2.0, 1.0), t(3.0, 0.5))],
    "Geometric": [lambda: dist.Geometric(t(0.2, 0.7)), lambda: dist.Geometric(t(0.6, 0.5))],
    "Gumbel": [lambda: dist.Gumbel(t(0.0, 1.0), t(1.0, 2.0)), lambda: dist.Gumbel(t(1.0, -1.0), t(1.5, 3.0))],
    "HalfNormal": [lambda: dist.HalfNormal(t(0.5, 2.0)), lambda: dist.HalfNormal(t(1.0, 1.5))],
    "Independent": [
        lambda: dist.Independent(dist.Normal(t([0.0, 1.0], [2.0, 0.0]), t(1.0, 2.0)), 1),
        lambda: dist.Independent(dist.Normal(t(1.0, 1.0), t(2.0, 1.0)).expand([2, 2]), 1),
    ],
    "Laplace": [lambda: dist.Laplace(t(0.0, 1.0), t(1.0, 2.0)), lambda: dist.Laplace(t(1.0, -1.0), t(0.5, 3.0))],
    "LogNormal": [lambda: dist.LogNormal(t(0.0, 1.0), t(1.0, 0.5)), lambda: dist.LogNormal(t(1.0, -1.0), t(0.7, 2.0))],
    "LowRankMultivariateNormal": [
        lambda: dist.LowRankMultivariateNormal(t([0.0, 1.0], [1.0, 1.0]), t([1.0], [0.5]), t(0.5, 2.0)),
        lambda: dist.LowRankMultivariateNormal(t(1.0, 0.0), t([0.3], [-1.0]), t(1.5, 0.7)),
    ],
    "MultivariateNormal": [
        lambda: dist.MultivariateNormal(t([0.0, 1.0], [1.0, 1.0]), t([2.0, 0.5], [0.5, 1.0])),
        lambda: dist.MultivariateNormal(t(1.0, 0.0), t([1.0, -0.3], [-0.3, 1.5])),
    ],
    "Normal": [lambda: dist.Normal(t(0.0, 1.0), t(1.0, 2.0)), lambda: dist.Normal(t(1.0, -1.0), t(0.8, 3.0))],
    "OneHotCategorical": [
        lambda: dist.OneHotCategorical(t([0.2, 0.8], [0.5, 0.5])),
        lambda: dist.OneHotCategorical(t(0.4, 0.6)),
    ],
    "Pareto": [lambda: dist.Pareto(t(0.5, 2.0), t(5.0, 6.0)), lambda: dist.Pareto(t(0.3, 0.4), t(2.0, 3.0))],
    "Poisson": [lambda: dist.Poisson(t(5.0, 7.0)), lambda: dist.Poisson(t(2.0, 3.0))],
    "Uniform": [lambda: dist.Uniform(t(0.4, 0.5), t(0.8, 0.9)), lambda: dist.Uniform(t(-1.0, -0.5), t(1.5, 2.0))],
    "Wishart": [
        lambda: dist.Wishart(t(4.0, 6.0), t([2.0, 0.5], [0.5, 1.0])),
        lambda: dist.Wishart(t(5.0, 5.0), t([1.0, 0.0], [0.0, 1.0])),
    ],
}
KINDS = {(p.__name__, q.__name__) for p, q in table._KL_REGISTRY}
ABSTRACT = {("ExponentialFamily", "ExponentialFamily"), ("TransformedDistribution", "TransformedDistribution")}
PAIRS = sorted((KINDS - ABSTRACT) | {("LogNormal", "LogNormal"), ("Wishart", "Wishart")})


@pytest.mark.parametrize(("name_p", "name_q"), PAIRS)
def test_against_samples(name_p, name_q):
    torch.manual_seed(1)
    p, q = FAMILIES[name_p][0](), FAMILIES[name_q][1]()
    found = kl_divergence(p, q)
    q._validate_args = getattr(q, "base_dist", q)._validate_args = False
    n = 1000 if name_p == "Wishart" else 3000
    x = p.sample((n,))
    inside = q.support.check(x)
    if bool(found.isinf().all()):
        assert not bool(inside.all(0).any())  # values that q does not have
        return
    ratio = p.log_prob(x) - q.log_prob(x)
    error = ratio.std(0) / n**0.5
    assert found.shape == error.shape and bool(((ratio.mean(0) - found).abs() <= 5 * error + 1e-9).all())
    assert bool((found >= 0).all())


@pytest.mark.parametrize("name", FAMILIES)
def test_of_itself_is_zero(name):
    p = FAMILIES[name][0]()
    assert torch.allclose(kl_divergence(p, FAMILIES[name][0]()), torch.zeros((), dtype=D), atol=1e-9)


@pytest.mark.parametrize("name", ["Bernoulli", "Beta", "Exponential", "Gamma", "Normal", "Poisson", "Dirichlet"])
def test_bregman_divergence_is_the_closed_form(name):
    p, q = FAMILIES[name][0](), FAMILIES[name][1]()
    assert torch.allclose(table._kl_expfamily_expfamily(p, q), kl_divergence(p, q), atol=1e-9)


def test_where_one_has_values_that_the_other_has_not():
    inf = math.inf
    cases = [
        (dist.Bernoulli(t(0.5, 0.0)), dist.Bernoulli(t(0.0, 0.0)), [inf, 0.0]),
        (dist.Categorical(t([0.5, 0.5])), dist.Categorical(t([1.0, 0.0])), [inf]),
        (dist.Uniform(t(0.0, 0.0), t(2.0, 1.0)), dist.Uniform(t(0.0, 0.0), t(1.0, 2.0)), [inf, math.log(2)]),
        (dist.Uniform(t(-1.0), t(1.0)), dist.Exponential(t(1.0)), [inf]),
        (dist.Uniform(t(-1.0), t(1.0)), dist.Gamma(t(1.0), t(1.0)), [inf]),
        (dist.Uniform(t(0.5), t(1.5)), dist.Beta(t(1.0), t(1.0)), [inf]),
        (dist.Uniform(t(0.5), t(1.5)), dist.Pareto(t(1.0), t(1.0)), [inf]),
        (dist.Beta(t(1.0), t(1.0)), dist.Uniform(t(0.1), t(1.0)), [inf]),
        (dist.Pareto(t(1.0), t(2.0)), dist.Pareto(t(2.0), t(2.0)), [inf]),
        (dist.Pareto(t(1.0), t(0.5)), dist.Exponential(t(2.0)), [inf]),
        (dist.Binomial(5, t(0.5)), dist.Binomial(4, t(0.5)), [inf]),
        (dist.Poisson(t(1.0)), dist.Binomial(4, t([0.5, 0.2])), [inf, inf]),
    ]
    for p, q, expected in cases:
        assert kl_divergence(p, q).reshape(-1).tolist() == pytest.approx(expected), (p, q)


def test_gradients():
    loc = t(0.5).requires_grad_()
    assert torch.autograd.gradcheck(lambda m: kl_divergence(dist.Normal(m, 1.0), dist.Normal(0.0, 2.0)), loc)
    a = t(0.5, 2.0).requires_grad_()
    for q in (dist.Gamma(t(1.0), t(2.0)), dist.Normal(t(1.0), t(2.0)), dist.Gumbel(t(1.0), t(2.0))):
        assert torch.autograd.gradcheck(lambda v, q=q: kl_divergence(dist.Gamma(v, 1.5), q), a)


def test_refusals():
    normal = dist.Normal(0.0, 1.0)
    with pytest.raises(NotImplementedError, match="p type Normal and q type Cauchy"):
        kl_divergence(normal, dist.Cauchy(0.0, 1.0))
    with pytest.raises(NotImplementedError, match="different exponential families"):
        table._kl_expfamily_expfamily(normal, dist.Poisson(1.0))
    with pytest.raises(NotImplementedError, match="different numbers of dimensions"):
        kl_divergence(made("Independent", torch), dist.Independent(dist.Normal(torch.zeros(2, 2), 1.0), 2))
    with pytest.raises(NotImplementedError, match="different transforms"):
        kl_divergence(dist.LogNormal(0.0, 1.0), dist.TransformedDistribution(normal, dist.SigmoidTransform()))
    with pytest.raises(NotImplementedError, match=r"q\.total_count > p\.total_count"):
        kl_divergence(dist.Binomial(3, t(0.5)), dist.Binomial(4, t(0.5)))
    with pytest.raises(ValueError, match="different sizes"):
        kl_divergence(
            dist.MultivariateNormal(torch.zeros(2), torch.eye(2)), dist.MultivariateNormal(torch.zeros(3), torch.eye(3))
        )
    with pytest.raises(TypeError, match="Expected type_q to be a class"):
        register_kl(dist.Normal, "Normal")


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr(table, "_KL_REGISTRY", dict(table._KL_REGISTRY))
    monkeypatch.setattr(table, "_KL_MEMOIZE", {})


def test_the_nearest_classes_are_found(registry):
    class A(dist.Normal):
        pass

    class B(A):
        pass

    formulas = {}
    for p, q in product((A, B), repeat=2):
        if (p, q) != (B, B):
            formulas[p, q] = register_kl(p, q)(lambda x, y, p=p, q=q: (p, q))
    a, b = A(0.0, 1.0), B(0.0, 1.0)
    assert kl_divergence(a, a) == (A, A) and kl_divergence(b, a) == (B, A) and kl_divergence(a, b) == (A, B)
    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(B, B\)\. Please register_kl\(B, B\)"):
        assert kl_divergence(b, b) == (B, A)
    register_kl(B, B)(lambda x, y: "both")
    assert kl_divergence(b, b) == "both"


def test_classes_that_are_no_distributions(registry):
    register_kl(dist.Normal, Sized)(lambda p, q: "sized")  # of which lists are no subclass, but registered
    register_kl(dist.Distribution, list)(lambda p, q: "list")
    assert kl_divergence(dist.Normal(0.0, 1.0), (1,)) == "sized"
    assert kl_divergence(dist.Gamma(1.0, 1.0), [1]) == "list"
    with pytest.warns(RuntimeWarning, match=r"Please register_kl\(Normal, list\)"):
        assert kl_divergence(dist.Normal(0.0, 1.0), [1]) == "sized"
