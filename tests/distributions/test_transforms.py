"""Transforms: inverses, log-determinants against the Jacobian, shapes, caches, equality."""

from __future__ import annotations

import copy
import pickle

import pytest

import gradpack as torch
from gradpack.autograd.functional import jacobian
from gradpack.distributions import constraints
from gradpack.distributions import transforms as T

D = torch.float64


def numbers(*shape):
    return torch.randn(*shape, dtype=D)


def positive(*shape):
    return numbers(*shape).exp()


def matrices():
    return numbers(2, 3, 3)


# name: the transform, what to give it, and whether its log-determinant is known.
TABLE = {
    "abs": (T.AbsTransform, lambda: positive(4), False),
    "affine": (lambda: T.AffineTransform(0.5, -2.0), lambda: numbers(4), True),
    "affine of tensors": (lambda: T.AffineTransform(numbers(4), positive(4)), lambda: numbers(4), True),
    "affine of vectors": (
        lambda: T.AffineTransform(1.0, torch.tensor([2.0, 3.0], dtype=D), 1),
        lambda: numbers(3, 2),
        True,
    ),
    "cat": (
        lambda: T.CatTransform([T.ExpTransform(), T.AffineTransform(0.0, 3.0)], 0, [2, 1]),
        lambda: numbers(3),
        True,
    ),
    "compose": (
        lambda: T.ComposeTransform([T.AffineTransform(0.0, 0.5), T.ExpTransform(), T.AffineTransform(1.0, 2.0)]),
        lambda: numbers(4),
        True,
    ),
    "compose of vectors": (
        lambda: T.ComposeTransform([T.AffineTransform(0.0, 0.5), T.StickBreakingTransform()]),
        lambda: numbers(2, 3),
        True,
    ),
    "correlations": (T.CorrCholeskyTransform, lambda: numbers(6), True),
    "distribution": (
        lambda: T.CumulativeDistributionTransform(torch.distributions.Normal(numbers(4), 1.0)),
        lambda: numbers(4),
        True,
    ),
    "exp": (T.ExpTransform, lambda: numbers(4), True),
    "identity": (lambda: T.identity_transform, lambda: numbers(4), True),
    "independent": (lambda: T.IndependentTransform(T.ExpTransform(), 1), lambda: numbers(2, 3), True),
    "lower cholesky": (T.LowerCholeskyTransform, lambda: matrices().tril(), False),
    "positive definite": (T.PositiveDefiniteTransform, lambda: matrices().tril(), False),
    "power": (lambda: T.PowerTransform(torch.tensor(1.5, dtype=D)), lambda: positive(4), True),
    "power down": (lambda: T.PowerTransform(torch.tensor(-2.0, dtype=D)), lambda: positive(4), True),
    "reshape": (lambda: T.ReshapeTransform((2, 3), (6,)), lambda: numbers(2, 3), True),
    "sigmoid": (T.SigmoidTransform, lambda: numbers(4), True),
    "softmax": (T.SoftmaxTransform, lambda: numbers(2, 4).log_softmax(-1), False),
    "softplus": (T.SoftplusTransform, lambda: numbers(4), True),
    "stack": (
        lambda: T.StackTransform([T.ExpTransform(), T.TanhTransform(), T.AffineTransform(1.0, 2.0)], -1),
        lambda: numbers(2, 3),
        True,
    ),
    "stick breaking": (T.StickBreakingTransform, lambda: numbers(3), True),
    "tanh": (T.TanhTransform, lambda: numbers(4), True),
}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(5)


def table():
    """Every transform, and its inverse, with an argument."""
    for name, (make, draw, dense) in TABLE.items():
        yield pytest.param(make, draw, False, dense, id=name)
        if name not in ("abs", "softmax"):
            yield pytest.param(make, draw, True, dense, id=f"{name} inverse")


def transform_of(make, draw, inverse):
    t, x = make(), draw()
    return (t.inv, t(x)) if inverse else (t, x)


@pytest.mark.parametrize(("make", "draw", "inverse", "dense"), list(table()))
def test_inverse_and_sets(make, draw, inverse, dense):
    t, x = transform_of(make, draw, inverse)
    y = t(x)
    assert torch.allclose(t.inv(y), x, atol=1e-9)
    assert bool(t.domain.check(x).all()) and bool(t.codomain.check(y).all())
    assert y.shape == t.forward_shape(x.shape) and x.shape == t.inverse_shape(y.shape)
    assert t.inv.inv is t and t.inv.domain is not None
    assert x.ndim - t.domain.event_dim == y.ndim - t.codomain.event_dim
    assert (t.inv.domain.event_dim, t.inv.codomain.event_dim) == (t.codomain.event_dim, t.domain.event_dim)


def volume(t, x):
    """`log |dy/dx|` of one value: of the coordinates of y that are free."""
    if isinstance(t.codomain, type(constraints.simplex)):
        return jacobian(lambda v: t(v)[..., :-1], x).slogdet().logabsdet
    if isinstance(t.codomain, type(constraints.corr_cholesky)):
        return jacobian(lambda v: torch.distributions.utils.tril_matrix_to_vec(t(v), -1), x).slogdet().logabsdet
    dense = jacobian(t, x)
    return dense.reshape(x.numel(), -1).slogdet().logabsdet


