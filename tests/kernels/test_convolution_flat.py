"""The gradient by the weight from images as single rows is that of copied windows."""

from __future__ import annotations

import numpy as np
import pytest

from gradpack.kernels.blocks import convolution_flat
from gradpack.ops.conv.correlate import correlate_weight

CASES = [
    # batch, channels, out channels, size, kernel, padding, dilation
    (2, 3, 4, (9, 8), (3, 3), (1, 1), (1, 1)),
    (5, 2, 1, (10, 7), (2, 3), (0, 2), (1, 2)),
    (1, 1, 2, (12, 5), (4, 1), (3, 0), (1, 1)),
    (3, 2, 2, (4, 5), (2, 2), (3, 2), (2, 1)),  # more padding than windows reach over
    (2, 2, 3, (6, 5, 7), (3, 2, 3), (1, 0, 1), (1, 1, 1)),
    (3, 2, 3, (11,), (5,), (2,), (1,)),
]


def chosen(case, count):
    batch, _, _, size, kernel, padding, _ = case
    return convolution_flat.worth_while(kernel, (1,) * len(size), padding, 1, batch, size, count)


@pytest.mark.parametrize("block", [1, 40000, 1 << 20])  # bytes: single images, several, all
@pytest.mark.parametrize("case", CASES)
def test_rows_are_windows(monkeypatch, case, block):
    batch, channels, outs, size, kernel, padding, dilation = case
    count = tuple(n + 2 * p - d * (k - 1) for n, k, p, d in zip(case[3], *case[4:], strict=True))
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(batch, channels, *size)), rng.normal(size=(batch, outs, *count))
    given = (x, y, kernel, (1,) * len(size), padding, dilation, 1)
    assert not chosen(case, count)  # so small
    assert convolution_flat.correlate_weight(*given) is NotImplemented
    for name, value in (("MANY", 0), ("LEAST", 7), ("WASTE", 100), ("BLOCK", block)):
        monkeypatch.setattr(convolution_flat, name, value)
    found = convolution_flat.correlate_weight(*given)
    np.testing.assert_allclose(found, correlate_weight.reference(*given), rtol=1e-10, atol=1e-10)


def test_what_is_not_worth_while():
    case = (64, 2, 2, (9, 8), (3, 3), (1, 1), (1, 1))
    assert chosen(case, (9, 8))
    assert not convolution_flat.worth_while((3, 3), (2, 1), (1, 1), 1, 64, (9, 8), (5, 8))  # longer steps
    assert not convolution_flat.worth_while((3, 3), (1, 1), (1, 1), 2, 64, (9, 8), (9, 8))  # groups
    assert not convolution_flat.worth_while((1, 1), (1, 1), (0, 0), 1, 64, (9, 8), (9, 8))
    assert not convolution_flat.worth_while((8, 7), (1, 1), (0, 0), 1, 999, (9, 8), (2, 2))  # mostly between images
