"""fmod and remainder of large arrays of float32: bit for bit those of NumPy, with zeros of the sign of the dividend."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch

pytest.importorskip("numba")

SIZE = (1 << 15) + 77
SPECIAL = [0.0, -0.0, 3.0, -3.0, 1e-40, 0.75, 6.0, 16777216.0]
BESIDE = [2.0, -2.0, 1.5, 1e-40, -0.75, np.inf, -np.inf, 0.0, np.nan, 1e-30]


def arrays():
    r = np.random.default_rng(0)
    x, y = (r.normal(size=SIZE).astype(np.float32) * 5 for _ in range(2))
    y += np.copysign(np.float32(0.25), y)
    pairs = np.array([(a, b) for a in SPECIAL for b in (*BESIDE[:2], *BESIDE[2:3], -0.75)], np.float32)
    x[: len(pairs)], y[: len(pairs)] = pairs.T
    return x, y


@pytest.fixture(params=["fmod", "remainder"])
def name(request):
    return request.param


def same(found, expected, x):
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(np.where(expected == 0, x, expected)))


def test_of_two_arrays(name):
    x, y = arrays()
    same(getattr(torch, name)(torch.tensor(x), torch.tensor(y)).numpy(), getattr(np, name)(x, y), x)


@pytest.mark.parametrize("number", [0.7, -3.0, 2, 1e-3])
def test_by_a_number(name, number):
    x, _ = arrays()
    same(getattr(torch, name)(torch.tensor(x), number).numpy(), getattr(np, name)(x, np.float32(number)), x)


@pytest.mark.parametrize("special", BESIDE[3:])
def test_one_that_no_loop_can_do(name, special):
    x, y = arrays()
    y[-1] = special
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x, y)
    found = getattr(torch, name)(torch.tensor(x), torch.tensor(y)).numpy()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan, 3e38])
def test_a_dividend_that_no_loop_can_do(name, special):
    x, y = arrays()
    x[-1] = special
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x, y)
    np.testing.assert_array_equal(getattr(torch, name)(torch.tensor(x), torch.tensor(y)).numpy(), expected)
