"""Convolutions whose windows overlap in memory along the first dimension are those of copied windows."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.kernels.blocks import convolution_rows
from gradpack.ops.conv.correlate import correlate

CASES = [
    # batch, channels, out channels, size, kernel, stride, padding, dilation
    (2, 3, 4, (9, 8), (3, 3), (1, 1), (1, 1), (1, 1)),
    (3, 2, 1, (10, 7), (2, 3), (2, 1), (0, 2), (1, 2)),
    (1, 1, 2, (12, 5), (4, 1), (3, 2), (3, 0), (1, 1)),
    (2, 2, 3, (6, 5, 7), (3, 2, 3), (1, 1, 2), (1, 0, 1), (1, 1, 1)),
    (4, 2, 2, (5, 6, 4), (2, 3, 2), (2, 2, 1), (1, 2, 0), (1, 2, 1)),
]


@pytest.mark.parametrize("block", [1, 4000, 1 << 20])  # bytes: a few rows, several images, all
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_rows_are_windows(monkeypatch, case, bias, block):
    batch, channels, outs, size, kernel, stride, padding, dilation = case
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(batch, channels, *size)), rng.normal(size=(outs, channels, *kernel))
    count = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    )
    given = (x, w, stride, padding, dilation, 1, count, rng.normal(size=outs) if bias else None)
    assert convolution_rows.correlate(*given) is NotImplemented  # so small
    for name, value in (("FEW", 1), ("MANY", 0), ("BLOCK", block)):
        monkeypatch.setattr(convolution_rows, name, value)
    found = convolution_rows.correlate(*given)
    np.testing.assert_allclose(found, correlate.reference(*given), rtol=1e-10, atol=1e-10)


def test_a_large_one():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(2, 4, 40, 36)), rng.normal(size=(3, 4, 3, 3))
    assert convolution_rows.worth_while((3, 3), (1, 1), 1, 2, (40, 36))
    found = torch.nn.functional.conv2d(torch.tensor(x), torch.tensor(w), padding=1).numpy()
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = np.einsum("nchwij,ocij->nohw", np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3)), w)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
