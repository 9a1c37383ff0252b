"""lgamma and digamma of large arrays of float32, against SciPy's in float64."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch

pytest.importorskip("numba")
special = pytest.importorskip("scipy.special")

SIZE = (1 << 15) + 77


def check(x):
    wide = x.astype(np.float64)
    leaf = torch.tensor(x, requires_grad=True)
    out = torch.lgamma(leaf)
    (gradient,) = torch.autograd.grad(out.sum(), leaf)
    np.testing.assert_allclose(out.detach().numpy(), special.gammaln(wide), rtol=2e-7, atol=1e-12)
    np.testing.assert_allclose(gradient.numpy(), special.psi(wide), rtol=2e-6, atol=1e-12)
    np.testing.assert_allclose(torch.polygamma(1, torch.tensor(x)).numpy(), special.zeta(2, wide), rtol=3e-7)


@pytest.mark.parametrize(("low", "high"), [(0.0, 10.0), (0.9, 2.1), (1e-6, 1e-3), (10.0, 1e9)])
def test_precision(low, high):
    x = np.random.default_rng(0).uniform(low, high, SIZE).astype(np.float32)
    check(x[x > 0])


def test_zeros_are_zeros():
    x = torch.ones(SIZE)
    assert torch.lgamma(x).eq(0).all()
    assert torch.lgamma(x + 1).eq(0).all()


def test_what_is_not_positive_goes_the_plain_way():
    x = np.random.default_rng(0).normal(size=(3, SIZE)).astype(np.float32) * 4
    x[0, :9] = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -2.0, 3e38, 1e-40]
    for function in (torch.lgamma, torch.digamma, lambda x: torch.polygamma(1, x)):
        found = function(torch.tensor(x)).numpy()
        with torch.backends.compiled.flags(enabled=False):
            expected = function(torch.tensor(x)).numpy()
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
        np.testing.assert_allclose(found[0, :9], expected[0, :9], rtol=1e-6)
        np.testing.assert_array_equal(found[x < 0], expected[x < 0])
        np.testing.assert_allclose(found[x > 0], expected[x > 0], rtol=1e-4, atol=1e-6)
