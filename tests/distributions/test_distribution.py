"""What all distributions have: checks, expand, quantiles, entropies, texts, copies; and those of single ones."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
import warnings

import pytest
from tests.distributions.cases import CASES, made

import gradpack as torch
from gradpack.distributions import constraints

dist = torch.distributions
D = torch.float64
SAMPLES = 1000


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(11)


# -- checks of arguments --


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: dist.Normal(0.0, -1.0),
            r"Expected parameter scale \(Tensor of shape \(\)\) of distribution Normal\(loc",
        ),
        (lambda: dist.Normal(math.nan, 1.0), "Expected parameter loc"),
        (lambda: dist.Normal("a", 1.0), "must all be instances of Number"),
        (lambda: dist.Uniform(1.0, 1.0), "LessThan"),
        (lambda: dist.Bernoulli(1.5), "Expected parameter probs"),
        (lambda: dist.Bernoulli(), "Either `probs` or `logits`"),
        (lambda: dist.Bernoulli(0.5, logits=0.0), "Either `probs` or `logits`"),
        (lambda: dist.Binomial(1.5, torch.tensor(0.5)), "Expected parameter total_count"),
        (lambda: dist.Geometric(torch.tensor([0.0])), "to be positive"),
        (lambda: dist.Categorical(torch.tensor([-1.0, 2.0])), "Expected parameter probs"),
        (lambda: dist.Categorical(torch.tensor(1.0)), "at least one-dimensional"),
        (lambda: dist.Dirichlet(torch.tensor(1.0)), "at least one-dimensional"),
        (lambda: dist.MultivariateNormal(torch.zeros(2)), "Exactly one of"),
        (lambda: dist.MultivariateNormal(torch.zeros(2), -torch.eye(2)), "Expected parameter covariance_matrix"),
        (lambda: dist.MultivariateNormal(torch.tensor(0.0), torch.eye(2)), "loc must be at least one-dimensional"),
        (lambda: dist.MultivariateNormal(torch.zeros(2), torch.ones(2)), "at least two-dimensional"),
        (lambda: dist.LowRankMultivariateNormal(torch.zeros(2), torch.ones(3, 1), torch.ones(2)), "shape 2 x m"),
        (lambda: dist.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(3)), "cov_diag must be"),
        (lambda: dist.LowRankMultivariateNormal(torch.zeros(3, 2), torch.ones(2, 2, 1), torch.ones(2)), "Incompatible"),
        (lambda: dist.Wishart(torch.tensor(0.5), torch.eye(2)), "greater than ndim - 1"),
        (lambda: dist.LKJCholesky(1), "dim to be an integer"),
        (lambda: dist.Independent(dist.Normal(0.0, 1.0), 1), "reinterpreted_batch_ndims"),
        (lambda: dist.TransformedDistribution(dist.Normal(0.0, 1.0), 3), "transforms must be a Transform"),
        (lambda: dist.TransformedDistribution(dist.Normal(0.0, 1.0), dist.StickBreakingTransform()), "size at least 1"),
        (lambda: dist.MixtureSameFamily(dist.Normal(0.0, 1.0), dist.Normal(0.0, 1.0)), "Mixture distribution needs"),
        (lambda: dist.MixtureSameFamily(dist.Categorical(torch.ones(2)), 3), "Component distribution needs"),
        (
            lambda: dist.MixtureSameFamily(dist.Categorical(torch.ones(2)), dist.Normal(torch.zeros(3), 1.0)),
            "does not equal",
        ),
        (
            lambda: dist.MixtureSameFamily(dist.Categorical(torch.ones(3, 2)), dist.Normal(torch.zeros(2, 2), 1.0)),
            "not compatible",
        ),
    ],
)
def test_wrong_parameters(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_wrong_parameters_of_other_types():
    with pytest.raises(NotImplementedError, match="inhomogeneous total_count"):
        dist.Multinomial(torch.tensor(3), torch.ones(2))
    with pytest.raises(AssertionError, match="Exactly one of"):
        dist.Wishart(torch.tensor(3.0))
    with pytest.warns(UserWarning, match="Low df values"):
        dist.Wishart(torch.tensor(1.5), torch.eye(2))


def test_wrong_values():
    d = dist.Normal(torch.zeros(2), 1.0)
    with pytest.raises(ValueError, match="must be a Tensor"):
        d.log_prob(1.0)
    with pytest.raises(ValueError, match="not broadcastable"):
        d.log_prob(torch.zeros(3))
    with pytest.raises(ValueError, match="within the support"):
        d.log_prob(torch.tensor(math.nan))
    with pytest.raises(ValueError, match="must match event_shape"):
        dist.Dirichlet(torch.ones(3)).log_prob(torch.ones(2) / 2)
    with pytest.raises(ValueError, match=r"IntegerInterval\(lower_bound=0, upper_bound=1\)"):
        dist.Categorical(torch.ones(2)).log_prob(torch.tensor(2))
    loose = dist.Normal(0.0, 1.0, validate_args=False)
    assert loose.log_prob(0.0).item() == pytest.approx(-0.5 * math.log(2 * math.pi))
    assert dist.Uniform(0.0, 1.0, validate_args=False).log_prob(torch.tensor(2.0)).item() == -math.inf


def test_default_of_checking():
    assert dist.Distribution._validate_args is True
    try:
        dist.Distribution.set_default_validate_args(False)
        dist.Normal(0.0, -1.0)
        with pytest.raises(ValueError):
            dist.Normal(0.0, -1.0, validate_args=True)
    finally:
        dist.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        dist.Distribution.set_default_validate_args(3)


def test_a_distribution_that_says_nothing():
    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        d = dist.Distribution()
    for name in ("mean", "mode", "variance", "stddev", "support", "arg_constraints"):
        with pytest.raises(NotImplementedError):
            getattr(d, name)
    for call in (d.sample, d.rsample, d.entropy, d.perplexity, d.enumerate_support, lambda: d.expand([2])):
        with pytest.raises(NotImplementedError):
            call()
    for call in (d.log_prob, d.cdf, d.icdf):
        with pytest.raises(NotImplementedError):
            call(torch.zeros(()))
    with pytest.warns(UserWarning, match="does not define `support`"):
        d._validate_sample(torch.zeros(()))


# -- expand --


@pytest.mark.parametrize("name", CASES)
def test_expand(name):
    d = made(name, torch)
    x = d.sample()
    for front in ((3,), (2, 3)):
        wide = d.expand(front + d.batch_shape)
        assert type(wide) is type(d)
        assert wide.batch_shape == front + d.batch_shape and wide.event_shape == d.event_shape
        assert wide.sample().shape == front + d.batch_shape + d.event_shape
        assert torch.allclose(wide.log_prob(x), d.log_prob(x).expand(wide.batch_shape))
        again = wide.expand((2, *wide.batch_shape))
        assert again.batch_shape == (2, *wide.batch_shape) and again.log_prob(x).shape == again.batch_shape
        try:
            mean = d.mean
        except NotImplementedError:
            continue
        assert torch.allclose(wide.mean, mean.expand(wide.batch_shape + d.event_shape), equal_nan=True)
        assert wide.variance.shape == wide.batch_shape + d.event_shape


def test_expand_of_subclasses():
    class Plain(dist.Normal):
        pass

    assert type(Plain(0.0, 1.0).expand([2])) is Plain

    class Unit(dist.Normal):
        def __init__(self, loc, name):
            self.name = name
            super().__init__(loc, 1.0)

    with pytest.raises(NotImplementedError, match=r"must also define a custom \.expand\(\)"):
        Unit(0.0, "a").expand([2])

    class Full(Unit):
        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Full, _instance)
            new.name = self.name
            return super().expand(batch_shape, _instance=new)

    wide = Full(0.0, "a").expand([2])
    assert type(wide) is Full and wide.name == "a" and wide.loc.shape == (2,)

    class Mine(dist.TransformedDistribution):
        def __init__(self, scale):
            super().__init__(dist.Normal(0.0, scale), dist.ExpTransform())

    with pytest.raises(NotImplementedError, match="Mine of TransformedDistribution"):
        Mine(1.0).expand([2])


def test_expanded_parameters_share_memory_and_gradients():
    loc = torch.zeros(2, requires_grad=True)
    dist.Normal(loc, 1.0).expand([3, 2]).log_prob(torch.ones(3, 2)).sum().backward()
    assert loc.grad.tolist() == [3.0, 3.0]


# -- functions --


@pytest.mark.parametrize("name", CASES)
def test_quantiles(name):
    d = made(name, torch)
    u = torch.linspace(0.05, 0.95, 7, dtype=D).reshape(7, *([1] * len(d.batch_shape)))
    try:
        x = d.icdf(u)
    except NotImplementedError:
        return
    assert torch.allclose(d.cdf(x), u.expand(x.shape), atol=1e-9)
    at = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(d.cdf(at).sum(), at)
    assert torch.allclose(slope.log(), d.log_prob(at.detach()), atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_entropy(name):
    d = made(name, torch)
    try:
        found = d.entropy()
    except NotImplementedError:
        return
    logs = d.log_prob(d.sample((SAMPLES,)))
    error = logs.std(0) / SAMPLES**0.5
    assert found.shape == d.batch_shape and bool(((found + logs.mean(0)).abs() <= 5 * error + 1e-9).all())
    assert torch.allclose(d.perplexity(), found.exp())


@pytest.mark.parametrize("name", ["Bernoulli", "ContinuousBernoulli", "Exponential", "Gamma", "Normal", "Wishart"])
def test_entropy_of_exponential_families(name):
    d = made(name, torch)
    assert torch.allclose(dist.ExponentialFamily.entropy(d), d.entropy(), atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_mode_is_the_most_probable_value(name):
    d = made(name, torch)
    try:
        mode = d.mode
    except NotImplementedError:
        return
    if name == "Uniform":
        assert bool(mode.isnan().all())
        return
    d._validate_args = False  # a mode at the end of the support, and NaN where there is none
    best = d.log_prob(mode)
    others = d.log_prob(d.sample((200,)))
    assert bool(best.isfinite().any()) and bool((others <= best + 1e-9)[:, best.isfinite()].all())


def test_modes_at_the_ends():
    t = torch.tensor
    assert dist.Weibull(t([1.0, 2.0]), t([0.5, 1.0])).mode.tolist() == [0.0, 0.0]
    assert dist.Gamma(t([0.5, 3.0]), t([1.0, 2.0])).mode.tolist() == [0.0, 1.0]
    assert dist.Dirichlet(t([0.5, 0.6])).mode.tolist() == [0.0, 1.0]
    assert math.isnan(dist.Bernoulli(0.5).mode.item()) and dist.Bernoulli(0.6).mode.item() == 1.0
    assert dist.Kumaraswamy(t(2.0, dtype=D), t(2.0, dtype=D)).mode.item() == pytest.approx(math.sqrt(1 / 3))


@pytest.mark.parametrize("name", CASES)
def test_log_prob_differentiates(name):
    d = made(name, torch)
    x = d.sample((2,))
    if d.support.is_discrete or type(d).__name__ in (
        "LKJCholesky",
        "Wishart",
        "LogisticNormal",
        "RelaxedOneHotCategorical",
    ):
        return
    if type(d).__name__ == "Dirichlet":
        return
    d._validate_args = False
    assert torch.autograd.gradcheck(lambda v: d.log_prob(v), x.requires_grad_())


def test_texts_copies_and_pickles():
    for name in CASES:
        d = made(name, torch)
        copies = [copy.deepcopy(d), pickle.loads(pickle.dumps(d))]
        assert {repr(d)} == {repr(again) for again in copies}, name
        x = d.sample()
        for again in copies:
            assert torch.allclose(again.log_prob(x), d.log_prob(x)), name
    assert repr(dist.Normal(0.0, torch.tensor([1.0]))) == "Normal(loc: tensor([0.]), scale: tensor([1.]))"
    assert repr(dist.Normal(torch.zeros(2, 3), 1.0)).startswith("Normal(loc: gradpack.Size([2, 3])")
    assert repr(made("Independent", torch)).endswith(", 1)")


def test_attributes_made_at_first_use_differentiate():
    logits = torch.zeros(2, requires_grad=True)
    d = dist.Bernoulli(logits=logits)
    with torch.no_grad():
        probs = d.probs
    assert probs.requires_grad and d.probs is probs
    covariance = torch.eye(2, dtype=D, requires_grad=True)
    d = dist.MultivariateNormal(torch.zeros(2, dtype=D), covariance)
    assert torch.allclose(d.scale_tril @ d.scale_tril.mT, covariance)
    assert torch.allclose(d.precision_matrix, covariance.inverse()) and d.covariance_matrix.shape == (2, 2)


def test_three_ways_to_give_a_covariance():
    a = torch.randn(3, 3, dtype=D)
    covariance = a @ a.T + torch.eye(3, dtype=D)
    loc, x = torch.randn(3, dtype=D), torch.randn(5, 3, dtype=D)
    ways = {"covariance_matrix": covariance, "precision_matrix": covariance.inverse()}
    ways["scale_tril"] = torch.linalg.cholesky(covariance)
    made_of = [dist.MultivariateNormal(loc, **{name: value}) for name, value in ways.items()]
    for d in made_of:
        assert torch.allclose(d.log_prob(x), made_of[0].log_prob(x))
        for name, value in ways.items():
            assert torch.allclose(getattr(d, name), value)
    low = dist.LowRankMultivariateNormal(loc, a[:, :2], covariance.diagonal())
    full = dist.MultivariateNormal(loc, a[:, :2] @ a[:, :2].T + covariance.diagonal().diag())
    for name in ("covariance_matrix", "precision_matrix", "scale_tril", "variance"):
        assert torch.allclose(getattr(low, name), getattr(full, name))
    assert torch.allclose(low.log_prob(x), full.log_prob(x)) and torch.allclose(low.entropy(), full.entropy())


def test_gradients_next_to_special_concentrations():
    c = torch.zeros(1, dtype=D, requires_grad=True)  # generalised Pareto numbers that are exponential ones
    d = dist.GeneralizedPareto(0.0, 1.0, c)
    x = torch.tensor([0.7], dtype=D)
    (slope,) = torch.autograd.grad(d.log_prob(x), c, retain_graph=True)
    assert slope.item() == pytest.approx(0.7 * (0.35 - 1))
    p = torch.tensor([0.5], dtype=D, requires_grad=True)  # continuous Bernoulli numbers that are uniform ones
    (slope,) = torch.autograd.grad(dist.ContinuousBernoulli(p).icdf(torch.tensor([0.3], dtype=D)), p)
    assert slope.item() == pytest.approx(4 * 0.3 * 0.7 / 2)  # d logit = 4 dp


def test_implicit_gradients():
    """Against differences of SciPy's quantiles."""
    special = pytest.importorskip("scipy.special")
    a = torch.tensor([0.05, 0.7, 3.0, 40.0, 2000.0], dtype=D)
    b = torch.tensor([2.0, 0.3, 5.0, 30.0, 900.0], dtype=D)
    u = torch.tensor([0.9, 0.1, 0.5, 0.99, 0.3], dtype=D)
    x = torch.from_numpy(special.betaincinv(a.numpy(), b.numpy(), u.numpy()))
    h = 1e-4 * a.numpy()
    upper, lower = (special.betaincinv(a.numpy() + s * h, b.numpy(), u.numpy()) for s in (1, -1))
    found = torch._dirichlet_grad(x, a, a + b) * (1 - x)
    assert torch.allclose(found, torch.from_numpy((upper - lower) / (2 * h)), rtol=1e-5)
    x = torch.from_numpy(special.gammaincinv(a.numpy(), u.numpy()))
    upper, lower = (special.gammaincinv(a.numpy() + s * h, u.numpy()) for s in (1, -1))
    assert torch.allclose(torch._standard_gamma_grad(a, x), torch.from_numpy((upper - lower) / (2 * h)), rtol=1e-5)
    # In single precision, too, of large shapes.
    single = torch._standard_gamma_grad(a.float(), x.float())
    assert torch.allclose(single.to(D), torch._standard_gamma_grad(a, x), rtol=1e-4)


