"""The library that multiplies matrices: NumPy's, or MKL where it is installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import gradpack as torch
from gradpack.base import blas

needs_mkl = pytest.mark.skipif(blas.mkl() is None, reason="the extra mkl is not installed")


@pytest.fixture
def anew(monkeypatch):
    """Look for the libraries again, with what a test sets, and once more after it."""
    kept = blas.mkl, blas.gemm
    for one in kept:
        monkeypatch.setattr(blas, one.__name__, one.__wrapped__)
    return monkeypatch


def test_a_file_that_is_no_library_is_passed_over(anew, tmp_path):
    expected = blas.gemm("f")
    if blas.mkl() is not None:
        anew.setenv("GRADPACK_MKL", "0")
        expected = blas.gemm("f")
        anew.delenv("GRADPACK_MKL")
    for folder, name in (("lib", "libmkl_rt.so.3"), ("Library/bin", "mkl_rt.3.dll")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_bytes(b"no library")
    anew.setattr(sys, "prefix", str(tmp_path))
    assert blas.mkl() is None
    assert blas.gemm("f") == expected


@needs_mkl
def test_the_environment_leaves_it_out(anew):
    found = blas.gemm("d")
    anew.setenv("GRADPACK_MKL", "0")
    assert blas.mkl() is None
    assert blas.gemm("d") != found


@needs_mkl
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_products_of_mkl_are_the_same_with_one_thread_and_two(dtype):
    torch.manual_seed(0)
    a, b = torch.randn(700, 300, dtype=dtype), torch.randn(500, 300, dtype=dtype)
    before, found = torch.get_num_threads(), []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            found.append((a @ b.T).numpy())
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(*found)
    np.testing.assert_allclose(found[0], a.numpy() @ b.numpy().T, rtol=1e-4, atol=1e-4)
