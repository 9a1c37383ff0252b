"""Running sums, products and extremes by compiled loops: the same as without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack as torch

pytest.importorskip("numba")

SHAPES = [(403, 97), (1, 40_003), (3, 5, 2501)]
OPERATIONS = {
    "cumsum": lambda x: x.cumsum(-1),
    "cumprod": lambda x: (1 + x / 16).cumprod(-1),
    "cummax": lambda x: x.cummax(-1),
    "cummin": lambda x: x.cummin(-1),
    "logcumsumexp": lambda x: x.logcumsumexp(-1),
    "prod": lambda x: (1 + x / 16).prod(-1),
    "prod of all": lambda x: (1 + x / 256).prod(),
}


def _results(call: Any, array: Any) -> list[Any]:
    x = torch.tensor(array, requires_grad=True)
    made = call(x)
    outs = list(made) if isinstance(made, tuple) else [made]
    seed = np.random.default_rng(2).normal(size=tuple(outs[0].shape)).astype(array.dtype)
    return [t.detach().numpy() for t in (*outs, *torch.autograd.grad(outs[0], x, torch.tensor(seed)))]


def _without(call: Any, array: Any) -> list[Any]:
    with torch.backends.compiled.flags(enabled=False):
        return _results(call, array)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_results_and_gradients_agree(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(1).normal(size=shape).astype(dtype)
    error = 2e-5 if dtype == "float32" else 1e-12
    for a, b in zip(_results(OPERATIONS[name], array), _without(OPERATIONS[name], array), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e3 * error, atol=error * max(abs(b).max(), 1))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "prod"])
def test_what_is_no_number_infinite_or_a_negative_zero(name: str) -> None:
    array = np.random.default_rng(1).normal(size=(401, 97)).astype(np.float32)
    for row, values in enumerate(([np.nan, 1, np.nan], [np.inf, -np.inf, 1], [-np.inf, 2, 3], [-0.0, 0.0, -0.0])):
        array[row, 5:8] = values
    array[4], array[5] = -0.0, np.nan
    with np.errstate(all="ignore"):
        for a, b in zip(_results(OPERATIONS[name], array)[:-1], _without(OPERATIONS[name], array)[:-1], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_of_equal_extremes_the_last_one_counts(name: str) -> None:
    array = np.random.default_rng(1).integers(0, 3, (401, 97)).astype(np.float32)
    for a, b in zip(_results(OPERATIONS[name], array), _without(OPERATIONS[name], array), strict=True):
        np.testing.assert_array_equal(a, b)


def test_long_sums_do_not_drift() -> None:
    x = torch.full((1 << 20,), 0.1)
    assert x.cumsum(0)[-1].item() == pytest.approx((1 << 20) * float(np.float32(0.1)), rel=1e-7)


def test_other_dimensions_and_views_agree() -> None:
    array = np.random.default_rng(1).normal(size=(211, 199)).astype(np.float32)
    for call in (
        lambda x: x.cumsum(0),
        lambda x: x.t().cumsum(1),
        lambda x: x[:, ::2].cumsum(1),
        lambda x: x[:3].cumsum(1),
    ):
        for a, b in zip(_results(call, array), _without(call, array), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_gradients_of_long_running_products_do_not_drift() -> None:
    array = 1 + np.random.default_rng(0).normal(size=(100, 2000)).astype(np.float32) / 50
    seed = np.random.default_rng(2).normal(size=array.shape).astype(np.float32)
    found = []
    for dtype in (np.float32, np.float64):
        x = torch.tensor(array.astype(dtype), requires_grad=True)
        found.append(torch.autograd.grad(x.cumprod(1), x, torch.tensor(seed.astype(dtype)))[0].numpy())
    assert np.abs(found[0] - found[1]).max() <= 4e-7 * np.abs(found[1]).max()  # some roundings of 6e-8
