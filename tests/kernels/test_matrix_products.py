"""Products of matrices by compiled loops: in any layout, cut in any way, with vectors of any width."""

from __future__ import annotations

import os
import subprocess
import sys
from platform import machine

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from gradpack.kernels import dispatch  # noqa: E402
from gradpack.kernels.dispatch import loaded  # noqa: E402
from gradpack.kernels.numba.loops.vectors import OF, ROWS, VECTORS  # noqa: E402
from gradpack.kernels.table import Kernel  # noqa: E402

affine = loaded(Kernel("numba", "products.affine"))


def laid(rng, shape, dtype, layout):
    """Random numbers by rows, by columns, with gaps, backwards, or one row for all."""
    *batch, rows, columns = shape
    if layout == "rows":
        return rng.standard_normal(shape).astype(dtype)
    if layout == "columns":
        return rng.standard_normal((*batch, columns, rows)).astype(dtype).swapaxes(-1, -2)
    if layout == "gaps":
        return rng.standard_normal((*batch, 2 * rows, 3 * columns)).astype(dtype)[..., ::2, ::3]
    if layout == "backwards":
        return rng.standard_normal(shape).astype(dtype)[..., ::-1, ::-1]
    return np.broadcast_to(rng.standard_normal((*batch, 1, columns)).astype(dtype), shape)


LAYOUTS = ("rows", "columns", "gaps", "backwards", "broadcast")


def check(made, a, b, bias):
    """Compare with NumPy's product of float64, within what the order of sums may change."""
    a, b, kind = a.astype("d"), b.astype("d"), made.dtype
    exact, size = a @ b + bias, np.abs(a) @ np.abs(b) + np.abs(bias)
    assert made.shape == exact.shape
    assert (np.abs(made - exact) <= 4 * np.sqrt(a.shape[-1]) * np.finfo(kind).eps * size).all()


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("a_layout", LAYOUTS)
@pytest.mark.parametrize("b_layout", LAYOUTS)
def test_products_of_any_layout_and_size(dtype, a_layout, b_layout):
    rng = np.random.default_rng(LAYOUTS.index(a_layout) * 5 + LAYOUTS.index(b_layout))
    for batches in (((), ()), ((3,), (3,)), ((2, 3), (1, 3)), ((2, 1), (3,)), ((), (2,))):
        m, k, n = (int(x) for x in rng.integers(1, 200, 3))
        a, b = laid(rng, (*batches[0], m, k), dtype, a_layout), laid(rng, (*batches[1], k, n), dtype, b_layout)
        bias = rng.standard_normal(n).astype(dtype)
        check(affine(a, b, None), a, b, np.zeros(n, dtype))
        check(affine(a, b, bias), a, b, bias)


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_sizes_about_those_of_tiles_and_of_blocks(dtype):
    rng = np.random.default_rng(0)
    lanes = OF[dtype].lanes
    rows = {1, ROWS - 1, ROWS, ROWS + 1, 128, 129, 257}
    columns = {1, lanes - 1, lanes, lanes + 1, VECTORS * lanes, VECTORS * lanes + 1, 2 * VECTORS * lanes + lanes}
    for m, n, k in zip(sorted(rows), sorted(columns), (1, 2, lanes, 160, 161, 641, 320), strict=True):
        for b_layout in ("rows", "columns"):
            a, b = laid(rng, (m, k), dtype, "rows"), laid(rng, (k, n), dtype, b_layout)
            check(affine(a, b, None), a, b, np.zeros(n, dtype))


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_a_part_of_a_product_is_the_product_of_the_part(dtype):
    rng = np.random.default_rng(1)
    a, b = laid(rng, (300, 500), dtype, "rows"), laid(rng, (500, 270), dtype, "columns")
    bias = rng.standard_normal(270).astype(dtype)
    whole = affine(a, b, bias)
    for rows, columns in ((slice(0, 1), slice(0, 270)), (slice(3, 77), slice(5, 6)), (slice(140, 299), slice(49, 200))):
        made = affine(a[rows], b[:, columns], np.ascontiguousarray(bias[columns]))
        np.testing.assert_array_equal(made, whole[rows, columns])


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_what_is_not_finite_stays_in_its_row_and_column(dtype):
    a, b = np.ones((70, 90), dtype), np.ones((90, 75), dtype)
    a[69, 3], b[5, 74] = np.nan, np.inf
    made = affine(a, b, None)
    assert np.isnan(made[69]).all() and np.isinf(made[:69, 74]).all()
    assert (made[:69, :74] == 90).all()


def test_operations_look_for_large_arrays_once_a_product_is_one():
    before = dispatch.SEEN[:]
    try:
        dispatch.SEEN.clear()
        affine(np.ones((64, 64), "f"), np.ones((64, 64), "f"), None)
        assert not dispatch.SEEN
        affine(np.ones((256, 64), "f"), np.ones((64, 256), "f"), None)
        assert dispatch.SEEN == [256 * 256]
    finally:
        dispatch.SEEN[:] = before


@pytest.mark.skipif(machine() not in ("x86_64", "AMD64"), reason="names of x86's features")
@pytest.mark.parametrize(("features", "width"), [("+sse,+sse2", 16), ("+sse,+sse2,+avx,+avx2,+fma", 32)])
def test_processors_with_other_vectors(features, width, tmp_path):
    code = f"""
import numpy as np
from gradpack.kernels.dispatch import loaded
from gradpack.kernels.numba.loops.vectors import WIDTH
from gradpack.kernels.table import Kernel
affine = loaded(Kernel("numba", "products.affine"))
assert WIDTH == {width}
a, b = np.arange(73 * 90, dtype="f").reshape(73, 90) % 7, np.arange(90 * 61, dtype="f").reshape(61, 90).T % 5
assert (affine(a, b, None) == a.astype("d") @ b.astype("d")).all()
"""
    environment = os.environ | {
        "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": features, "GRADPACK_CACHE_DIR": str(tmp_path),
    }  # fmt: skip
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=240)
