"""Batch, instance and group norm by compiled loops against the way that NumPy goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack as torch
from gradpack.backends.compiled import flags

from .ways import assert_close, both_ways, normal

pytest.importorskip("numba")
channel_norms = pytest.importorskip("gradpack.kernels.numba.loops.channel_norms")
F = torch.nn.functional
SHAPES = [(9, 6, 30, 31), (3, 4, 5001), (40_001, 2), (700, 10, 7)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("affine", [True, False])
def test_group_norm(shape: tuple[int, ...], dtype: Any, affine: bool) -> None:
    vectors = [normal(shape[1], dtype=dtype, seed=nr) for nr in (1, 2)] if affine else []
    x = normal(*shape, dtype=dtype) * 3 + 1
    assert_close(both_ways(lambda x, *v: F.group_norm(x, 2, *v), x, *vectors), 1e-4)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(shape: tuple[int, ...], dtype: Any, affine: bool, training: bool) -> None:
    vectors = [normal(shape[1], dtype=dtype, seed=nr) for nr in (1, 2)] if affine else []

    def call(x: Any, *v: Any) -> Any:
        running = torch.tensor(normal(shape[1], dtype=dtype)), torch.ones(shape[1], dtype=x.dtype) * 2
        out = F.batch_norm(x, *running, *v, training=training)
        return torch.cat([out.reshape(-1), *running])

    x = normal(*shape, dtype=dtype) * 3 + 1
    assert_close(both_ways(call, x, *vectors), 1e-4)


def test_instance_norm() -> None:
    assert_close(both_ways(F.instance_norm, normal(9, 6, 30, 31) + 2))
    assert_close(both_ways(lambda x, w: F.instance_norm(x, weight=w), normal(9, 6, 30, 31), normal(6)))


def test_one_gradient_of_several() -> None:
    x, w, b = (torch.tensor(normal(*shape)) for shape in ((9, 6, 30, 31), (6,), (6,)))
    for function in (lambda *v: F.group_norm(v[0], 3, *v[1:]), lambda *v: F.batch_norm(v[0], None, None, *v[1:], True)):
        for nr in range(3):
            found = []
            for enabled in (True, False):
                given = [t.detach().requires_grad_(i == nr) for i, t in enumerate((x, w, b))]
                with flags(enabled):
                    (function(*given) * x).sum().backward()
                assert [t.grad is None for t in given] == [i != nr for i in range(3)]
                found.append(given[nr].grad.numpy())
            assert np.allclose(*found, rtol=1e-4, atol=1e-3)


def test_far_from_zero_nothing_is_lost() -> None:
    x = normal(8, 4, 40, 40) + 1000
    wide = x.astype(np.float64)
    wide -= wide.mean((0, 2, 3), keepdims=True)
    wide /= np.sqrt((wide**2).mean((0, 2, 3), keepdims=True) + 1e-5)
    with flags(True):
        assert np.abs(F.batch_norm(torch.tensor(x), None, None, training=True).numpy() - wide).max() < 2e-4
        grouped = F.group_norm(torch.tensor(x), 2).numpy().astype(np.float64)
    assert np.abs(grouped.reshape(8, 2, -1).std(-1) - 1).max() < 1e-4


@pytest.mark.parametrize("strange", [np.nan, np.inf])
def test_what_is_not_finite_spoils_its_channel_only(strange: float) -> None:
    x = normal(9, 6, 30, 31)
    x[2, 3, 4, 5] = strange
    for function in (lambda x: F.group_norm(x, 3), lambda x: F.batch_norm(x, None, None, training=True)):
        fast, plain = both_ways(function, x)
        for a, b in zip(fast, plain, strict=True):
            assert np.array_equal(np.isnan(a), np.isnan(b))
            assert not np.isnan(np.delete(a, [2, 3], 1)).any()


def test_channels_last_and_small_inputs_agree() -> None:
    last = normal(9, 30, 31, 6)
    assert_close(both_ways(lambda x: F.group_norm(x.permute(0, 3, 1, 2), 2), last))
    assert_close(both_ways(lambda x: F.batch_norm(x.permute(0, 3, 1, 2), None, None, training=True), last))
    assert_close(both_ways(lambda x: F.group_norm(x, 2), normal(2, 4, 5)))


def _statistics(kind: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of channels, or of groups of two channels."""
    batch, channels = x.shape[:2]
    mean, other = (np.empty(channels if kind == "batch" else batch * channels // 2, x.dtype) for _ in range(2))
    if kind == "batch":
        channel_norms.statistics(x, mean, other)
        return mean, other
    weight = np.ones(channels, x.dtype)
    channel_norms.group_norm(x, channels // 2, weight, weight, 1e-5, np.empty_like(x), mean, other)
    return mean, 1 / other.astype(np.float64) ** 2 - 1e-5


@pytest.mark.parametrize("kind", ["batch", "group"])
@pytest.mark.parametrize("shape", [(40, 8, 121), (5, 4, 5003)])
@pytest.mark.parametrize("distance", [30, 1000, 30_000])
def test_a_mean_far_from_zero_is_rounded_once(kind: str, shape: tuple[int, ...], distance: int) -> None:
    x = normal(*shape) + np.float32(distance)
    mean, variance = _statistics(kind, x)
    lines = x.swapaxes(0, 1).reshape(shape[1], -1) if kind == "batch" else x.reshape(-1, 2 * shape[2])
    wide = lines.astype(np.float64)
    assert np.abs(mean - wide.mean(1)).max() <= 0.51 * np.spacing(np.float32(distance))
    np.testing.assert_allclose(variance, wide.var(1), rtol=1e-6)


def test_an_infinite_mean_is_told_from_one_that_is_none() -> None:
    x = normal(6, 3, 3000)
    x[1, 1, 5], x[2, 2, 7] = np.inf, np.nan
    mean, variance = _statistics("batch", x)
    assert np.isfinite(mean[0])
    assert np.isposinf(mean[1])
    assert np.isnan(mean[2])
    assert np.isnan(variance).tolist() == [False, True, True]
