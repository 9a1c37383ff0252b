"""Constraints: what lies inside, what they say of themselves, and transforms into them."""

from __future__ import annotations

import pytest

import gradpack as torch
from gradpack.distributions import biject_to, constraints, transform_to
from gradpack.distributions.constraint_registry import ConstraintRegistry

c = constraints
INSIDE = {
    "boolean": (c.boolean, [0.0, 1.0], [0.5, 2.0]),
    "one_hot": (c.one_hot, [[0.0, 1.0], [1.0, 0.0]], [[1.0, 1.0], [0.5, 0.5]]),
    "nonnegative_integer": (c.nonnegative_integer, [0.0, 3.0], [-1.0, 0.5]),
    "positive_integer": (c.positive_integer, [1.0, 3.0], [0.0, 0.5]),
    "integer_interval": (c.integer_interval(1, 3), [1.0, 3.0], [0.0, 4.0, 1.5]),
    "real": (c.real, [0.0, float("inf")], [float("nan")]),
    "real_vector": (c.real_vector, [[0.0, 1.0]], [[float("nan"), 1.0]]),
    "positive": (c.positive, [1e-9, 4.0], [0.0, -1.0]),
    "nonnegative": (c.nonnegative, [0.0, 4.0], [-1.0]),
    "greater_than": (c.greater_than(2.0), [2.1], [2.0]),
    "greater_than_eq": (c.greater_than_eq(2.0), [2.0], [1.9]),
    "less_than": (c.less_than(2.0), [1.9], [2.0]),
    "unit_interval": (c.unit_interval, [0.0, 1.0], [-0.1, 1.1]),
    "interval": (c.interval(-1.0, 1.0), [-1.0, 1.0], [-1.1]),
    "half_open_interval": (c.half_open_interval(-1.0, 1.0), [-1.0], [1.0]),
    "simplex": (c.simplex, [[0.3, 0.7]], [[0.3, 0.6], [-0.3, 1.3]]),
    "multinomial": (c.multinomial(3), [[1.0, 2.0], [0.0, 1.0]], [[2.0, 2.0], [-1.0, 1.0]]),
    "lower_triangular": (c.lower_triangular, [[[-1.0, 0.0], [2.0, 3.0]]], [[[1.0, 1.0], [2.0, 3.0]]]),
    "lower_cholesky": (c.lower_cholesky, [[[1.0, 0.0], [2.0, 3.0]]], [[[-1.0, 0.0], [2.0, 3.0]]]),
    "corr_cholesky": (c.corr_cholesky, [[[1.0, 0.0], [0.6, 0.8]]], [[[1.0, 0.0], [0.6, 0.9]]]),
    "symmetric": (c.symmetric, [[[1.0, 2.0], [2.0, 1.0]]], [[[1.0, 2.0], [1.0, 1.0]]]),
    "positive_semidefinite": (c.positive_semidefinite, [[[1.0, 0.0], [0.0, 0.0]]], [[[1.0, 2.0], [2.0, 1.0]]]),
    "positive_definite": (c.positive_definite, [[[2.0, 1.0], [1.0, 2.0]]], [[[1.0, 2.0], [2.0, 1.0]]]),
    "independent": (c.independent(c.positive, 1), [[1.0, 2.0]], [[1.0, -2.0]]),
    "cat": (c.cat([c.real, c.positive], -1, [1, 1]), [-1.0, 1.0], []),
    "stack": (c.stack([c.real, c.positive], -1), [-1.0, 1.0], []),
}


@pytest.mark.parametrize("name", INSIDE)
def test_what_lies_inside(name):
    constraint, inside, outside = INSIDE[name]
    assert bool(constraint.check(torch.tensor(inside)).all())
    if outside:
        found = constraint.check(torch.tensor(outside))
        assert not bool(found.any()) and found.shape == torch.tensor(outside).shape[: -constraint.event_dim or None]
    assert constraint.is_discrete in (True, False)


def test_square_matrices_only():
    assert c.square.check(torch.zeros(2, 3, 3)).tolist() == [True, True]
    for kind in (c.square, c.symmetric, c.positive_definite, c.positive_semidefinite):
        assert kind.check(torch.zeros(2, 3, 4)).tolist() == [False, False]


def test_texts():
    texts = {
        "Real()": c.real,
        "GreaterThan(lower_bound=0.0)": c.positive,
        "LessThan(upper_bound=2)": c.less_than(2),
        "Interval(lower_bound=0.0, upper_bound=1.0)": c.unit_interval,
        "IndependentConstraint(Real(), 1)": c.real_vector,
        "MixtureSameFamilyConstraint(Real())": c.MixtureSameFamilyConstraint(c.real),
        "Multinomial()": c.multinomial(3),
    }
    assert {repr(v): v for v in texts.values()} == texts

    class Custom(c.Constraint):
        pass

    assert repr(Custom()) == "Custom()"
    with pytest.raises(NotImplementedError):
        Custom().check(torch.zeros(1))