@pytest.mark.parametrize("name", [n for n, (_, _, dense) in TABLE.items() if dense])
def test_log_determinant_is_that_of_the_jacobian(name):
    make, draw, _ = TABLE[name]
    t, x = make(), draw()
    y = t(x)
    found = t.log_abs_det_jacobian(x, y)
    assert name == "stack" or found.shape == x.shape[: x.ndim - t.domain.event_dim]
    if x.ndim == t.domain.event_dim:
        expected = volume(t, x)
    elif t.domain.event_dim:
        expected = sum(volume(t, row) for row in x)
    else:
        expected = volume(t, x)
    assert torch.allclose(found.sum(), expected, atol=1e-8)
    assert torch.allclose(t.inv.log_abs_det_jacobian(y, x), -found)


@pytest.mark.parametrize("name", TABLE)
def test_gradients(name):
    make, draw, _ = TABLE[name]
    t, x = make(), draw().requires_grad_()
    assert torch.autograd.gradcheck(lambda v: t(v), x)


@pytest.mark.parametrize("name", TABLE)
def test_equality_and_copies(name):
    make, draw, _ = TABLE[name]
    t, x = make(), draw()
    y = t(x)
    assert repr(t).startswith(type(t).__name__) and t == t  # noqa: PLR0124 - equality is defined
    assert t != T.SigmoidTransform(cache_size=0) or name == "sigmoid"
    for again in (copy.deepcopy(t), pickle.loads(pickle.dumps(t)), t.with_cache(1), t.with_cache(1).with_cache(0)):
        assert torch.equal(again(x), y) and torch.allclose(again.inv(y), x, atol=1e-9)
    cached = t.with_cache(1)
    z = cached(x)
    if name != "identity":
        assert cached.inv(z) is x and cached(x) is z
    assert cached.with_cache(1) is cached


def test_signs():
    assert T.AffineTransform(0.0, -2.0).sign == -1 and T.AffineTransform(0.0, 2.0).sign == 1
    assert T.AffineTransform(0.0, torch.tensor([-1.0, 3.0])).sign.tolist() == [-1.0, 1.0]
    assert T.PowerTransform(torch.tensor(-2.0)).sign.item() == -1
    assert T.ComposeTransform([T.ExpTransform(), T.AffineTransform(0, -1)]).sign == -1
    with pytest.raises(NotImplementedError):
        T.AbsTransform().sign


def test_ends_of_the_range():
    """Nothing is infinite, or outside of a set by rounding, where torch's is not."""
    far = torch.tensor([-200.0, 200.0])
    y = T.SigmoidTransform()(far)
    assert bool(((y > 0) & (y < 1)).all()) and bool(T.SigmoidTransform().inv(torch.tensor([0.0, 1.0])).isfinite().all())
    simplex = T.StickBreakingTransform()(far)
    assert bool(constraints.simplex.check(simplex)) and bool((simplex > 0).all())
    assert bool(constraints.corr_cholesky.check(T.CorrCholeskyTransform()(torch.tensor([200.0, -200.0, 0.0]))))


def test_refusals():
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        T.ExpTransform(cache_size=2)
    with pytest.raises(ValueError, match="different numbers of elements"):
        T.ReshapeTransform((2, 3), (5,))
    with pytest.raises(ValueError, match="Shape mismatch"):
        T.ReshapeTransform((2, 3), (6,))(torch.zeros(3, 3))
    with pytest.raises(ValueError, match="Too few dimensions"):
        T.StickBreakingTransform().forward_shape(())
    with pytest.raises(ValueError, match="not a flattened lower-diagonal"):
        T.CorrCholeskyTransform().forward_shape((4,))
    with pytest.raises(ValueError, match="not square"):
        T.CorrCholeskyTransform().inverse_shape((4, 3))
    with pytest.raises(ValueError, match="Too few dimensions"):
        T.IndependentTransform(T.ExpTransform(), 1)(torch.tensor(1.0))
    with pytest.raises(AssertionError, match="must equal length 2"):
        T.CatTransform([T.ExpTransform(), T.ExpTransform()])(torch.zeros(3))
    with pytest.raises(ValueError, match=r"\.domain\.event_dim"):
        T.CorrCholeskyTransform().event_dim
    for t in (T.AbsTransform(), T.SoftmaxTransform()):
        with pytest.raises(NotImplementedError):
            t.log_abs_det_jacobian(torch.zeros(2), torch.zeros(2))
    with pytest.raises(NotImplementedError):
        T.Transform()(torch.zeros(2))


def test_inverses_go_with_who_holds_them():
    import gc
    import weakref

    t = T.ExpTransform()
    inverse = t.inv
    assert t.inv is inverse
    gone = weakref.ref(t)
    del t
    assert gone() is not None, "an inverse holds what it inverts"
    gc.disable()
    try:
        del inverse
        assert gone() is None, "the two hold one another"
    finally:
        gc.enable()
