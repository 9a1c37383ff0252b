"""Large rows take other code than small ones: their gradients are those of the composition, in float64."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch


def composed(x, w, b, groups):
    rows = x.reshape(x.shape[0], groups, -1) if groups else x
    centred = rows - rows.mean(-1, keepdim=True)
    y = centred / ((centred * centred).mean(-1, keepdim=True) + 1e-5).sqrt()
    return y.reshape(x.shape) * w + b


def gradients(f, arrays, dtype):
    inputs = [torch.tensor(a, dtype=dtype, requires_grad=True) for a in arrays]
    out = f(*inputs)
    seed = torch.tensor(np.cos(np.arange(out.numel())).reshape(out.shape), dtype=dtype)
    return [g.double().numpy() for g in torch.autograd.grad(out, inputs, seed)]


def check(fused, plain, arrays):
    expected = gradients(plain, arrays, torch.float64)
    for dtype, digits in ((torch.float32, 1e-4), (torch.float64, 1e-10)):
        for found, right in zip(gradients(fused, arrays, dtype), expected, strict=True):
            assert np.abs(found - right).max() <= digits * np.abs(right).max()


@pytest.mark.parametrize("spread", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("mean", [0.0, 0.5, 100.0])
def test_layer_norm_of_many_rows(spread, mean):
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((512, 96)) * spread + mean * spread, rng.standard_normal(96), rng.standard_normal(96)]
    arrays[0] = arrays[0].astype(np.float32).astype(np.float64)
    limit = 1e-4 if mean < 100 else 1e-2  # float32 has fewer digits left far from zero
    expected = gradients(lambda x, w, b: composed(x, w, b, 0), arrays, torch.float64)
    for dtype, digits in ((torch.float32, limit), (torch.float64, 1e-9)):
        found = gradients(lambda x, w, b: torch.nn.functional.layer_norm(x, (96,), w, b), arrays, dtype)
        for ours, right in zip(found, expected, strict=True):
            assert np.abs(ours - right).max() <= digits * np.abs(right).max()


def test_group_norm_of_large_groups():
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal((8, 16, 20, 20)) * 3 + 1, rng.standard_normal(16), rng.standard_normal(16)]
    check(
        lambda x, w, b: torch.nn.functional.group_norm(x, 4, w, b),
        lambda x, w, b: composed(x, w.reshape(1, 16, 1, 1), b.reshape(1, 16, 1, 1), 4),
        arrays,
    )


def test_softmax_of_many_rows():
    rng = np.random.default_rng(2)
    check(
        lambda x: x.softmax(-1),
        lambda x: (x - x.max()).exp() / (x - x.max()).exp().sum(-1, keepdim=True),
        [rng.standard_normal((512, 96)) * 3],
    )
