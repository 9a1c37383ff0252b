"""erf, erfc, erfinv and gelu of large arrays of float32, against the ways without loops and against float64."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gradpack as torch

pytest.importorskip("numba")

F = torch.nn.functional
SIZE = (1 << 15) + 77
SPECIAL = [0.0, -0.0, np.inf, np.nan, 3.0, -3.0, 1.0, -1.0, 0.8, 0.9966, 0.9999999, -0.99999, 1e-40, 1.5]
OPERATIONS = {
    "erf": torch.erf, "erfc": torch.erfc, "gelu": F.gelu, "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "erfinv": torch.erfinv,
}  # fmt: skip


def array(name, size=SIZE):
    r = np.random.default_rng(0)
    x = (r.uniform(-1, 1, size) if name == "erfinv" else r.normal(size=size) * 3).astype(np.float32)
    x[: len(SPECIAL)] = SPECIAL
    return x


def derivatives(operation, x, enabled=True):
    """The result and, of the sum of each, the gradient, twice."""
    with torch.backends.compiled.flags(enabled=enabled):
        leaf = torch.tensor(x, requires_grad=True)
        ones = torch.ones_like(leaf)
        out = operation(leaf)
        (first,) = torch.autograd.grad(out, leaf, ones, create_graph=True)
        (second,) = torch.autograd.grad(first, leaf, ones)
        return [m.detach().numpy() for m in (out, first, second)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_loops_give_what_other_ways_give(name):
    x = array(name)
    expected = derivatives(OPERATIONS[name], x.astype(np.float64), enabled=False)
    plain = derivatives(OPERATIONS[name], x, enabled=False)
    for found, other, exact in zip(derivatives(OPERATIONS[name], x), plain, expected, strict=True):
        assert found.dtype == np.float32
        np.testing.assert_array_equal(np.isnan(found), np.isnan(other))
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(
                found, exact.astype(np.float32), rtol=2e-5 if name == "erfinv" else 2e-6, atol=5e-6
            )
    np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(other[:2]))


@pytest.mark.parametrize("name", OPERATIONS)
def test_small_and_scattered_arrays(name):
    x = array(name)
    whole = derivatives(OPERATIONS[name], x)
    for part in (slice(100), slice(None, None, 2)):
        for found, expected in zip(derivatives(OPERATIONS[name], x[part]), whole, strict=True):
            np.testing.assert_allclose(found, expected[part], rtol=2e-5, atol=1e-5)


def test_the_complement_is_precise_far_out():
    x = np.linspace(-4, 9, SIZE, dtype=np.float32)
    exact = np.array([math.erfc(v) for v in x.astype(float)])
    np.testing.assert_allclose(torch.erfc(torch.tensor(x)).numpy(), exact, rtol=1e-6)


def test_gelu_does_not_cancel_far_out():
    x = np.linspace(-8, 0, SIZE, dtype=np.float32)
    exact = np.array([v * math.erfc(-v / math.sqrt(2)) / 2 for v in x.astype(float)])
    np.testing.assert_allclose(F.gelu(torch.tensor(x)).numpy(), exact, rtol=5e-6)


def test_double_is_left_to_numpy():
    x = array("erf").astype(np.float64)[len(SPECIAL) :]
    exact = np.array([math.erf(v) for v in x])
    np.testing.assert_allclose(torch.erf(torch.tensor(x)).numpy(), exact, rtol=1e-14)
