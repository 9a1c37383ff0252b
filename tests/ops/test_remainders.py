"""Remainders and lengths of float32 are worked out in float64: they are NumPy's, to the last bit.

Only zeros that `remainder` leaves have the sign of the dividend, as in torch.
"""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.kernels.dispatch import LARGE

SIZE = LARGE + 1000
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 1e-40, -1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan, 1e-3, 7.0]


def remainder(x, y):
    left = np.remainder(x, y)
    return np.where(left == 0, np.copysign(left, x), left)


PAIRS = [(torch.remainder, remainder), (torch.fmod, np.fmod), (torch.floor_divide, np.floor_divide)]


def operands(scale):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=SIZE) * scale, rng.normal(size=SIZE)
    x[::7], y[::5] = np.round(x[::7]), np.round(y[::5]) + 0.25
    return x.astype(np.float32), y.astype(np.float32)


def same(found, expected):
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize(("ours", "numpys"), PAIRS)
@pytest.mark.parametrize("scale", [1.0, 1e4, 1e9])  # the last one leaves what is exact
def test_remainders(ours, numpys, scale):
    x, y = operands(scale)
    with np.errstate(all="ignore"):
        same(ours(torch.tensor(x), torch.tensor(y)).numpy(), numpys(x, y))
        same(ours(torch.tensor(x), 1.5).numpy(), numpys(x, np.float32(1.5)))


@pytest.mark.parametrize(("ours", "numpys"), PAIRS)
def test_remainders_of_special_numbers(ours, numpys):
    with np.errstate(all="ignore"):
        for a in np.array(SPECIAL, np.float32):
            for b in np.array(SPECIAL, np.float32):
                found = ours(torch.tensor(np.full(LARGE, a)), torch.tensor(np.full(LARGE, b))).numpy()
                same(found[-1], numpys(a, b))


def test_shapes_that_broadcast():
    x, y = operands(1.0)
    with np.errstate(all="ignore"):
        same(
            torch.remainder(torch.tensor(x[:5]), torch.tensor(y[:LARGE, None])).numpy(),
            remainder(x[:5], y[:LARGE, None]),
        )


def test_hypot():
    x, y = operands(1.0)
    x[:15], y[:15] = SPECIAL, SPECIAL[::-1]
    with np.errstate(all="ignore"):
        expected = np.hypot(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
        found = torch.hypot(torch.tensor(x), torch.tensor(y)).numpy()
    np.testing.assert_array_equal(found[:15], expected[:15])
    np.testing.assert_array_max_ulp(found[15:], expected[15:])  # large arrays of usual numbers: squares in float32


@pytest.mark.parametrize("compile_", [lambda f: f, lambda f: torch.compile(f, fullgraph=True)])
def test_gradients_of_remainders_of_very_large_arrays(compile_):
    rng = np.random.default_rng(0)
    x, y = (torch.tensor(rng.standard_normal(600_000).astype("f"), requires_grad=True) for _ in range(2))

    def step():
        x.grad = y.grad = None
        torch.remainder(x, y).sum().backward()

    run = compile_(step)
    for _ in range(3):
        run()
    np.testing.assert_array_equal(x.grad.numpy(), 1)
    np.testing.assert_allclose(y.grad.numpy(), -np.floor_divide(x.detach().numpy(), y.detach().numpy()))
