"""Softmax, its logarithm and dropout by compiled loops against the way that NumPy goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack as torch

from .ways import assert_close, both_ways, normal

pytest.importorskip("numba")
F = torch.nn.functional
KINDS = [torch.softmax, torch.log_softmax]


@pytest.mark.parametrize("function", KINDS, ids=["softmax", "log_softmax"])
@pytest.mark.parametrize(("shape", "scale"), [((700, 51), 1), ((700, 51), 40), ((3, 12_001), 3), ((20_001, 2), 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows(function: Any, shape: tuple[int, int], scale: float, dtype: Any) -> None:
    assert_close(both_ways(lambda x: function(x, -1), normal(*shape, dtype=dtype) * dtype(scale)))


@pytest.mark.parametrize("function", KINDS, ids=["softmax", "log_softmax"])
def test_what_is_not_finite_spoils_its_row_only(function: Any) -> None:
    x = normal(600, 70)
    x[3, 4], x[5, 6], x[7], x[8, 1], x[10, 5] = np.nan, np.inf, -np.inf, -np.inf, np.copysign(np.nan, -1)
    found = both_ways(lambda x: function(x, -1), x)
    assert_close(found)
    assert np.isnan(found[0][0]).any(1).nonzero()[0].tolist() == [3, 5, 7, 10]


def test_columns_transposed_and_small_inputs_agree() -> None:
    assert_close(both_ways(lambda x: torch.softmax(x, 0), normal(600, 70)))
    assert_close(both_ways(lambda x: torch.softmax(x.t(), -1), normal(600, 70)))
    assert_close(both_ways(lambda x: torch.log_softmax(x, -1), normal(6, 7)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
def test_dropout(dtype: Any, p: float) -> None:
    x = normal(333, 101, dtype=dtype)
    x[2, 3], x[2, 4], x[2, 5], x[2, 6] = np.nan, np.inf, -np.inf, -0.0
    fast, plain = both_ways(lambda x: F.dropout(x, p), x)
    for a, b in zip(fast, plain, strict=True):
        assert np.array_equal(a, b, equal_nan=True)


def test_dropout_of_channels_and_of_transposed_inputs() -> None:
    assert_close(both_ways(lambda x: F.dropout2d(x, 0.3), normal(11, 13, 17, 19)))
    assert_close(both_ways(lambda x: F.dropout(x.t(), 0.3), normal(333, 101)))


def test_the_generator_goes_on_in_the_same_way() -> None:
    fast, plain = both_ways(lambda x: F.dropout(x, 0.3) + torch.rand(333, 101), normal(333, 101))
    assert np.array_equal(fast[0], plain[0])
