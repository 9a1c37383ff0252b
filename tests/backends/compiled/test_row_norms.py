"""Layer norm by compiled loops against the way that NumPy goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack as torch
from gradpack.backends.compiled import flags, loops

pytest.importorskip("numba")
F = torch.nn.functional


def both_ways(function: Any, *arrays: Any, g: Any = None) -> list[list[np.ndarray]]:
    """The result and the gradients, with loops and without."""
    found = []
    for enabled in (True, False):
        with flags(enabled):
            leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
            out = function(*leaves)
            given = torch.ones_like(out) if g is None else torch.tensor(g)
            found.append([out.detach().numpy(), *(x.numpy() for x in torch.autograd.grad(out, leaves, given))])
    return found


def assert_close(found: list[list[np.ndarray]], of_float32: float = 2e-5) -> None:
    for a, b in zip(*found, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        tolerance = of_float32 if a.dtype == np.float32 else 1e-12
        assert np.abs(a - b).max() <= tolerance * max(1, np.abs(b).max())


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rows", "length"), [(701, 51), (5, 9001), (40_000, 3), (1, 50_021)])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(dtype: Any, rows: int, length: int, affine: bool) -> None:
    vectors = [normal(length, dtype=dtype, seed=nr) for nr in (1, 2)] if affine else []
    x = normal(rows, length, dtype=dtype) * 3 + 1
    g = normal(rows, length, dtype=dtype, seed=3)
    assert_close(both_ways(lambda x, *v: F.layer_norm(x, (length,), *v), x, *vectors, g=g), 1e-4)


def test_a_weight_or_a_bias_alone() -> None:
    x, vector, g = normal(700, 60), normal(60, seed=1), normal(700, 60, seed=2)
    assert_close(both_ways(lambda x, w: F.layer_norm(x, (60,), w), x, vector, g=g))
    assert_close(both_ways(lambda x, b: F.layer_norm(x, (60,), None, b), x, vector, g=g))


def test_far_from_zero_nothing_is_lost() -> None:
    x = normal(500, 80) + 1000
    with flags(True):
        found = F.layer_norm(torch.tensor(x), (80,)).numpy()
    wide = x.astype(np.float64)
    wide -= wide.mean(1, keepdims=True)
    wide /= np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5)
    assert np.abs(found - wide).max() < 2e-4


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_spoils_its_row_only(strange: float) -> None:
    x = normal(600, 70)
    x[7, 11] = strange
    with np.errstate(invalid="ignore"):
        fast, plain = both_ways(lambda x: F.layer_norm(x, (70,)), x)
    for a, b in zip(fast, plain, strict=True):
        assert np.array_equal(np.isnan(a), np.isnan(b))
        assert not np.isnan(np.delete(a, 7, 0)).any()


def test_transposed_and_small_inputs_agree() -> None:
    g = normal(700, 60, seed=2)
    assert_close(both_ways(lambda x: F.layer_norm(x.t(), (60,)), normal(60, 700), g=g))
    assert_close(both_ways(lambda x: F.layer_norm(x, (60,)) * torch.tensor(g.T.copy()).t(), normal(700, 60)))
    assert_close(both_ways(lambda x: F.layer_norm(x, (6,)), normal(3, 6), g=normal(3, 6, seed=1)))


def test_sums_of_many_rows_keep_their_digits() -> None:
    fast = loops("sums", x := normal(300_001, 3) + 1)
    out = np.empty(3, np.float32)
    fast.over_rows(x, out)
    assert np.abs(out / x.sum(0, dtype=np.float64) - 1).max() < 1e-6
