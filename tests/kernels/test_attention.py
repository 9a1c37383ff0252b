"""Attention with compiled loops over its scores against the way that NumPy goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack as torch
from gradpack.backends.compiled import flags

pytest.importorskip("numba")
loops = pytest.importorskip("gradpack.kernels.numba.loops.attention")
attention = torch.nn.functional.scaled_dot_product_attention


def normal(*shape: int, seed: int = 0) -> Any:
    return torch.tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def both_ways(query: Any, key: Any, value: Any, *args: Any, seed: int = 5, **kwargs: Any) -> list[list[np.ndarray]]:
    found = []
    for enabled in (True, False):
        with flags(enabled):
            leaves = [x.detach().requires_grad_() for x in (query, key, value)]
            torch.manual_seed(3)
            out = attention(*leaves, *args, **kwargs)
            gradients = torch.autograd.grad(out, leaves, normal(*out.shape, seed=seed))
            found.append([x.detach().numpy() for x in (out, *gradients)])
    return found


def assert_close(found: list[list[np.ndarray]], tolerance: float = 1e-5) -> None:
    for a, b in zip(*found, strict=True):
        assert np.abs(a - b).max() <= tolerance * max(1, np.abs(b).max())


def matrices(rows: int, columns: int, heads: tuple[int, ...] = (3, 4), width: int = 24) -> list[Any]:
    return [normal(*heads, n, width, seed=nr) for nr, n in enumerate((rows, columns, columns))]


# many heads to a block, one, and several blocks to a head; more and fewer queries than keys
SIZES = [(130, 130), (61, 50), (300, 201), (201, 300)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("p", [0.0, 0.25])
def test_causal_and_dropped(size: tuple[int, int], causal: bool, p: float) -> None:
    heads = (7, 40) if size == (61, 50) else (3, 4)
    assert_close(both_ways(*matrices(*size, heads), is_causal=causal, dropout_p=p))


@pytest.mark.parametrize("size", SIZES)
def test_masks(size: tuple[int, int]) -> None:
    q, k, v = matrices(*size, (3, 8))
    kept = normal(*size, seed=7) > -0.5
    kept[0] = False
    for mask in (kept, normal(3, 8, *size, seed=8) > 0, normal(*size, seed=8), normal(3, 8, *size, seed=9)):
        assert_close(both_ways(q, k, v, mask))
        assert_close(both_ways(q, k, v, mask, 0.1))


@pytest.mark.parametrize("scale", [0.3, 12.0, -0.4])
def test_scales(scale: float) -> None:
    assert_close(both_ways(*matrices(130, 130), scale=scale), 1e-3 if scale > 1 else 1e-5)  # scores of some hundreds


def test_heads_that_lie_apart() -> None:
    whole = normal(3, 130, 3 * 8 * 24)
    parts = (x.view(3, 130, 8, 24).transpose(1, 2) for x in whole.chunk(3, -1))
    assert_close(both_ways(*parts, is_causal=True))
    assert_close(both_ways(*(x.mT.contiguous().mT for x in matrices(130, 130))))


@pytest.mark.parametrize("strange", [np.nan, np.inf])
def test_what_is_not_finite_spoils_its_query_only(strange: float) -> None:
    q, k, v = matrices(130, 130)
    q[1, 2, 5, 3] = strange
    with np.errstate(invalid="ignore"):
        fast, plain = both_ways(q, k, v, is_causal=True)
    for a, b in zip(fast[:2], plain[:2], strict=True):
        assert np.array_equal(np.isnan(a), np.isnan(b))
        assert not np.isnan(np.delete(a.reshape(12, 130, 24), 6, 0)).any()


def test_everything_dropped() -> None:
    fast, _ = both_ways(*matrices(130, 130), dropout_p=1.0)
    assert not any(a.any() for a in fast)


def test_sums_of_long_rows_do_not_drift() -> None:
    count = 2_000_000
    scores = -np.random.default_rng(0).random((1, count), np.float32)
    total, logarithm = np.empty(1, np.float32), np.empty(1, np.float32)
    loops.probabilities(
        scores, 0, 1, count, False, 1.0, np.zeros(0, np.uint8), total, logarithm
    )  # fmt: skip
    assert total[0] == pytest.approx(scores.sum(dtype=np.float64), rel=1e-7)
