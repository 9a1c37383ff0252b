"""Conditions of the table: for which arguments a kernel stands in for a function. They import NumPy only."""

from __future__ import annotations

from math import prod
from sys import modules
from typing import Any

from numpy import int64, maximum, ndarray, uint8, uint64

ENOUGH = 1 << 15  # elements: to import Numba takes as long as NumPy takes for some hundreds of such arrays
BLOCK = 1 << 17  # weights of a convolution: a part of the second-level cache
MANY = 1 << 16  # elements: to import SciPy takes 0.2 s
_DENSE = 0x101  # the flags for C order, and for numbers that are aligned
_updated = [0]  # elements, so far


def dense(array: Any) -> bool:
    """Whether a loop can read an array as it lies in memory. It may be one that must not be written to."""
    return bool(array.flags.num & _DENSE == _DENSE)


def alike(first: Any, *others: Any, chars: str = "fd") -> bool:
    """Whether all arrays among the arguments are dense ones of one dtype that loops take.

    Args:
        chars: the characters of the dtypes: float32 and float64.
    """
    native = first.dtype
    if native.char not in chars or not native.isnative or not dense(first):
        return False
    for a in others:
        if type(a) is ndarray:
            if (a.dtype is not native and a.dtype != native) or a.flags.num & _DENSE != _DENSE:
                return False
        elif isinstance(a, ndarray):
            return False
    return True


def to_lay_out(x: Any, *others: Any) -> bool:
    """Whether an array of numbers is copied, and Numba was imported before."""
    return "numba" in modules and x.itemsize in (4, 8) and x.flags.aligned and x.dtype.kind in "fiuc"


def updates(first: Any, *others: Any) -> bool:
    """`alike`, where it pays to import Numba, or that was done: the loop has the bits that passes of NumPy have."""
    return ("numba" in modules or first.size >= 1 << 19) and alike(first, *others)


def updates_of_many(batch: list[Any], given: Any, total: int) -> bool:
    """Whether loops take arrays, once so much was updated that Numba is worth its import, or where that was done.

    Args:
        batch: arrays of one dtype, or None. The loops have the bits of NumPy's passes.
        total: how many elements are updated.
    """
    native = batch[0].dtype
    if native.char not in "fd" or not native.isnative:
        return False
    _updated[0] += total
    is_worth_it = _updated[0] >= 1 << 24 or total >= 1 << 19 or "numba" in modules
    return is_worth_it and not [a for a in batch if a is not None and not dense(a)]


def single(first: Any, *others: Any) -> bool:
    """`alike`, of float32."""
    return alike(first, *others, chars="f")


def short_rows(x: Any) -> bool:
    """Whether the sums of rows need not be sums of parts."""
    return 8 <= x.shape[1] <= 1024 and alike(x)


def many_rows_of_numbers(x: Any) -> bool:
    """Whether there are more rows than columns that a part adds up at once."""
    return x.shape[0] >= 64 and 8 <= x.shape[1] <= 4096 and alike(x)


def single_rows(first: Any, *others: Any) -> bool:
    """`single`, of matrices with as many rows, and vectors."""
    is_alike = first.ndim == 2 and alike(first, *others, chars="f")
    return is_alike and not [a for a in others if a is not None and a.ndim != 1 and len(a) != len(first)]


def single_same_shape(first: Any, *others: Any) -> bool:
    """`single`, for arrays of equal shape."""
    return alike(first, *others, chars="f") and all(type(a) is ndarray and a.shape == first.shape for a in others)


def divisor(x: Any, y: Any) -> bool:
    """`single_same_shape`, or a number to divide by."""
    return (type(y) in (int, float) and single(x)) or (type(y) is ndarray and single_same_shape(x, y))


def slopes(input: Any, weight: Any) -> bool:
    """Whether there is one weight, or channels of some size for each."""
    return (weight.size == 1 or input.size >= 16 * input.shape[0] * weight.size) and alike(input, weight)


def channels(x: Any, *others: Any) -> bool:
    """`alike`, for images (batch, channels, places) of some size."""
    return x.shape[2] >= 16 and alike(x, *others)


def blocks_of_rows(rows: Any, *others: Any) -> bool:
    """Whether rows fill blocks well."""
    return 8 <= rows.shape[1] <= 4096 and alike(rows, *others)


def attention(query: Any, key: Any, value: Any, mask: Any, *others: Any) -> bool:
    """Whether scores can be made block by block, for a mask of bools, of the dtype of the scores, or none."""
    native = query.dtype
    if native.char not in "fd" or not (mask is None or (type(mask) is ndarray and mask.dtype in (bool, native))):
        return False
    return all(type(a) is ndarray and a.dtype == native and a.size for a in (key, value))