def test_dependent_constraints():
    assert c.is_dependent(c.dependent) and not c.is_dependent(c.real)
    known = c.dependent(is_discrete=True, event_dim=1)
    assert (known.is_discrete, known.event_dim) == (True, 1)
    for name in ("is_discrete", "event_dim"):
        with pytest.raises(NotImplementedError, match=rf"\.{name} cannot be determined statically"):
            getattr(c.dependent, name)
    with pytest.raises(ValueError, match="Cannot determine validity"):
        c.dependent.check(torch.zeros(1))
    support = torch.distributions.Uniform.support
    assert c.is_dependent(support) and support.event_dim == 0
    assert torch.distributions.Uniform(1.0, 2.0).support.upper_bound.item() == 2.0


INTO = {
    "real": (c.real, (4,)),
    "positive": (c.positive, (4,)),
    "nonnegative": (c.nonnegative, (4,)),
    "greater_than": (c.greater_than(2.0), (4,)),
    "greater_than_eq": (c.greater_than_eq(-2.0), (4,)),
    "less_than": (c.less_than(-1.0), (4,)),
    "unit_interval": (c.unit_interval, (4,)),
    "interval": (c.interval(torch.tensor(-3.0, dtype=torch.float64), 5.0), (4,)),
    "half_open_interval": (c.half_open_interval(-3.0, 5.0), (4,)),
    "simplex": (c.simplex, (2, 4)),
    "lower_cholesky": (c.lower_cholesky, (2, 3, 3)),
    "positive_definite": (c.positive_definite, (2, 3, 3)),
    "positive_semidefinite": (c.positive_semidefinite, (2, 3, 3)),
    "corr_cholesky": (c.corr_cholesky, (2, 6)),
    "independent": (c.independent(c.positive, 1), (2, 3)),
    "cat": (c.cat([c.real, c.positive], -1, [1, 2]), (2, 3)),
    "stack": (c.stack([c.unit_interval, c.positive], -1), (5, 2)),
}


@pytest.mark.parametrize("registry", [biject_to, transform_to], ids=["biject_to", "transform_to"])
@pytest.mark.parametrize("name", INTO)
def test_transforms_into(name, registry):
    constraint, shape = INTO[name]
    torch.manual_seed(0)
    x = torch.randn(*shape, dtype=torch.float64)
    if registry is biject_to and name in ("lower_cholesky", "positive_definite", "positive_semidefinite"):
        with pytest.raises(NotImplementedError, match="Cannot transform _"):
            registry(constraint)
        return
    t = registry(constraint)
    y = t(x)
    assert bool(constraint.check(y).all())
    assert torch.allclose(t(t.inv(y)), y)
    if registry is biject_to:
        assert t.bijective and torch.allclose(t.inv(y), x)
        assert name == "stack" or t.log_abs_det_jacobian(x, y).shape == x.shape[: x.ndim - t.domain.event_dim]


def test_registries():
    class Custom(c.Constraint):
        pass

    registry = ConstraintRegistry()

    @registry.register(Custom)
    def factory(constraint):
        return constraint, 1

    custom = Custom()
    assert registry(custom) == (custom, 1)
    registry.register(custom, lambda constraint: 2)  # an instance stands for its class
    assert registry(Custom()) == 2
    with pytest.raises(TypeError, match="Constraint subclass or instance"):
        registry.register(3, factory)
    with pytest.raises(NotImplementedError, match="Cannot transform _Boolean constraints"):
        biject_to(c.boolean)


def test_triangles_and_vectors():
    from gradpack.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix

    for n in (1, 2, 5):
        x = torch.randn(2, n, n)
        for diag in range(-n, n):
            assert torch.equal(vec_to_tril_matrix(tril_matrix_to_vec(x, diag), diag), x.tril(diag))
    with pytest.raises(ValueError, match="lower triangular part"):
        vec_to_tril_matrix(torch.zeros(4))
    with pytest.raises(ValueError, match="is outside"):
        tril_matrix_to_vec(torch.zeros(2, 2), 2)


def test_the_distribution_function_validates_its_values() -> None:
    made = torch.distributions.GeneralizedPareto(0.0, 1.0, -0.5)
    with pytest.raises(ValueError, match="within the support"):
        made.cdf(torch.tensor(3.0))
    with pytest.raises(ValueError, match="within the support"):
        made.log_survival_function(torch.tensor(-1.0))
    assert torch.distributions.GeneralizedPareto(0.0, 1.0, -0.5, validate_args=False).cdf(torch.tensor(3.0)) == 1
