"""The gradient by the weight from images as single rows is that of copied windows."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.ops.conv import correlate_flat

CASES = [
    # batch, channels, out channels, size, kernel, padding, dilation
    (2, 3, 4, (9, 8), (3, 3), (1, 1), (1, 1)),
    (5, 2, 1, (10, 7), (2, 3), (0, 2), (1, 2)),
    (1, 1, 2, (12, 5), (4, 1), (3, 0), (1, 1)),
    (3, 2, 2, (4, 5), (2, 2), (3, 2), (2, 1)),  # more padding than windows reach over
    (2, 2, 3, (6, 5, 7), (3, 2, 3), (1, 0, 1), (1, 1, 1)),
    (3, 2, 3, (11,), (5,), (2,), (1,)),
]


def gradient(case):
    batch, channels, outs, size, kernel, padding, dilation = case
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.normal(size=(batch, channels, *size)))
    w = torch.tensor(rng.normal(size=(outs, channels, *kernel)), requires_grad=True)
    y = getattr(torch.nn.functional, f"conv{len(size)}d")(x, w, None, 1, padding, dilation)
    return torch.autograd.grad((y * y).sum(), w)[0].numpy()


def chosen(case, count):
    batch, _, _, size, kernel, padding, _ = case
    return correlate_flat.worth_while(kernel, (1,) * len(size), padding, 1, batch, size, count)


@pytest.mark.parametrize("block", [1, 40000, 1 << 20])  # bytes: single images, several, all
@pytest.mark.parametrize("case", CASES)
def test_rows_are_windows(monkeypatch, case, block):
    count = tuple(n + 2 * p - d * (k - 1) for n, k, p, d in zip(case[3], *case[4:], strict=True))
    assert not chosen(case, count)  # so small
    expected = gradient(case)
    for name, value in (("MANY", 0), ("LEAST", 7), ("WASTE", 100), ("BLOCK", block)):
        monkeypatch.setattr(correlate_flat, name, value)
    assert chosen(case, count)
    np.testing.assert_allclose(gradient(case), expected, rtol=1e-10, atol=1e-10)


def test_what_is_not_worth_while():
    case = (64, 2, 2, (9, 8), (3, 3), (1, 1), (1, 1))
    assert chosen(case, (9, 8))
    assert not correlate_flat.worth_while((3, 3), (2, 1), (1, 1), 1, 64, (9, 8), (5, 8))  # longer steps
    assert not correlate_flat.worth_while((3, 3), (1, 1), (1, 1), 2, 64, (9, 8), (9, 8))  # groups
    assert not correlate_flat.worth_while((1, 1), (1, 1), (0, 0), 1, 64, (9, 8), (9, 8))
    assert not correlate_flat.worth_while((8, 7), (1, 1), (0, 0), 1, 999, (9, 8), (2, 2))  # mostly between images