def test_duals_have_tangents_of_zero():
    from gradpack.autograd import forward_ad

    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.tensor(0.5), torch.tensor(1.0))
        for drawn in (torch.bernoulli(x), torch.normal(x, 1.0), torch.normal(0.0, x)):
            assert forward_ad.unpack_dual(drawn).tangent.item() == 0.0


def test_dependent_supports():
    assert constraints.is_dependent(dist.Binomial.support) and dist.Binomial.support.is_discrete
    d = dist.MixtureSameFamily(dist.Categorical(torch.ones(2)), dist.Uniform(torch.tensor([0.0, 1.0]), 2.0))
    assert d.support.check(torch.tensor([0.5, 1.5])).tolist() == [False, True]


def test_names_of_modules():
    from gradpack.distributions import studentT
    from gradpack.distributions.half_normal import HalfNormal
    from gradpack.distributions.multivariate_normal import LowRankMultivariateNormal

    assert HalfNormal is dist.HalfNormal and LowRankMultivariateNormal is dist.LowRankMultivariateNormal
    assert studentT.StudentT is dist.StudentT and studentT.__name__ == "gradpack.distributions.studentT"


def test_imported_when_asked_for():
    code = "import gradpack, sys; assert not any('distributions' in n for n in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in CASES:
            d = made(name, torch)
            d.log_prob(d.sample((2,)))
