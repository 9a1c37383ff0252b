"""Distributions against those of torch: all that they tell, on the same values."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.distributions.cases import CASES, made
from tests.distributions.test_divergences import FAMILIES
from tests.distributions.test_transforms import TABLE

import gradpack

torch = pytest.importorskip("torch")

OF_VALUES = ("log_prob", "cdf", "icdf")
OF_NOTHING = ("mean", "mode", "variance", "stddev", "entropy", "perplexity", "support", "enumerate_support")
# What is right where torch is not: see docs/differences.md.
KNOWN = {
    ("Kumaraswamy", "mode"),
    ("ContinuousBernoulli", "cdf"),
    ("ContinuousBernoulli", "icdf"),
    ("VonMises", "variance"),
}
# torch compares with a zero of single precision, and refuses these in double.
KNOWN |= {("GeneralizedPareto", what) for what in ("log_prob", "cdf", "icdf", "support")}


def outcome(call):
    """What a call gives, as numbers, or the kind of the error."""
    try:
        found = call()
    except Exception as error:
        return type(error).__name__
    if hasattr(found, "detach"):
        return found.detach().numpy()
    return repr(found).replace("gradpack.", "torch.")


def agree(ours, theirs, what):
    if isinstance(ours, str) or isinstance(theirs, str):
        assert isinstance(ours, str) and isinstance(theirs, str) and ours == theirs, (what, ours, theirs)
        return
    assert ours.dtype == theirs.dtype, what
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9, err_msg=str(what))


def told(d, name):
    value = getattr(d, name)
    return value() if callable(value) and not hasattr(value, "check") else value


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_what_it_tells(name, validate):
    gradpack.manual_seed(2)
    ours, theirs = made(name, gradpack), made(name, torch)
    ours._validate_args = theirs._validate_args = validate
    agree(repr(ours).replace("gradpack.", "torch."), repr(theirs), "repr")
    shapes = (ours.batch_shape, ours.event_shape, ours.has_rsample, ours.has_enumerate_support)
    assert shapes == (theirs.batch_shape, theirs.event_shape, theirs.has_rsample, theirs.has_enumerate_support)
    for what in OF_NOTHING:
        if (name, what) not in KNOWN:
            agree(outcome(lambda w=what: told(ours, w)), outcome(lambda w=what: told(theirs, w)), what)
    x = ours.sample((5,))
    outside = x.to(gradpack.float64) - 7.3
    u = gradpack.rand(5, *ours.batch_shape, dtype=gradpack.float64)
    for what in OF_VALUES:
        if (name, what) in KNOWN:
            continue
        for values in (u,) if what == "icdf" else (x, outside) if validate else (x,):
            same = torch.from_numpy(np.array(values.numpy()))
            mine, other = getattr(ours, what), getattr(theirs, what)
            agree(outcome(lambda f=mine, v=values: f(v)), outcome(lambda f=other, v=same: f(v)), what)


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_log_prob(name):
    gradpack.manual_seed(2)
    ours, theirs = made(name, gradpack), made(name, torch)
    x = ours.sample((5,))
    same = torch.from_numpy(np.array(x.numpy()))
    if ours.support.is_discrete or name.startswith("Wishart") or name in ("Uniform", "GeneralizedPareto"):
        return
    ours._validate_args = theirs._validate_args = False
    a, b = x.requires_grad_(), same.requires_grad_()
    ours.log_prob(a).sum().backward()
    theirs.log_prob(b).sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-6, atol=1e-9)


def pairs():
    found = {(p.__name__, q.__name__) for p, q in torch.distributions.kl._KL_REGISTRY}
    ours = {(p.__name__, q.__name__) for p, q in gradpack.distributions.kl._KL_REGISTRY}
    assert found == ours
    return sorted((p, q) for p, q in found if p in FAMILIES and q in FAMILIES)


@pytest.mark.parametrize(("name_p", "name_q"), pairs())
def test_divergences(name_p, name_q, monkeypatch):
    ours = gradpack.distributions.kl_divergence(FAMILIES[name_p][0](), FAMILIES[name_q][1]())
    import tests.distributions.test_divergences as table

    monkeypatch.setattr(table, "dist", torch.distributions)
    monkeypatch.setattr(table, "t", lambda *values: torch.tensor(values, dtype=torch.float64))
    theirs = torch.distributions.kl_divergence(FAMILIES[name_p][0](), FAMILIES[name_q][1]())
    np.testing.assert_allclose(ours.numpy(), np.broadcast_to(theirs.numpy(), ours.shape), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in TABLE if "distribution" not in n and "tensors" not in n])
def test_transforms(name, monkeypatch):
    make, draw, dense = TABLE[name]
    gradpack.manual_seed(3)
    x = draw()
    ours = make()
    import tests.distributions.test_transforms as table

    monkeypatch.setattr(table, "T", torch.distributions.transforms)
    monkeypatch.setattr(table, "torch", torch)
    monkeypatch.setattr(table, "D", torch.float64)
    kind = getattr(torch.distributions.transforms, type(ours).__name__)
    theirs = kind() if make is type(ours) else make()
    same = torch.from_numpy(np.array(x.numpy()))
    assert repr(ours) == repr(theirs) and repr(ours.inv) == repr(theirs.inv)
    assert repr(ours.domain) == repr(theirs.domain) and repr(ours.codomain) == repr(theirs.codomain)
    agree(ours(x).numpy(), theirs(same).numpy(), name)
    if name == "compose of vectors" or dense:
        mine, other = ours.log_abs_det_jacobian(x, ours(x)), theirs.log_abs_det_jacobian(same, theirs(same))
        agree(mine.numpy(), other.numpy(), name)
    agree(outcome(lambda: ours.sign), outcome(lambda: theirs.sign), name) if dense else None
    assert ours.forward_shape((5, *x.shape)) == theirs.forward_shape((5, *x.shape))


def test_gradients_by_shape_are_torchs_within_its_digits():
    rng = np.random.default_rng(0)
    a, b = np.exp(rng.uniform(-3, 5, (2, 300)))
    x = rng.beta(a, b).clip(1e-200, 1 - 1e-14)
    both = [
        library._dirichlet_grad(*(library.from_numpy(v) for v in (x, a, a + b))).numpy()
        for library in (gradpack, torch)
    ]
    np.testing.assert_allclose(*both, rtol=2e-3)
    x = rng.gamma(a).clip(1e-200)
    both = [
        library._standard_gamma_grad(*(library.from_numpy(v) for v in (a, x))).numpy() for library in (gradpack, torch)
    ]
    np.testing.assert_allclose(*both, rtol=2e-3)


def test_generalized_pareto_in_single_precision():
    ours, theirs = (
        library.distributions.GeneralizedPareto(*(library.tensor(v) for v in ([1.0, 0.0], [2.0, 0.5], [0.2, -0.4])))
        for library in (gradpack, torch)
    )
    x = np.array([[1.5, 0.1], [4.0, 1.0]], dtype=np.float32)
    for what in ("log_prob", "cdf", "icdf", "log_cdf", "log_survival_function"):
        values = x / 8 if what == "icdf" else x
        a, b = (getattr(d, what)(library.from_numpy(values)) for d, library in ((ours, gradpack), (theirs, torch)))
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


def test_names():
    ours, theirs = gradpack.distributions, torch.distributions
    assert sorted(ours.__all__) == sorted(theirs.__all__)
    assert set(theirs.constraints.__all__) == set(ours.constraints.__all__)
    assert set(theirs.transforms.__all__) == set(ours.transforms.__all__)
    for name in dir(theirs):
        if name[0] != "_":
            assert hasattr(ours, name), name
    for name in theirs.__all__:
        kind = getattr(theirs, name)
        if isinstance(kind, type):
            own = {n for c in kind.__mro__[:-1] for n in vars(c) if n[0] != "_"}
            assert not {n for n in own if not hasattr(getattr(ours, name), n)} - {"base_dist", "transforms"}, name
            constrained = kind.__dict__.get("arg_constraints")
            if isinstance(constrained, dict):
                assert repr(constrained) == repr(getattr(ours, name).arg_constraints), name


WRONG = {
    "scale": lambda D, T: D.Normal(0.0, -1.0),
    "neither": lambda D, T: D.Bernoulli(),
    "both": lambda D, T: D.Bernoulli(0.5, 0.5),
    "kind": lambda D, T: D.Normal("a", 1.0),
    "order": lambda D, T: D.Uniform(2.0, 1.0),
    "no covariance": lambda D, T: D.MultivariateNormal(T.zeros(2)),
    "scale matrix": lambda D, T: D.Wishart(T.tensor(3.0)),
    "rank": lambda D, T: D.LowRankMultivariateNormal(T.zeros(2), T.ones(3, 1), T.ones(2)),
    "count": lambda D, T: D.Multinomial(T.tensor(3), T.ones(2)),
    "simplex": lambda D, T: D.Categorical(T.tensor([0.0, 0.0])),
    "dimensions": lambda D, T: D.Dirichlet(T.tensor(1.0)),
    "no tensor": lambda D, T: D.Normal(0.0, 1.0).log_prob(1.0),
    "shape": lambda D, T: D.Normal(T.zeros(2), 1.0).log_prob(T.zeros(3)),
    "support": lambda D, T: D.Gamma(1.0, 1.0).log_prob(T.tensor(-1.0)),
    "independent": lambda D, T: D.Independent(D.Normal(0.0, 1.0), 1),
    "transform": lambda D, T: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
    "no formula": lambda D, T: D.kl_divergence(D.Normal(0.0, 1.0), D.Cauchy(0.0, 1.0)),
    "no bijection": lambda D, T: D.biject_to(D.constraints.boolean),
    "cache": lambda D, T: D.ExpTransform(cache_size=3),
}


@pytest.mark.parametrize("name", WRONG)
def test_refusals(name):
    errors = []
    for library in (gradpack, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(Exception) as caught:
                WRONG[name](library.distributions, library)
        errors.append(caught.type.__name__)
    assert errors[0] == errors[1]


SAID = {
    "independent": lambda D, T: D.constraints.independent(1, 1),
    "independent of a part": lambda D, T: D.constraints.independent(D.constraints.real, "1"),
    "less than none": lambda D, T: D.constraints.independent(D.constraints.real, -1),
    "mixture": lambda D, T: D.constraints.MixtureSameFamilyConstraint(3),
    "cat": lambda D, T: D.constraints.cat([1]),
    "lengths": lambda D, T: D.constraints.cat([D.constraints.real], 0, [1, 2]),
    "stack": lambda D, T: D.constraints.stack([1]),
    "dim": lambda D, T: D.constraints.stack([D.constraints.real], 3).check(T.ones(2)),
    "cat of transforms": lambda D, T: D.CatTransform([1]),
    "lengths of transforms": lambda D, T: D.CatTransform([D.ExpTransform()], 0, [1, 2]),
    "dim of transforms": lambda D, T: D.CatTransform([D.ExpTransform()], 3)(T.ones(2)),
    "size of transforms": lambda D, T: D.StackTransform([D.ExpTransform()])(T.ones(2)),
    "property": lambda D, T: D.constraints.dependent_property(unknown=1),
}


@pytest.mark.parametrize("name", SAID)
def test_what_errors_say(name):
    errors = []
    for library in (gradpack, torch):
        with pytest.raises((AssertionError, TypeError)) as caught:
            SAID[name](library.distributions, library)
        errors.append((caught.type, str(caught.value)))
    assert errors[0] == errors[1]
