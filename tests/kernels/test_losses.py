"""Huber's loss and its like over large arrays of float32, against float64."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch

pytest.importorskip("numba")

F = torch.nn.functional


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("limit", [0.5, 1.0, 1e9])
@pytest.mark.parametrize("size", [(1 << 15) + 77, 1 << 20])
def test_sums(size, limit, reduction):
    r = np.random.default_rng(0)
    x, y = (r.normal(size=size) for _ in range(2))
    d = np.abs(x.astype(np.float32).astype(float) - y.astype(np.float32).astype(float))
    inner = np.minimum(d, limit)
    expected = (inner * (d - inner / 2)).sum() / (size if reduction == "mean" else 1)
    a, b = (torch.tensor(v, dtype=torch.float32) for v in (x, y))
    assert F.huber_loss(a, b, delta=limit, reduction=reduction).item() == pytest.approx(expected, rel=1e-6)
    smooth = F.smooth_l1_loss(a, b, beta=limit, reduction=reduction).item()
    assert smooth == pytest.approx(expected / limit, rel=1e-6)


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_no_number_stays(special):
    x = torch.zeros(1 << 16)
    x[77] = special
    for found in (F.huber_loss(x, torch.zeros(1 << 16)), F.huber_loss(torch.zeros(1 << 16), x)):
        np.testing.assert_equal(found.item(), special)