def single_attention(query: Any, *others: Any) -> bool:
    """`attention` of float32."""
    return bool(query.dtype.char == "f" and attention(query, *others))


def attention_backward(query: Any, key: Any, value: Any, mask: Any, g: Any, out: Any, lse: Any, *others: Any) -> bool:
    """`attention`, if there is no gradient of the mask, and `moderate` logarithms."""
    if others[-1][3] or not attention(query, key, value, mask) or not moderate(lse):
        return False
    return type(g) is ndarray and g.dtype == query.dtype and g.size > 0


def single_attention_backward(query: Any, *others: Any) -> bool:
    """`attention_backward` of float32."""
    return bool(query.dtype.char == "f" and attention_backward(query, *others))


def single_without_mask(query: Any, key: Any, value: Any, mask: Any, *others: Any) -> bool:
    """`single_attention`, which divides the heads itself where there is no mask."""
    return mask is None and single_attention(query, key, value, mask, *others)


def single_backward_without_mask(query: Any, key: Any, value: Any, mask: Any, *others: Any) -> bool:
    """`single_attention_backward`, as `single_without_mask`."""
    return mask is None and single_attention_backward(query, key, value, mask, *others)


def moderate(lse: Any) -> bool:
    """Whether sums of exponentials are known by their logarithms: rows that masks of -1e9 hide wholly have others."""
    return type(lse) is ndarray and lse.size > 0 and bool(abs(lse).max() < 1e3)


def masked(input: Any, kept: Any, scale: float) -> bool:
    """Whether a mask of bools lies as the numbers do."""
    return alike(input) and kept.dtype == bool and dense(kept)


def to_fill(input: Any, mask: Any, value: Any) -> bool:
    """Whether a mask lies as the last dimensions of the numbers do, and the value is a number."""
    if not ("numba" in modules or input.size >= 1 << 20) or not alike(input) or not dense(mask) or mask.size < 1 << 10:
        return False
    shape = mask.shape
    while shape and shape[0] == 1:
        shape = shape[1:]
    return type(value) in (int, float, bool) and shape == input.shape[input.ndim - len(shape) :]


def places(images: Any, other: Any, index: Any) -> bool:
    """Whether all indices are in the images."""
    return alike(images, other) and inside(index, images.shape[2])


def places_to_fill(given: Any, weight: Any, index: Any, count: int) -> bool:
    """Whether all indices are in images of `count` places."""
    return alike(given, weight) and inside(index, count)


def inside(index: Any, count: int) -> bool:
    """Whether indices lie densely, and all are in [0, count): loops do not check them."""
    if index.dtype != int64 or not dense(index) or not index.size:
        return False
    found: bool = maximum.reduce(index.view(uint64), None) < count  # as unsigned, negative ones are large
    return found


def borders(input: Any, padding: Any, mode: str) -> bool:
    """Whether images get narrow borders."""
    return _images(input, padding) and sum(padding) <= 64


def borders_back(input: Any, shape: Any, padding: Any, mode: str) -> bool:
    """Whether images had borders."""
    return _images(input, padding)


def _images(input: Any, padding: Any) -> bool:
    return len(padding) <= 4 and input.ndim > 1 and min(padding) >= 0 and alike(input)


# -- recurrences --


def last_single(input: Any, place: int, *others: Any) -> bool:
    """`single`, along the last dimension."""
    return place == input.ndim - 1 and single(input)


def rows_of_single(x: Any, over: Any) -> bool:
    """`single`, along the last dimension, for rows of some length."""
    return x.ndim > 0 and over in (-1, x.ndim - 1) and x.shape[-1] <= MANY and single(x)


def slopes_of_rows(g: Any, out: Any, dim: int) -> bool:
    """`rows_of_single`, of two arrays."""
    return rows_of_single(g, dim) and single(g, out)


def stretches(input: Any, place: int, *others: Any) -> bool:
    """Whether lines can be cut into stretches of 32 elements."""
    return last_single(input, place) and input.shape[-1] % 32 == 0 and input.shape[-1] >= 128


def many_lines(input: Any, place: int, *others: Any) -> bool:
    """Whether there are many lines along the last dimension."""
    return place == input.ndim - 1 and input.size >= 64 * input.shape[-1] and alike(input)


def recurrence(a: Any, b: Any, place: int, backwards: bool) -> bool:
    """`many_lines`, of equal shape."""
    return type(b) is ndarray and a.shape == b.shape and many_lines(a, place) and alike(a, b)


# -- elements of rows, and rows --


def few_first(input: Any, k: int, place: int, largest: bool) -> bool:
    """Whether few of the elements of rows are wanted, for insertion."""
    return 0 < k <= 16 and 8 * k < input.shape[place] and place == input.ndim - 1 and alike(input)


