"""What is computed in whole vectors, against SciPy one by one."""

from __future__ import annotations

import numpy as np
import pytest

from gradpack.ops.special.large_arrays import erfinv_of, zeta_two_of

special = pytest.importorskip("scipy.special")


def units(found, exact):
    """The error in units in the last place."""
    return np.abs(found - exact) / np.spacing(np.abs(exact).astype(found.dtype))


def test_erfinv():
    x = np.concatenate([np.linspace(-1, 1, 40001), np.geomspace(1e-30, 1, 2001), 1 - np.geomspace(6e-8, 1e-2, 2001)])
    x = x.astype(np.float32)
    with np.errstate(all="ignore"):  # as for every operation
        found, exact = erfinv_of(x, special.erfinv), special.erfinv(x.astype(np.float64))
    assert found.dtype == np.float32
    inside = np.abs(x) < 1
    assert units(found[inside], exact[inside]).max() <= 4
    np.testing.assert_array_equal(found[~inside], exact[~inside])


def test_erfinv_outside():
    x = np.full(5000, 0.5, np.float32)
    x[:4] = [2.0, np.nan, 1.0, -1.0]
    with np.errstate(all="ignore"):  # as for every operation
        found = erfinv_of(x, special.erfinv)
    np.testing.assert_array_equal(found[:4], np.float32([np.nan, np.nan, np.inf, -np.inf]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeta_two(dtype):
    x = np.concatenate([np.linspace(0.5, 20, 8001), np.geomspace(20, 1e6, 1001)]).astype(dtype)
    found = zeta_two_of(x, special.zeta)
    assert found.dtype == dtype
    assert units(found, special.zeta(2, x.astype(np.float64))).max() <= 8


def test_small_arrays_and_others_go_the_plain_way():
    assert erfinv_of(np.float32([0.5]), lambda x: "plain") == "plain"
    assert erfinv_of(np.zeros(5000), lambda x: "plain") == "plain"
    assert zeta_two_of(np.ones(4), lambda x: "plain") == "plain"
