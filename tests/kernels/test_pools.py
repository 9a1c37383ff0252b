"""Maxima over windows by a compiled loop: the same as without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack as torch
import gradpack.nn.functional as F

pytest.importorskip("numba")

# kernel, stride, padding, dilation, ceil_mode
GEOMETRIES = [
    (2, 2, 0, 1, False),
    (2, 2, 0, 1, True),
    (2, 2, 1, 1, False),
    (3, 2, 1, 1, False),
    (3, 1, 1, 1, False),
    ((2, 5), (3, 1), (1, 2), (2, 1), True),
    ((1, 2), (1, 2), 0, 1, False),
    (9, 3, 4, 1, True),
]


def _results(array: Any, *geometry: Any) -> list[Any]:
    x = torch.tensor(array, requires_grad=True)
    out, indices = F.max_pool2d(x, *geometry, return_indices=True)
    seed = np.random.default_rng(2).normal(size=tuple(out.shape)).astype(array.dtype)
    (gradient,) = torch.autograd.grad(out, x, torch.tensor(seed), create_graph=True)
    return [t.detach().numpy() for t in (out, indices, gradient)]


def _agree(array: Any, *geometry: Any) -> None:
    found = _results(array, *geometry)
    with torch.backends.compiled.flags(enabled=False):
        wanted = _results(array, *geometry)
    for a, b in zip(found[:2], wanted[:2], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(found[2], wanted[2], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_maxima_indices_and_gradients_agree(geometry: Any, dtype: str) -> None:
    _agree(np.random.default_rng(1).normal(size=(7, 5, 61, 67)).astype(dtype), *geometry)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_equal_elements_infinities_and_no_numbers(geometry: Any) -> None:
    x = np.random.default_rng(1).integers(0, 3, (7, 5, 62, 66)).astype(np.float32)
    x[0], x[1, 1], x[2, 2] = -np.inf, np.nan, np.where(x[2, 2] > 1, np.nan, x[2, 2])
    x[3, 3], x[4] = np.inf, -0.0
    _agree(x, *geometry)


def test_one_dimension_views_and_layouts() -> None:
    x = np.random.default_rng(1).normal(size=(9, 8, 999)).astype(np.float32)
    for call in (lambda t: F.max_pool1d(t, 3, 2, 1), lambda t: F.max_pool2d(t[None].transpose(2, 3), 2)):
        found = call(torch.tensor(x)).numpy()
        with torch.backends.compiled.flags(enabled=False):
            np.testing.assert_array_equal(found, call(torch.tensor(x)).numpy())
