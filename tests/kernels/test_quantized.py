"""Loops of `saved.quantize` against the way that NumPy goes."""

from __future__ import annotations

import numpy as np
import pytest

from gradpack.backends.compiled import flags
from gradpack.saved.policies.quantize import Quantize, extremes

pytest.importorskip("numba")
GROUPS = {8: 256, 4: 64, 2: 32}


def both_ways(bits: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    made = []
    for enabled in (True, False):
        with flags(enabled):
            policy = Quantize(bits, GROUPS[bits], stochastic=True, seed=3, min_bytes=0)
            made.append(policy.decode(*policy.encode((x,), policy.draw(768, known=True)))[0])
    return made[0], made[1]


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_the_same_numbers(bits: int) -> None:
    """But for those that lie on the border of two codes, where one rounding less decides."""
    x = np.random.default_rng(1).standard_normal(50_003).astype(np.float32)
    fast, plain = both_ways(bits, x)
    step = 12 / 2**bits
    assert np.abs(fast - x).max() < step
    assert (np.abs(fast - plain) > 1e-5).mean() < 1e-3


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_as_it_is(strange: float) -> None:
    x = np.ones(40_000, np.float32)
    x[20_001] = strange
    fast, plain = both_ways(8, x)
    assert np.array_equal(fast, x, equal_nan=True)
    assert np.array_equal(plain, x, equal_nan=True)


def test_extremes() -> None:
    block = np.random.default_rng(2).standard_normal((64, 600)).astype(np.float32)
    least, largest = extremes(block)
    assert np.array_equal(least, block.min(0))
    assert np.array_equal(largest, block.max(0))
