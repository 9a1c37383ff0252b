"""glu and prelu of large arrays of float32, with a loop and without; NaN and infinities too."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch

pytest.importorskip("numba")

F = torch.nn.functional
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 88.0, -104.0]


def array(*shape, dtype=np.float32):
    x = (np.random.default_rng(0).normal(size=shape) * 3).astype(dtype)
    x.reshape(-1)[: len(SPECIAL)] = SPECIAL
    return x


def both_ways(operation, *arrays):
    """The result and the gradients, with loops and without."""
    ways = []
    for enabled in (True, False):
        with torch.backends.compiled.flags(enabled=enabled):
            leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
            out = operation(*leaves)
            g = torch.tensor(np.random.default_rng(1).normal(size=tuple(out.shape)).astype(arrays[0].dtype))
            ways.append([out.detach().numpy(), *(v.numpy() for v in torch.autograd.grad(out, leaves, g))])
    return zip(*ways, strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "dim"), [((700, 2, 51), 1), ((700, 102), -1), ((2, 35_003), 0), ((4, 2, 50), 1)])
def test_glu(shape, dim, dtype):
    for found, expected in both_ways(lambda x: F.glu(x, dim), array(*shape, dtype=dtype)):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)


def test_glu_of_a_transposed_array():
    for found, expected in both_ways(lambda x: F.glu(x.T, 0), array(300, 200)):
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "channels"), [((70, 5, 101), 5), ((35_003,), 1), ((70, 500), 1), ((4, 3, 11_003), 3), ((5000, 7), 7)]
)
def test_prelu(shape, channels, dtype):
    weight = np.array([0.25, -0.5, 2.0, 0.0, np.inf, 1.0, -1.5], dtype)[:channels]
    x = array(*shape, dtype=dtype)
    found, expected = next(both_ways(F.prelu, x, weight))
    np.testing.assert_array_equal(found, expected)
    for found, expected in both_ways(
        F.prelu, np.nan_to_num(x, posinf=2.0, neginf=-2.0), np.nan_to_num(weight, posinf=2.0)
    ):
        np.testing.assert_array_equal(np.isnan(found), False)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
