"""Layer norm by compiled loops against the way that NumPy goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack as torch
from gradpack.backends.compiled import flags

from .ways import assert_close, both_ways, normal

pytest.importorskip("numba")
row_norms = pytest.importorskip("gradpack.kernels.numba.loops.rows")
F = torch.nn.functional


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rows", "length"), [(701, 51), (5, 9001), (40_000, 3), (1, 50_021)])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(dtype: Any, rows: int, length: int, affine: bool) -> None:
    vectors = [normal(length, dtype=dtype, seed=nr) for nr in (1, 2)] if affine else []
    x = normal(rows, length, dtype=dtype) * 3 + 1
    assert_close(both_ways(lambda x, *v: F.layer_norm(x, (length,), *v), x, *vectors), 1e-4)


def test_a_weight_or_a_bias_alone() -> None:
    x, vector = normal(700, 60), normal(60, seed=1)
    assert_close(both_ways(lambda x, w: F.layer_norm(x, (60,), w), x, vector))
    assert_close(both_ways(lambda x, b: F.layer_norm(x, (60,), None, b), x, vector))


def test_far_from_zero_nothing_is_lost() -> None:
    x = normal(500, 80) + 1000
    with flags(True):
        found = F.layer_norm(torch.tensor(x), (80,)).numpy()
    wide = x.astype(np.float64)
    wide -= wide.mean(1, keepdims=True)
    wide /= np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5)
    assert np.abs(found - wide).max() < 2e-4


@pytest.mark.parametrize("distance", [30, 1000, 30_000])
@pytest.mark.parametrize(("rows", "length"), [(500, 80), (10, 5003)])
def test_a_mean_far_from_zero_is_rounded_once(rows: int, length: int, distance: int) -> None:
    x = normal(rows, length) + np.float32(distance)
    mean, rstd = np.empty(rows, np.float32), np.empty(rows, np.float32)
    row_norms.layer_norm(x, np.ones(length, np.float32), x[0, :0], 1e-5, np.empty_like(x), mean, rstd)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(rstd, 1 / np.sqrt(wide.var(1) + 1e-5), rtol=1e-6)
    assert np.abs(mean - wide.mean(1)).max() <= 0.51 * np.spacing(np.float32(distance))


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_spoils_its_row_only(strange: float) -> None:
    x = normal(600, 70)
    x[7, 11] = strange
    fast, plain = both_ways(lambda x: F.layer_norm(x, (70,)), x)
    for a, b in zip(fast, plain, strict=True):
        assert np.array_equal(np.isnan(a), np.isnan(b))
        assert not np.isnan(np.delete(a, 7, 0)).any()


def test_transposed_and_small_inputs_agree() -> None:
    assert_close(both_ways(lambda x: F.layer_norm(x.t(), (60,)), normal(60, 700)))
    assert_close(both_ways(lambda x: F.layer_norm(x, (60,)).t(), normal(700, 60)))
    assert_close(both_ways(lambda x: F.layer_norm(x, (6,)), normal(3, 6)))
