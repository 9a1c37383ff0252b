"""Operations and their gradients with compiled loops and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradpack as torch
from gradpack.backends.compiled import flags

Found = list[list[np.ndarray]]


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def both_ways(function: Callable[..., Any], *arrays: np.ndarray) -> Found:
    """The result for tensors of these arrays, and their gradients from a random one, in both ways."""
    found = []
    for enabled in (True, False):
        with flags(enabled), np.errstate(invalid="ignore", divide="ignore"):
            torch.manual_seed(3)
            leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
            out = function(*leaves)
            g = torch.tensor(normal(*out.shape, dtype=arrays[0].dtype, seed=9))
            found.append([out.detach().numpy(), *(x.numpy() for x in torch.autograd.grad(out, leaves, g))])
    return found


def assert_close(found: Found, of_float32: float = 2e-5) -> None:
    """The same to some parts of the largest number, NaN and infinities in the same places."""
    for a, b in zip(*found, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        finite = np.isfinite(b)
        assert np.array_equal(np.where(finite, 0, a), np.where(finite, 0, b), equal_nan=True)
        tolerance = of_float32 if a.dtype == np.float32 else 1e-12
        largest = np.abs(b[finite]).max(initial=1)
        assert np.abs(a[finite] - b[finite]).max(initial=0) <= tolerance * largest
