"""Resizing and padding by compiled loops: the same as without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack as torch
import gradpack.nn.functional as F

pytest.importorskip("numba")

OPERATIONS = {
    "bilinear": lambda x: F.interpolate(x, scale_factor=2.3, mode="bilinear"),
    "shrinking": lambda x: F.interpolate(x, size=(11, 300), mode="bilinear", align_corners=True),
    "bicubic": lambda x: F.interpolate(x, size=(50, 41), mode="bicubic"),
    "smooth": lambda x: F.interpolate(x, size=(17, 19), mode="bilinear", antialias=True),
    "nearest": lambda x: F.interpolate(x, size=(50, 41)),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, (7, 9)),
    "reflect": lambda x: F.pad(x, (2, 1, 0, 3), mode="reflect"),
    "reflect rows": lambda x: F.pad(x.flatten(1, 2), (4, 5), mode="reflect"),
    "replicate": lambda x: F.pad(x, (1, 0, 2, 3), mode="replicate"),
    "circular": lambda x: F.pad(x, (3, 2, 1, 1), mode="circular"),
    "circular, less": lambda x: F.pad(x, (3, -2, 1, 1), mode="circular"),
}


def results(call: Any, *arrays: Any) -> list[Any]:
    """What a call gives for arrays, and gradients by those that are floating."""
    tensors = [torch.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    made = call(*tensors)
    outs = list(made) if isinstance(made, tuple) else [made]
    wanted = [t for t in tensors if t.requires_grad]
    if not outs[0].requires_grad:
        return [t.numpy() for t in outs]
    seed = np.random.default_rng(2).normal(size=tuple(outs[0].shape)).astype(outs[0].detach().numpy().dtype)
    return [t.detach().numpy() for t in (*outs, *torch.autograd.grad(outs[0], wanted, torch.tensor(seed)))]


def agree(call: Any, *arrays: Any) -> None:
    """Results with and without loops are the same but for rounding."""
    found = results(call, *arrays)
    with torch.backends.compiled.flags(enabled=False):
        wanted = results(call, *arrays)
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        error = 1e-5 if a.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(
            a, b, rtol=error, atol=error * max(np.max(np.abs(b), where=np.isfinite(b), initial=0), 1)
        )


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_and_gradients_agree(name: str, dtype: str) -> None:
    agree(OPERATIONS[name], np.random.default_rng(1).normal(size=(5, 9, 33, 37)).astype(dtype))


@pytest.mark.parametrize("name", ["reflect", "bicubic", "nearest"])
def test_large_images_small_ones_and_views(name: str) -> None:
    r = np.random.default_rng(1)
    agree(OPERATIONS[name], r.normal(size=(2, 2, 401, 301)).astype(np.float32))
    agree(OPERATIONS[name], r.normal(size=(1, 1, 6, 7)).astype(np.float32))
    agree(lambda x: OPERATIONS[name](x.transpose(2, 3)), r.normal(size=(3, 5, 67, 55)).astype(np.float32))


def test_what_is_no_number_stays_where_it_is_taken() -> None:
    x = np.random.default_rng(1).normal(size=(4, 9, 33, 37)).astype(np.float32)
    x[0, 0, 5, 6], x[1, 1, 0, 0], x[2, 2, 2, 2] = np.nan, np.inf, -0.0
    for name in ("reflect", "replicate", "nearest"):
        found, *_ = results(OPERATIONS[name], x)
        with torch.backends.compiled.flags(enabled=False):
            wanted, *_ = results(OPERATIONS[name], x)
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
