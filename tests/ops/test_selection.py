"""Choosing without branches gives the very bits that NumPy's `where` gives."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import gradpack as torch
from gradpack.ops.pointwise.operands import LARGE, limit, select

DTYPES = ["f4", "f8", "c8", "c16", "i1", "i4", "i8", "f2", "u1"]
SIDE = int(LARGE**0.5) + 5
SHAPES = [
    ((SIDE, SIDE), (SIDE, SIDE), (SIDE, SIDE)),
    ((1, SIDE), (SIDE, SIDE), (SIDE, 1)),
    ((SIDE, SIDE), (SIDE,), ()),
    ((SIDE, SIDE), None, (SIDE, SIDE)),
    ((SIDE, SIDE), (SIDE, 1), None),
    ((), (2 * LARGE,), (1,)),
    ((3, 1), (1, 2 * LARGE), None),
    ((5,), (5,), None),
]


def operands(dtype, shapes):
    rng = np.random.default_rng(0)
    mask = np.asarray(rng.random(shapes[0]) < 0.5)
    values = [None if s is None else np.asarray(rng.normal(size=s) * 50).astype(dtype) for s in shapes[1:]]
    return mask, *values


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shapes", SHAPES)
def test_select_is_where(dtype, shapes):
    mask, x, y = operands(dtype, shapes)
    numbers = [0, 3] if np.dtype(dtype).kind in "iu" else [0.0, -0.0, 2.5, float("nan")]
    for number in numbers:
        a, b = (number if v is None else v for v in (x, y))
        found, expected = select(mask, a, b), np.where(mask, a, b)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        assert found.tobytes() == expected.tobytes()
        assert not any(np.shares_memory(found, v) for v in (mask, x, y) if v is not None)


def test_select_keeps_a_foreign_dtype():
    x = np.ones(2 * LARGE, ml_dtypes.bfloat16)
    found = select(np.arange(2 * LARGE) % 2 == 0, x, 0.0)
    assert found.dtype == x.dtype
    assert found[:4].tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_limit(dtype):
    x = np.random.default_rng(0).normal(size=2 * LARGE).astype(dtype)
    x[:4] = [np.nan, np.inf, -np.inf, -0.0]
    for low, high in itertools.product([None, -0.5, 0.5, np.nan, 1, np.inf], [None, 0.2, -0.7, np.nan, -np.inf]):
        expected = x if low is None else np.maximum(x, low)
        expected = expected if high is None else np.minimum(expected, high)
        found = limit(x, low, high)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found, expected, err_msg=f"{low}, {high}")


@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_limit_of_zero_keeps_its_sign(dtype, zero):
    x = torch.tensor([-1.0, -2.0], dtype=dtype)
    for limited in (x.clamp(min=zero), x.clamp(zero, 2.0), torch.nn.functional.hardtanh(x, zero, 2.0)):
        assert limited.signbit().tolist() == [np.signbit(zero)] * 2
