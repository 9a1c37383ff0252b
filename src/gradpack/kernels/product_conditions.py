"""Conditions of the table for products of matrices, and with vectors. They import no library."""

from __future__ import annotations

from sys import modules
from typing import Any

_WORK = [0]  # multiplications, so far


def product_of_blas(a: Any, b: Any) -> bool:
    """Whether BLAS would use several threads for a product, one factor of which may be a vector."""
    if a.dtype != b.dtype or a.dtype.char not in "fdFD" or not (a.ndim and b.ndim):
        return False
    if a.size * b.shape[-1] > 1 << 18:
        return True
    is_vector = a.ndim == 1 or b.ndim == 1 or a.shape[-2] == 1 or b.shape[-1] == 1
    return bool(is_vector and a.size + b.size > 1 << 13)


def product_of_many(a: Any, b: Any) -> bool:
    """Whether a product of matrices is large enough for several threads, and to import Numba, if that was not done.

    BLAS, which packs both factors, multiplies the largest matrices in less time, and small ones that lie by rows, too,
    if their columns do not fill tiles.
    """
    size = a.size * b.shape[-1]
    if size > 1 << 29 and a.ndim == b.ndim == 2 and (size > 1 << 34 or a.strides[1] != a.itemsize):
        return False
    if size < 1 << 18 or min(a.ndim, b.ndim) < 2 or a.dtype is not b.dtype or a.dtype.char not in "fd":
        return False
    if size >= 1 << 22:
        return "numba" in modules or _is_much(size)
    fills_tiles = size >= 1 << 20 and b.shape[-1] * b.itemsize % 64 == 0 and a.shape[-2] >= 16
    is_fit = size >= 1 << 21 or fills_tiles or (b.strides[-1] != b.itemsize and b.ndim == 2)
    return is_fit and "numba" in modules


def _is_much(size: int) -> bool:
    """Return whether a product, or all so far together, take long beside the import of Numba."""
    _WORK[0] += size
    return size > 1 << 25 or _WORK[0] > 1 << 35


def product_by_vector(a: Any, b: Any) -> bool:
    """Whether a large matrix is multiplied by a vector, large enough to import Numba, if that was not done."""
    size = max(a.size, b.size)
    if size < 1 << 19 or min(a.size, b.size) == size or not (size >= 1 << 22 or "numba" in modules):
        return False
    if a.ndim > 2 or b.ndim > 2 or not (a.ndim == 1 or b.ndim == 1 or a.shape[0] == 1 or b.shape[1] == 1):
        return False
    return a.dtype is b.dtype and a.dtype.char in "fd" and a.dtype.isnative and a.flags.aligned and b.flags.aligned


def affine_of_many(a: Any, b: Any, bias: Any) -> bool:
    """`product_of_many`, and a dense vector for the columns."""
    return product_of_many(a, b) and affine_of_blas(a, b, bias) and bool(bias.flags.c_contiguous)


def affine_of_blas(a: Any, b: Any, bias: Any) -> bool:
    """Whether two matrices are multiplied, and a vector for the columns is added, all of a dtype that BLAS takes."""
    if a.ndim != 2 or b.ndim != 2 or a.dtype.char not in "fd":
        return False
    return a.dtype is b.dtype is bias.dtype and bool(bias.shape == b.shape[-1:])
