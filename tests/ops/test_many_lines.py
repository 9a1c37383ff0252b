"""Recurrences along many lines, against NumPy line by line; those that Numba compiles have tests of their own."""

from __future__ import annotations

import numpy as np
import pytest

from gradpack.kernels.dispatch import libraries
from gradpack.ops.reduce.cumulate import recurrence_along, running_extremes, running_products


@pytest.fixture(autouse=True)
def without_loops():
    with libraries(numba=False):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def x(rng):
    return rng.normal(size=(3, 200, 90)).astype(np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_running_products(x, dtype):
    x = (x * 3).astype(dtype)
    wide = np.float64 if dtype is np.float32 else dtype  # in which products of float32 run
    wanted = np.multiply.accumulate(x, axis=2, dtype=wide).astype(dtype)
    np.testing.assert_array_equal(running_products(x, 2), wanted)


@pytest.mark.parametrize("smallest", [False, True])
@pytest.mark.parametrize("nan", [False, True])
def test_running_extremes(x, smallest, nan):
    x = np.round(x)  # many equal ones, of which the last counts
    if nan:
        x[0, 5, 30] = x[2, 199, 89] = x[1, 0, 0] = np.nan
    values, indices = running_extremes(x, 2, smallest)
    expected = (np.minimum if smallest else np.maximum).accumulate(x, axis=2)
    np.testing.assert_array_equal(values, expected)
    reached = (x == expected) | np.isnan(x)
    np.testing.assert_array_equal(indices, np.maximum.accumulate(np.where(reached, np.arange(90), 0), axis=2))
    assert indices.dtype == np.int64


@pytest.mark.parametrize("backwards", [False, True])
def test_recurrence(x, rng, backwards):
    a = rng.normal(size=x.shape).astype(np.float32) * 0.5
    y = x.astype(np.float64)
    steps = range(88, -1, -1) if backwards else range(1, 90)
    for k in steps:
        y[..., k] += a[..., k] * y[..., k + (1 if backwards else -1)]
    np.testing.assert_allclose(recurrence_along(a, x, 2, backwards), y, rtol=1e-6, atol=1e-6)
