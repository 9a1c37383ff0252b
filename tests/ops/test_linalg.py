"""Linear algebra on arrays: blocks, singular matrices, and what differs from torch on purpose."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradpack as torch
from gradpack.ops.linalg import lapack


def drawn(*shape, dtype=np.float64):
    rng = np.random.default_rng(0)
    made = rng.normal(size=shape)
    return made.astype(dtype) if np.dtype(dtype).kind != "c" else made + 1j * rng.normal(size=shape)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(70, 70), (90, 40), (40, 90), (3, 33, 33), (2, 0, 3), (0, 4, 4), (1, 1)])
def test_lu_factors_multiply_to_the_matrix(shape, dtype):
    a = drawn(*shape, dtype=dtype)
    packed, pivots, info = lapack.lu_factor(a)
    m, n = shape[-2:]
    k = min(m, n)
    L = np.tril(packed[..., :k], -1) + np.eye(m, k)
    P = lapack.permutation_matrix(pivots, m, dtype)
    assert np.allclose(P @ L @ np.triu(packed[..., :k, :]), a) and not info.any()
    assert pivots.dtype == np.int32 and np.all(np.abs(np.tril(packed[..., :k], -1)) <= np.sqrt(2) + 1e-9)


def test_the_first_zero_of_the_diagonal_is_told():
    a = np.stack([np.eye(3), np.diag([1.0, 0.0, 2.0]), np.zeros((3, 3))])
    assert lapack.lu_factor(a)[2].tolist() == [0, 2, 1]


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize(("a", "b"), [((120, 120), (120, 3)), ((100, 100), (100, 200)), ((2, 1, 60, 60), (3, 60, 2))])
def test_triangular_systems(a, b, upper, unit):
    matrix = drawn(*a) / a[-1] + 2 * np.eye(a[-1])
    right = drawn(*b)
    x = lapack.solve_triangle(matrix, right, upper, unit)
    assert np.allclose(lapack.triangle(matrix, upper, unit) @ x, right)


def test_a_zero_on_the_diagonal_gives_infinity_and_no_error():
    with np.errstate(all="ignore"):
        x = lapack.solve_triangle(np.asarray([[1.0, 2.0], [0.0, 0.0]]), np.asarray([[1.0], [1.0]]), True)
    assert x.tolist() == [[-np.inf], [np.inf]]


def test_low_precision_exponentials_do_not_overflow():
    x = torch.tensor([[2.0, 1.0], [0.0, 2.0]])
    for dtype in (torch.float16, torch.bfloat16):
        assert torch.allclose(torch.matrix_exp(x.to(dtype)).float(), torch.matrix_exp(x), rtol=1e-2)


def test_older_forms_say_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.eye(3)
        torch.cholesky(x), torch.qr(x), torch.lu(x), torch.svd(x), torch.triangular_solve(x, x)


def test_eigenvalues_of_lobpcg_are_exact():
    a = torch.diag(torch.arange(1.0, 10.0, dtype=torch.float64))
    assert torch.lobpcg(a, k=3)[0].tolist() == pytest.approx([9.0, 8.0, 7.0], abs=1e-12)
    values, vectors = torch.lobpcg(a, k=2, B=2 * torch.eye(9, dtype=torch.float64), largest=False)
    assert values.tolist() == pytest.approx([0.5, 1.0], abs=1e-12)
    assert torch.allclose(a @ vectors, 2 * vectors * values)
    with pytest.raises(ValueError, match="LOBPCG algorithm is not applicable"):
        torch.lobpcg(a, k=4)


def test_symmetric_factors():
    pytest.importorskip("scipy")
    a = torch.tensor([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]], dtype=torch.float64)
    packed, pivots = torch.linalg.ldl_factor(a)
    assert pivots.tolist() == [-2, -2, 3]  # a block of two
    b = torch.ones(2, 3, 1, dtype=torch.float64)
    assert torch.allclose(a @ torch.linalg.ldl_solve(packed, pivots, b), b)
    with pytest.raises(RuntimeError, match=r"D\[1,1\] is zero: the matrix is singular"):
        torch.linalg.ldl_factor(torch.zeros(2, 2))
    leaf = a.clone().requires_grad_()
    with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_factor_ex is not implemented"):
        torch.linalg.ldl_factor(leaf).LD.sum().backward()


def test_many_distances_are_taken_in_blocks(monkeypatch):
    from gradpack.ops.reduce import distance

    x, y = drawn(20, 3), drawn(15, 3)
    whole = [torch.tensor(v, requires_grad=True) for v in (x, y)]
    expected = torch.cdist(*whole, p=1.0)
    (expected**2).sum().backward()
    monkeypatch.setattr(distance, "_AT_ONCE", 100)
    parts = [torch.tensor(v, requires_grad=True) for v in (x, y)]
    found = torch.cdist(*parts, p=1.0)
    (found**2).sum().backward()
    assert torch.allclose(found, expected)
    assert all(torch.allclose(a.grad, b.grad) for a, b in zip(whole, parts, strict=True))
    assert torch.allclose(found, torch.tensor(np.abs(x[:, None] - y[None]).sum(-1)))


def test_without_full_rank_least_squares_go_by_singular_values():
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], dtype=torch.float64)
    found = torch.linalg.lstsq(a, torch.ones(3, 1, dtype=torch.float64))
    assert found.rank.item() == 1 and torch.allclose(found.solution, torch.linalg.pinv(a).sum(1, keepdim=True))


def test_tangents_where_one_operand_is_made_of_the_other():
    from gradpack.base.modes import using

    x = torch.tensor([[2.0, 0.5], [0.3, 3.0]], dtype=torch.float64)
    v = torch.tensor([[0.1, 1.0], [-0.4, 0.7]], dtype=torch.float64)

    def f(x):
        return torch.linalg.solve(x, x @ x) + torch.linalg.solve(x, x)  # that is x and the identity

    with using(dual=1):
        for followed in (False, True):
            leaf = x.clone().requires_grad_(followed)
            leaf._tangents = v
            assert torch.allclose(f(leaf)._tangents.detach(), v)
