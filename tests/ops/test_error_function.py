"""The error function and what is made of it, against the C library's, in every layout."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradpack.backends.compiled import flags
from gradpack.ops.pointwise.blockwise import BLOCK
from gradpack.ops.pointwise.error_function import erf_of, erfc_of, gelu_of, gelu_slope_of

WIDE = np.concatenate([np.linspace(-7, 7, 20011), np.geomspace(1e-30, 1, 2001), -np.geomspace(1e-30, 1, 2001)])


def units(found, exact):
    """The error in units in the last place."""
    return np.abs(found - exact) / np.spacing(np.abs(exact).astype(found.dtype))


def slope(x):
    with np.errstate(all="ignore"):  # as for every operation
        return gelu_slope_of(x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_erf(dtype):
    x = WIDE.astype(dtype)
    found = erf_of(x)
    assert found.dtype == dtype
    assert units(found, np.array([math.erf(v) for v in x])).max() <= 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_erfc_far_out(dtype):
    x = np.linspace(-6, 9 if dtype == np.float32 else 26, 20011).astype(dtype)
    found = erfc_of(x)
    assert found.dtype == dtype
    assert units(found, np.array([math.erfc(v) for v in x])).max() <= 16


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gelu_and_its_slope(dtype):
    x = WIDE.astype(dtype)
    wide = x.astype(np.float64)
    below = np.array([0.5 * math.erfc(-v * math.sqrt(0.5)) for v in wide])
    density = np.exp(wide * wide / -2) / math.sqrt(2 * math.pi)
    eps = np.finfo(dtype).eps
    assert (np.abs(gelu_of(x) - wide * below) <= 2.5 * eps * np.maximum(1, np.abs(wide))).all()
    assert (np.abs(slope(x) - (below + wide * density)) <= 3 * eps).all()


@pytest.mark.parametrize("function", [erf_of, erfc_of, gelu_of, slope])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@flags(enabled=False)  # compiled loops, for large arrays only, have tests of their own
def test_layouts_and_blocks(function, dtype):
    count = BLOCK // np.dtype(dtype).itemsize  # two blocks and a part of one
    dense = np.random.default_rng(0).normal(size=(2, count + 7)).astype(dtype)
    eps, found = np.finfo(dtype).eps, function(dense)
    small = slice(count - 500, count + 500)  # across the border of two blocks
    expected = function(dense.reshape(-1)[small].copy())
    np.testing.assert_allclose(found.reshape(-1)[small], expected, rtol=4 * eps)
    np.testing.assert_allclose(function(np.asfortranarray(dense)), found, rtol=4 * eps)
    np.testing.assert_allclose(function(dense.T), found.T, rtol=4 * eps)
    np.testing.assert_allclose(function(dense[:, ::-2]), found[:, ::-2], rtol=4 * eps)
    np.testing.assert_allclose(function(dense[0, 0]), found[0, 0], rtol=4 * eps)
    assert function(dense[:0]).shape == (0, count + 7)
    assert function(np.array(0.5, dtype)).shape == ()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_not_finite(dtype):
    with np.errstate(all="ignore"):
        x = np.array([math.inf, -math.inf, math.nan, 1e30, -1e30, -0.0], dtype)
        assert np.array_equal(erf_of(x), np.array([1, -1, math.nan, 1, -1, 0], dtype), equal_nan=True)
        assert np.array_equal(erfc_of(x), np.array([0, 2, math.nan, 0, 2, 1], dtype), equal_nan=True)
        assert np.array_equal(gelu_of(x[[0, 2, 3, 4]]), np.array([math.inf, math.nan, 1e30, 0], dtype), equal_nan=True)
        assert np.array_equal(slope(x[3:]), np.array([1, 0, 0.5], dtype))
        assert np.signbit(erf_of(x)[-1])
