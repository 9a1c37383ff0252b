"""Convolutions whose windows overlap in memory along the first dimension are those of copied windows."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.ops.conv import correlate_rows

CASES = [
    # batch, channels, out channels, size, kernel, stride, padding, dilation
    (2, 3, 4, (9, 8), (3, 3), (1, 1), (1, 1), (1, 1)),
    (3, 2, 1, (10, 7), (2, 3), (2, 1), (0, 2), (1, 2)),
    (1, 1, 2, (12, 5), (4, 1), (3, 2), (3, 0), (1, 1)),
    (2, 2, 3, (6, 5, 7), (3, 2, 3), (1, 1, 2), (1, 0, 1), (1, 1, 1)),
    (4, 2, 2, (5, 6, 4), (2, 3, 2), (2, 2, 1), (1, 2, 0), (1, 2, 1)),
]


def results(case, bias):
    batch, channels, outs, size, kernel, stride, padding, dilation = case
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.normal(size=(batch, channels, *size)), requires_grad=True)
    w = torch.tensor(rng.normal(size=(outs, channels, *kernel)), requires_grad=True)
    b = torch.tensor(rng.normal(size=outs), requires_grad=True) if bias else None
    function = getattr(torch.nn.functional, f"conv{len(size)}d")
    y = function(x, w, b, stride, padding, dilation)
    inputs = [x, w, *([b] if bias else [])]
    return [t.detach().numpy() for t in (y, *torch.autograd.grad((y * y).sum(), inputs))]


@pytest.mark.parametrize("block", [1, 4000, 1 << 20])  # bytes: a few rows, several images, all
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_rows_are_windows(monkeypatch, case, bias, block):
    assert not correlate_rows.worth_while(case[4], case[7], 1, case[0], case[3])  # so small
    expected = results(case, bias)
    for name, value in (("FEW", 1), ("MANY", 0), ("BLOCK", block)):
        monkeypatch.setattr(correlate_rows, name, value)
    assert correlate_rows.worth_while(case[4], case[7], 1, case[0], case[3])
    for found, right in zip(results(case, bias), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-10, atol=1e-10)


def test_a_large_one():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(2, 4, 40, 36)), rng.normal(size=(3, 4, 3, 3))
    assert correlate_rows.worth_while((3, 3), (1, 1), 1, 2, (40, 36))
    found = torch.nn.functional.conv2d(torch.tensor(x), torch.tensor(w), padding=1).numpy()
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = np.einsum("nchwij,ocij->nohw", np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3)), w)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
