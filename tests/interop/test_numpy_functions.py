"""NumPy's functions called with Tensors: the values of NumPy, and the gradients of finite differences."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import gradpack as torch
from gradpack.ops.numpy_api.forms import found
from gradpack.ops.numpy_api.table import CALLS, UFUNC_METHODS, UFUNCS

RNG = np.random.default_rng(0)
V, M, M2, S = RNG.normal(size=4), RNG.normal(size=(2, 3)), RNG.normal(size=(3, 2)), RNG.normal(size=(3, 3))
P = RNG.uniform(0.2, 0.8, size=(2, 3))
T = RNG.normal(size=(2, 3, 4))
SPD = S @ S.T + 3 * np.eye(3)

UNARY = (
    "negative positive absolute fabs exp exp2 expm1 log log2 log10 log1p sqrt cbrt square reciprocal sin cos tan "
    "arcsin arccos arctan sinh cosh tanh arcsinh arctanh degrees rad2deg radians deg2rad sign floor ceil trunc rint "
    "conjugate"
).split()
BINARY = (
    "add subtract multiply divide true_divide power float_power arctan2 hypot maximum minimum fmax fmin fmod "
    "remainder logaddexp logaddexp2 copysign"
).split()
PREDICATES = "isnan isinf isfinite signbit logical_not".split()
COMPARISONS = "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor".split()

# what to call with the arrays, and the arrays; every other argument is in the text
CALLED = [
    *[(f"np.{name}(a)", (P,)) for name in UNARY],
    ("np.arccosh(a)", (P + 1.5,)),
    *[(f"np.{name}(a, b)", (P, P[::-1] * 1.3)) for name in BINARY],
    *[(f"np.{name}(a, 0.5)", (P,)) for name in BINARY],
    *[(f"np.{name}(0.5, a)", (P,)) for name in BINARY],
    ("np.add(a, b, dtype='float64')", (P, P)),
    ("np.matmul(a, b)", (M, M2)),
    ("np.multiply.outer(a, b)", (V, M)),
    ("np.add.reduce(a)", (M,)),
    ("np.add.reduce(a, axis=None)", (M,)),
    ("np.add.reduce(a, axis=(0, 1), keepdims=True)", (M,)),
    ("np.multiply.reduce(a, axis=1)", (M,)),
    ("np.maximum.reduce(a, axis=1)", (M,)),
    ("np.minimum.reduce(a)", (M,)),
    ("np.logaddexp.reduce(a, axis=1)", (M,)),
    ("np.add.accumulate(a, axis=1)", (M,)),
    ("np.multiply.accumulate(a)", (M,)),
    ("np.maximum.accumulate(a, axis=1)", (M,)),
    ("np.minimum.accumulate(a)", (M,)),
    ("np.sum(a)", (M,)),
    ("np.sum(a, axis=1)", (M,)),
    ("np.sum(a, axis=(0, 2), keepdims=True)", (T,)),
    ("np.sum(a, 0, np.float64)", (M,)),
    ("np.nansum(a, axis=0)", (M,)),
    ("np.mean(a)", (M,)),
    ("np.mean(a, axis=0, keepdims=True)", (M,)),
    ("np.nanmean(a)", (M,)),
    ("np.prod(a)", (M,)),
    ("np.prod(a, axis=1)", (M,)),
    ("np.prod(a, axis=(0, 2))", (T,)),
    ("np.max(a)", (M,)),
    ("np.amax(a, axis=1)", (M,)),
    ("np.min(a, axis=0, keepdims=True)", (M,)),
    ("np.ptp(a, axis=1)", (M,)),
    ("np.var(a)", (M,)),
    ("np.var(a, axis=0, ddof=1)", (M,)),
    ("np.std(a, axis=1, keepdims=True)", (M,)),
    ("np.median(a)", (M,)),
    ("np.median(a, axis=1)", (M,)),
    ("np.median(a, axis=0, keepdims=True)", (T,)),
    ("np.average(a)", (M,)),
    ("np.average(a, axis=1, weights=b)", (M, P[0])),
    ("np.cumsum(a)", (M,)),
    ("np.cumsum(a, axis=1)", (M,)),
    ("np.cumprod(a, axis=0)", (M,)),
    ("np.diff(a)", (M,)),
    ("np.diff(a, n=2, axis=0, prepend=0.0)", (M2,)),
    ("np.trapezoid(a)", (M,)),
    ("np.trapezoid(a, b)", (M, np.sort(P[0]))),
    ("np.trace(a)", (S,)),
    ("np.trace(a, 1, 0, 2)", (T,)),
    ("np.reshape(a, (3, 2))", (M,)),
    ("np.reshape(a, -1)", (M,)),
    ("np.ravel(a)", (M,)),
    ("np.transpose(a)", (T,)),
    ("np.transpose(a, (1, 0, 2))", (T,)),
    ("np.swapaxes(a, 0, 2)", (T,)),
    ("np.moveaxis(a, 0, -1)", (T,)),
    ("np.moveaxis(a, [0, 1], [2, 0])", (T,)),
    ("np.expand_dims(a, (0, 2))", (M,)),
    ("np.expand_dims(a, 1)", (M,)),
    ("np.squeeze(np.expand_dims(a, 0), 0)", (M,)),
    ("np.concatenate([a, b])", (M, P)),
    ("np.concatenate((a, b), axis=1)", (M, P)),
    ("np.concatenate([a, b], axis=None)", (M, V)),
    ("np.stack([a, b], axis=1)", (M, P)),
    ("np.vstack([a, b])", (M, P)),
    ("np.hstack((a, b))", (M, P)),
    ("np.dstack((a, b))", (M, P)),
    ("np.column_stack((a, b))", (M[:, 0], P)),
    ("np.split(a, 2, axis=1)[1]", (T[0][:, :4],)),
    ("np.split(a, [1, 3], axis=1)[1]", (T[0],)),
    ("np.array_split(a, 3)[0]", (V,)),
    ("np.broadcast_to(a, (4, 2, 3))", (M,)),
    ("np.tile(a, (2, 1))", (M,)),
    ("np.repeat(a, 2, axis=1)", (M,)),
    ("np.repeat(a, 3)", (M,)),
    ("np.flip(a)", (M,)),
    ("np.flip(a, 1)", (M,)),
    ("np.fliplr(a)", (M,)),
    ("np.flipud(a)", (M,)),
    ("np.roll(a, 1, axis=1)", (M,)),
    ("np.roll(a, 2)", (M,)),
    ("np.rot90(a)", (M,)),
    ("np.atleast_2d(a)", (V,)),
    ("np.diag(a)", (S,)),
    ("np.diag(a, 1)", (V,)),
    ("np.diagonal(a, 0, 0, 1)", (T,)),
    ("np.tril(a)", (S,)),
    ("np.triu(a, 1)", (S,)),
    ("np.take(a, [2, 0], axis=1)", (M,)),
    ("np.take(a, [[2, 0]])", (M,)),
    ("np.where(a > 0, a, b)", (M, P)),
    ("np.where(a > 0, a, 0.0)", (M,)),
    ("np.clip(a, -0.5, 0.5)", (M,)),
    ("np.clip(a, None, 0.5)", (M,)),
    ("np.sort(a)", (M,)),
    ("np.sort(a, axis=None)", (M,)),
    ("np.nan_to_num(a)", (M,)),
    ("np.real(a)", (M,)),
    ("np.imag(a)", (M,)),
    ("np.round(a, 1)", (M,)),
    ("np.zeros_like(a)", (M,)),
    ("np.ones_like(a)", (M,)),
    ("np.full_like(a, 2.0)", (M,)),
    ("np.copy(a)", (M,)),
    ("np.outer(a, b)", (M, V)),
    ("np.inner(a, b)", (M, P)),
    ("np.inner(a, 2.0)", (M,)),
    ("np.dot(a, b)", (M, M2)),
    ("np.dot(a, b)", (V, V[::-1])),
    ("np.dot(a, b)", (T, RNG.normal(size=(5, 4, 2)))),
    ("np.vdot(a, b)", (M, P)),
    ("np.tensordot(a, b, 1)", (M, M2)),
    ("np.tensordot(a, b, ((0, 1), (1, 0)))", (M, M2)),
    ("np.kron(a, b)", (V, V[::-1])),
    ("np.einsum('ij,jk->ik', a, b)", (M, M2)),
    ("np.pad(a, ((1, 0), (0, 2)))", (M,)),
    ("np.pad(a, 1, constant_values=2.0)", (M,)),
    ("np.linalg.norm(a)", (M,)),
    ("np.linalg.norm(a, axis=1)", (M,)),
    ("np.linalg.norm(a, 2, 0, True)", (M,)),
    ("np.linalg.det(a)", (SPD,)),
    ("np.linalg.inv(a)", (SPD,)),
    ("np.linalg.solve(a, b)", (SPD, M2)),
    ("np.linalg.cholesky(a @ a.T)", (S,)),
    ("np.linalg.eigvalsh(a + a.T)", (S,)),
    ("np.linalg.svd(a, compute_uv=False)", (M,)),
    ("np.linalg.matrix_power(a, 3)", (S,)),
    ("np.linalg.multi_dot([a, b, a])", (M, M2)),
    ("np.linalg.slogdet(a)[1]", (SPD,)),
    ("np.cross(a, b)", (S, S[::-1])),
    ("np.quantile(a, 0.3)", (M,)),
    ("np.quantile(a, [0.3, 0.6], axis=1)", (M,)),
    ("np.percentile(a, 30.0, axis=0)", (M,)),
    ("np.real(np.fft.fft(a))", (M,)),
    ("np.fft.irfft(np.fft.rfft(a, axis=0), 2, axis=0)", (M,)),
]


def value(text, arrays):
    return eval(text, {"np": np}, dict(zip("ab", arrays, strict=False)))


@pytest.mark.parametrize(("text", "arrays"), CALLED, ids=[text for text, _ in CALLED])
def test_a_call_gives_numpys_value_and_its_gradient(text, arrays):
    expected = np.asarray(value(text, arrays))
    tensors = [torch.tensor(x.copy(), requires_grad=True) for x in arrays]
    out = value(text, tensors)
    assert isinstance(out, torch.Tensor)
    np.testing.assert_allclose(out.detach().numpy(), expected, atol=1e-12)
    assert out.dtype is torch.float64
    weights = RNG.normal(size=expected.shape)
    if not out.requires_grad:  # piecewise constant, or a new tensor
        assert all(np.allclose(slope(text, arrays, i, weights), 0, atol=1e-6) for i in range(len(arrays)))
        return
    found_ = torch.autograd.grad(out, tensors, torch.tensor(weights), allow_unused=True, materialize_grads=True)
    for i, gradient in enumerate(found_):
        np.testing.assert_allclose(gradient.numpy(), slope(text, arrays, i, weights), atol=1e-5, rtol=1e-5)


def slope(text, arrays, i, weights):
    """The gradient by central differences."""
    result = np.empty_like(arrays[i])
    for place in np.ndindex(*arrays[i].shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = [x.copy() for x in arrays]
            moved[i][place] += step
            ends.append((np.asarray(value(text, moved)) * weights).sum())
        result[place] = (ends[0] - ends[1]) / 2e-6
    return result


@pytest.mark.parametrize("name", [*PREDICATES, *COMPARISONS])
def test_predicates_give_bool_tensors(name):
    operands = (M,) if name in PREDICATES else (M, np.sign(M))
    out = getattr(np, name)(torch.tensor(operands[0], requires_grad=True), *operands[1:])
    assert out.dtype is torch.bool and not out.requires_grad
    assert np.array_equal(out, getattr(np, name)(*operands))


INTEGERS = ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm", "floor_divide"]


@pytest.mark.parametrize("name", INTEGERS)
def test_operations_on_integers(name):
    a, b = np.array([12, 7, 5]), np.array([1, 2, 3])
    out = getattr(np, name)(torch.tensor(a), b)
    assert isinstance(out, torch.Tensor)
    assert np.array_equal(out, getattr(np, name)(a, b))


def test_several_results():
    x = torch.tensor(M, requires_grad=True)
    for ufunc in (np.divmod, np.modf):
        args = (0.3,) if ufunc is np.divmod else ()
        for ours, theirs in zip(ufunc(x, *args), ufunc(M, *args), strict=True):
            np.testing.assert_allclose(ours.detach().numpy(), theirs)
    assert [np.array_equal(a, b) for a, b in zip(np.nonzero(x > 0), np.nonzero(M > 0), strict=True)] == [True, True]
    assert np.isclose(x, M).tolist() == [[True] * 3] * 2
    assert np.array_equal(np.heaviside(x.detach(), 0.5), np.heaviside(M, 0.5))
    assert np.argmax(x).item() == M.argmax() and np.count_nonzero(x) == 6


def test_the_table_names_parameters_that_ours_have():
    for name, (target, params) in CALLS.items():
        known = inspect.signature(found(target)).parameters
        wanted = [ours for _, ours in params[1:] if ours != "-"]
        assert params[0][0] == "*" or set(wanted) <= set(known), name


def test_the_table_names_functions_of_numpy():
    for name in CALLS:
        target = np
        for part in name.split("."):
            target = getattr(target, part)
        assert callable(target)
    for name in UFUNCS:
        assert isinstance(getattr(np, name), np.ufunc)
    assert all(isinstance(getattr(np, name), np.ufunc) for name, _ in UFUNC_METHODS)


def test_code_written_for_arrays_differentiates_to_any_order():
    def energy(x):
        return np.sum(np.sin(x) ** 2 * np.exp(-x)) + np.linalg.norm(np.concatenate([x, x * x]))

    x = torch.tensor([0.3, 1.2], dtype=torch.float64, requires_grad=True)
    (slope_,) = torch.autograd.grad(energy(x), x, create_graph=True)
    (second,) = torch.autograd.grad(slope_.sum(), x)
    eps = 1e-5
    ends = []
    for step in (eps, -eps):
        y = (x.detach() + step).requires_grad_()
        ends.append(torch.autograd.grad(energy(y), y)[0])
    np.testing.assert_allclose(second, (ends[0] - ends[1]) / (2 * eps), rtol=1e-6)


# -- what has no counterpart --


def test_what_has_no_counterpart_works_on_values_and_refuses_to_lose_a_gradient():
    x = torch.tensor(M)
    assert isinstance(np.nanmax(x), np.floating)
    assert isinstance(np.spacing(x), torch.Tensor)
    x.requires_grad_()
    with pytest.raises(TypeError, match=r"numpy\.nanmax\(\) has no counterpart"):
        np.nanmax(x)
    with pytest.raises(TypeError, match=r"numpy\.spacing\(\) has no counterpart"):
        np.spacing(x)
    with pytest.raises(TypeError, match=r"numpy\.add\.at\(\) has no counterpart"):
        np.add.at(np.zeros(3), [0], x)
    with pytest.raises(TypeError, match=r"numpy\.sum\(\) of a Tensor that autograd follows takes a, axis, dtype"):
        np.sum(x, where=x.detach().numpy() > 0)


def test_out_is_refused_where_a_gradient_would_be_lost():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    target = np.zeros(2, dtype="float32")
    with pytest.raises(TypeError, match=r"numpy\.add\(\) was called with out="):
        np.add(x, 1.0, out=target)
    with pytest.raises(TypeError, match="out="):
        target += x
    assert target.tolist() == [0.0, 0.0]
    target += x.detach()
    assert target.tolist() == [1.0, 2.0]


def test_questions_about_values_are_answered_whatever_is_tracked():
    x = torch.tensor(M, requires_grad=True)
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6
    assert np.allclose(x, M) is True and np.array_equal(x, M) and not np.iscomplexobj(x)
    assert np.shares_memory(x, x.detach().numpy())


def test_the_other_operand_may_be_an_array():
    a, x = np.array([3.0, 4.0]), torch.tensor([1.0, 2.0], requires_grad=True)
    for out, expected in [(a * x, [3, 8]), (a - x, [2, 2]), (a / x, [3, 2]), (a**x, [3, 16]), (a @ x, 11)]:
        assert isinstance(out, torch.Tensor) and out.requires_grad
        assert out.tolist() == expected
    assert (a < x).tolist() == [False, False]
    assert (np.float32(2) * x).dtype is torch.float32


def test_types_that_answer_for_themselves_are_asked():
    class Other:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return "other"

        def __array_function__(self, func, types, args, kwargs):
            return "other"

    x = torch.ones(2)
    assert np.add(x, Other()) == "other"
    assert np.concatenate([x, Other()]) == "other"
