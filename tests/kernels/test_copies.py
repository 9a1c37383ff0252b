"""Row-major copies of large arrays by compiled loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

import gradpack as torch
from gradpack.kernels.dispatch import loaded
from gradpack.kernels.table import Kernel

row_major = loaded(Kernel("numba", "copies.row_major"))
DTYPES = [np.float32, np.float64, np.int32, np.uint64, np.complex64]


def check(x):
    made = row_major(x)
    assert made is not NotImplemented
    assert made.flags.c_contiguous and made.base is None and made.dtype == x.dtype
    np.testing.assert_array_equal(made.view(f"u{made.itemsize}"), np.array(x, order="C").view(f"u{made.itemsize}"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(300, 257), (1, 70), (5, 33, 40), (3, 4, 17, 50), (2, 1, 31, 1)])
def test_every_order_of_dimensions(shape, dtype):
    x = np.arange(np.prod(shape), dtype=np.int64).astype(dtype).reshape(shape)
    for order in np.ndindex(*(len(shape),) * len(shape)):
        if len(set(order)) == len(order):
            check(x.transpose(order))


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_views_of_any_strides(data):
    shape = data.draw(st.lists(st.integers(1, 18), min_size=1, max_size=4))
    x = np.arange(np.prod(shape) * 3 ** len(shape), dtype=np.float32).reshape([3 * n for n in shape])
    steps = [data.draw(st.sampled_from([1, 2, -1, -3])) for _ in shape]
    x = x[tuple(slice(None, None, s) for s in steps)][tuple(slice(n) for n in shape)]
    if data.draw(st.booleans()):
        x = np.broadcast_to(x, (3, *x.shape)) if x.ndim < 4 else x
    check(x.transpose(data.draw(st.permutations(range(x.ndim)))))


def test_not_a_number_keeps_its_bits():
    bits = np.full((300, 300), 0x7FA12345, np.uint32)
    check(bits.view(np.float32).T)


def test_what_has_too_many_dimensions_or_no_elements_is_left_to_numpy():
    assert row_major(np.zeros((3, 4, 5, 6, 7)).transpose(4, 3, 2, 1, 0)) is NotImplemented
    assert row_major(np.zeros((0, 4)).T) is NotImplemented
    assert row_major(np.zeros((4, 4), np.float16).T) is NotImplemented


def test_copies_are_the_same_in_any_number_of_threads():
    before, x, found = torch.get_num_threads(), torch.randn(700, 900), []
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            found.append(x.T.contiguous().numpy())
    finally:
        torch.set_num_threads(before)
    for each in found:
        np.testing.assert_array_equal(each, np.ascontiguousarray(x.numpy().T))
