"""Tensors of memory that no array owns: buffers, memory maps, other libraries' arrays with gaps."""

from __future__ import annotations

import copy
import mmap

import numpy as np
import pytest

import gradpack as torch
from gradpack.backends.memory_layout import memory_of

forward = torch.autograd.forward_ad


class Foreign:
    """Shows memory of its own as an array, as tensors of other libraries do."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.kept = array


def filled(buffer):
    np.ndarray((12,), np.float32, buffer)[...] = np.arange(12)
    return buffer


ARRAYS = {
    "a bytearray": lambda: np.ndarray((3,), np.float32, filled(bytearray(48)), 4),
    "a memoryview": lambda: np.ndarray((3,), np.float32, memoryview(filled(bytearray(48))), 4),
    "a memory map": lambda: np.ndarray((3,), np.float32, filled(mmap.mmap(-1, 48)), 4),
    "steps in a bytearray": lambda: np.ndarray((3,), np.float32, filled(bytearray(48)), 4, (8,)),
    "columns in a bytearray": lambda: np.ndarray((3, 2), np.float32, filled(bytearray(48)), 4, (4, 16)),
    "rows with gaps": lambda: np.asarray(Foreign(np.arange(12, dtype=np.float32).reshape(3, 4)[1:, 1:3])),
    "a foreign transpose": lambda: np.asarray(Foreign(np.arange(12, dtype=np.float32).reshape(3, 4).T)),
    "a capsule": lambda: np.from_dlpack(np.arange(12, dtype=np.float32).reshape(3, 4)[:, 1:3]),
    "a field": lambda: np.ndarray(4, [("a", "f4"), ("b", "f4")], filled(bytearray(48)))["b"],
    "a real part": lambda: np.ndarray(4, np.complex64, filled(bytearray(48))).real,
    "one element": lambda: np.ndarray((), np.float32, filled(bytearray(48)), 4),
}


@pytest.fixture(params=ARRAYS)
def array(request):
    return ARRAYS[request.param]()


def test_duals(array):
    x = torch.from_numpy(array)
    with forward.dual_level():
        made = forward.make_dual(x, torch.full(x.shape, 2.0))
        doubled = forward.unpack_dual(made * 3)
        assert doubled.tangent.tolist() == torch.full(x.shape, 6.0).tolist()
        view = forward.make_dual(x, torch.ones_like(x))
        view.reshape(-1)[:1].detach()
        view[...] = 0.0
        assert forward.unpack_dual(view).tangent.abs().sum() == 0


def test_strided_views_reach_the_same_elements(array):
    x = torch.from_numpy(array)
    again = x.as_strided(x.shape, x.stride())
    assert again.tolist() == array.tolist() and again.data_ptr() == x.data_ptr()
    again.fill_(5)
    assert (array == 5).all()
    with pytest.raises(RuntimeError, match="out of bounds for storage"):
        x.as_strided((100,), (1,))


def test_storages(array):
    x = torch.from_numpy(array)
    storage = x.untyped_storage()
    assert storage == x[...].untyped_storage()
    assert storage.nbytes() >= x.numel() * 4 and len(storage.tolist()) == storage.nbytes()
    assert storage.data_ptr() + 4 * x.storage_offset() == x.data_ptr()
    y = torch.zeros(1)
    y.set_(storage, x.storage_offset(), x.shape, x.stride())
    assert y.tolist() == array.tolist()
    y.fill_(3)
    assert (array == 3).all()


def test_changes_of_the_layout(array):
    values = array.tolist()
    x = torch.from_numpy(array)
    assert x.unsqueeze_(0).tolist() == [values]
    assert x.as_strided_scatter(torch.tensor([9.0]), (1,), (1,), x.storage_offset()).flatten()[0] == 9
    grown = torch.from_numpy(array).resize_(20)
    assert grown.shape == (20,) and grown.flatten()[0] == x.flatten()[0]


def test_copies_share_memory_among_them(array):
    x = torch.from_numpy(array)
    first, second = copy.deepcopy((x, x.detach()))
    assert first.tolist() == array.tolist() and first.stride() == x.stride()
    first.fill_(7)
    assert second.tolist() == first.tolist() != x.tolist()


def test_copies_of_a_part_and_then_of_the_whole():
    whole = torch.arange(6.0).reshape(2, 3).clone()
    for given in ((whole[1], whole, whole.detach()), (whole, whole.T), (whole.T, whole[0], whole)):
        made = copy.deepcopy(given)
        assert [m.tolist() for m in made] == [g.tolist() for g in given]
        made[0].fill_(9)
        assert all(float(m.max()) == 9.0 for m in made) and float(whole.max()) == 5.0


def test_writes_through_expanded_and_readonly_views(array):
    x = torch.from_numpy(array)
    x.expand(2, *x.shape)[0].add_(1)
    before = array.tolist()
    x += 1
    assert (array == np.asarray(before, np.float32) + 1).all()


def test_memory_in_order_of_addresses():
    whole = np.arange(12, dtype=np.float32).reshape(3, 4)
    for shown in (whole[::-1, ::2], whole.T, whole[1:, 1:3]):
        flat = memory_of(np.asarray(Foreign(shown)))
        assert flat.tolist() == sorted(flat.tolist()) and set(shown.flatten()) <= set(flat)
        assert flat[0] == shown.min() and flat[-1] == shown.max()