def dense_table(x: Any, indices: Any) -> bool:
    """`alike`, if indices lie densely."""
    return alike(x) and dense(indices)


def into_rows(values: Any, out: Any, indices: Any) -> bool:
    """`dense_table`, for an array that is written to."""
    return bool(out.flags.writeable) and alike(values, out) and dense(indices)


def into_rows_of_any_table(values: Any, out: Any, indices: Any) -> bool:
    """`into_rows`, also for one row of indices that is broadcast."""
    return indices.dtype == int64 and values.dtype.char in "fd" and values.dtype == out.dtype and dense(out)


def into_vector(values: Any, out: Any, indices: Any) -> bool:
    """Whether values can be added to a vector at indices, which are in range."""
    if indices.size != values.size or not out.flags.writeable:
        return False
    return alike(values, out) and inside(indices, len(out))


def into_places(out: Any, src: Any, index: Any, *others: Any) -> bool:
    """`alike`, for an index of the shape of what is read."""
    return src.shape == index.shape and alike(out, src)


def whole_rows(values: Any, out: Any, rows: Any) -> bool:
    """Whether rows can be added to rows of another matrix."""
    return type(out) is ndarray and values.dtype == out.dtype and _rows_in(out, rows) and bool(out.flags.writeable)


def many_rows(table: Any, source: Any, target: Any, count: int) -> bool:
    """Whether many rows of a table are summed."""
    return source.size * table.shape[1] >= MANY and _rows_in(table, source) and _below(target, count)


def _rows_in(matrix: Any, rows: Any) -> bool:
    return alike(matrix) and _below(rows, len(matrix))


def _below(rows: Any, count: int) -> bool:
    return bool(rows.dtype == int64 and maximum.reduce(rows.view(uint64), None) < count)


# -- windows --


def convolution(
    x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int, count: Any, bias: Any = None
) -> bool:
    """Whether arrays of float32 are convolved, which no product of matrices does."""
    if bias is not None and bias.dtype != x.dtype:
        return False
    return weight.size <= BLOCK and _windows_of_single(x, weight, weight.shape[2:], stride, padding)


def convolution_input(y: Any, weight: Any, size: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> bool:
    """`convolution`, for the gradient of its input."""
    return weight.size <= BLOCK and _windows_of_single(y, weight, weight.shape[2:], stride, padding)


def convolution_weight(x: Any, y: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> bool:
    """`convolution`, for the gradient of its weight."""
    weights = y.shape[1] * (x.shape[1] // groups) * prod(kernel)
    return weights <= BLOCK and _windows_of_single(x, y, kernel, stride, padding)


def _windows_of_single(x: Any, other: Any, kernel: Any, stride: Any, padding: Any) -> bool:
    if not (x.dtype.char == "f" and x.dtype.isnative and type(other) is ndarray and other.dtype == x.dtype):
        return False
    return other.size > 0 and (prod(kernel) > 1 or any(s != 1 for s in stride) or any(padding))


def windows(x: Any, other: Any, *others: Any) -> bool:
    """Whether there are two arrays of NumPy's."""
    return type(other) is ndarray and other.size > 0


def image_windows(x: Any, geometry: Any) -> bool:
    """Whether positions in windows of two dimensions fit into a byte."""
    kernel, count = geometry[0], geometry[-1]
    return len(kernel) == 2 and 0 < prod(kernel) <= 256 and prod(count) > 0 and alike(x)


def image_codes(g: Any, code: Any, size: Any, geometry: Any) -> bool:
    """Whether positions in windows of two dimensions are bytes."""
    return len(geometry[0]) == 2 and type(code) is ndarray and code.dtype == uint8 and dense(code) and alike(g)


# -- dtypes and codes --


def bits(array: Any, count: int, native: Any) -> bool:
    """Whether bits become numbers that loops make, and Numba was imported before."""
    return native.char in "fd" and native.isnative and "numba" in modules


def half_and_single(array: Any, native: Any) -> bool:
    """Whether float32 becomes a dtype of 16 bits, or the other way round."""
    return array.dtype.char + native.char in ("fe", "ef", "fE", "Ef") and array.dtype.isnative and dense(array)


def noisy_codes(block: Any, low: Any, per_step: Any, noise: Any, codes: Any) -> bool:
    """`single`, with noise for each element."""
    return type(noise) is ndarray and single(block, low, per_step, noise)


def noisy_numbers(block: Any, codes: Any, low: Any, step: Any, noise: Any) -> bool:
    """`single`, with noise for each element."""
    return type(noise) is ndarray and single(block, low, step, noise)
