"""Recurrences that take many lines at a time, against NumPy line by line; compiled loops have tests of their own."""

from __future__ import annotations

import numpy as np
import pytest

from gradpack.backends import compiled
from gradpack.ops.reduce.many_lines import are_many, recurrence, running, running_extreme


@pytest.fixture(autouse=True)
def without_loops():
    with compiled.flags(enabled=False):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def x(rng):
    return rng.normal(size=(3, 200, 90)).astype(np.float32)  # no whole number of portions, nor of blocks of lines


def test_which_arrays(x):
    assert are_many(x, 2)
    assert not are_many(x, 1)
    assert not are_many(x[:, ::2], 2)
    assert not are_many(np.ones((2, 40_000)), 1)
    assert not are_many(np.ones((100, 10)), 1)
    assert not are_many(np.ones((600, 100), np.complex64), 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_running(x, dtype):
    x = (x * 3).astype(dtype)
    np.testing.assert_array_equal(running(np.multiply, x), np.multiply.accumulate(x, axis=2))
    np.testing.assert_array_equal(running(np.maximum, x), np.maximum.accumulate(x, axis=2))


@pytest.mark.parametrize("function", [np.maximum, np.minimum])
@pytest.mark.parametrize("nan", [False, True])
def test_running_extreme(x, function, nan):
    x = np.round(x)  # many equal ones, of which the last counts
    if nan:
        x[0, 5, 30] = x[2, 199, 89] = x[1, 0, 0] = np.nan
    values, indices = running_extreme(function, x)
    expected = function.accumulate(x, axis=2)
    np.testing.assert_array_equal(values, expected)
    reached = (x == expected) | np.isnan(x)
    np.testing.assert_array_equal(indices, np.maximum.accumulate(np.where(reached, np.arange(90), 0), axis=2))
    assert indices.dtype == np.int64


@pytest.mark.parametrize("backwards", [False, True])
def test_recurrence(x, rng, backwards):
    a = rng.normal(size=x.shape).astype(np.float32) * 0.5
    y = x.copy()
    steps = range(88, -1, -1) if backwards else range(1, 90)
    for k in steps:
        y[..., k] += a[..., k] * y[..., k + (1 if backwards else -1)]
    np.testing.assert_array_equal(recurrence(a, x, backwards), y)
