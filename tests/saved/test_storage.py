import numpy as np
import pytest

import gradpack as torch
from gradpack.backends.memory_layout import owner_of
from gradpack.saved.storage import Storages, dense, once, undense


def test_owner_is_the_same_for_all_views_and_another_for_a_copy():
    x = torch.arange(24).reshape(2, 3, 4)
    whole = owner_of(x._data)
    for view in (x[0], x[..., 1:], x.transpose(0, 2), x.expand(5, 2, 3, 4), x.detach()):
        assert owner_of(view._data) is whole
    assert owner_of(x.clone()._data) is not whole


def test_owner_of_memory_that_is_no_array_is_the_last_array():
    array = np.frombuffer(b"12345678", np.uint8)
    assert owner_of(array[2:]) is array


ARRAYS = {
    "plain": np.arange(24.0).reshape(2, 3, 4),
    "transposed": np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
    "sliced": np.arange(48.0).reshape(4, 3, 4)[::2, :, 1:3],
    "flipped": np.arange(6.0)[::-1],
    "expanded": np.broadcast_to(np.arange(3.0)[:, None], (4, 3, 5)),
    "scalar expanded": np.broadcast_to(np.float64(7), (2, 2)),
    "0-dim": np.array(3.0),
    "empty": np.zeros((0, 3)),
    "empty expanded": np.broadcast_to(np.zeros((1, 0)), (3, 0)),
    "length one": np.ones((1, 5, 1)),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_undense_undoes_dense(array):
    elements, layout = dense(array)
    assert elements.flags.c_contiguous
    back = undense(elements, layout)
    assert back.shape == array.shape
    np.testing.assert_array_equal(back, array)


def test_dense_keeps_the_order_of_strides_and_does_not_repeat_expanded_elements():
    transposed = ARRAYS["transposed"]
    elements, layout = dense(transposed)
    assert np.shares_memory(elements, transposed)
    assert undense(elements.copy(), layout).strides == transposed.strides
    elements, layout = dense(ARRAYS["expanded"])
    assert elements.size == 3
    assert undense(elements, layout).strides == (0, 8, 0)


def test_storages_do_not_keep_their_members_alive():
    x = torch.ones(3)
    known = Storages([x])
    array = x._data
    assert array in known
    assert array[1:] in known
    assert np.ones(3) not in known


def test_once_forgets_what_died():
    calls = []

    class Made:
        pass

    make = once(lambda tensor: calls.append(tensor) or Made())
    x = torch.ones(3)
    made = make(x)
    assert make(x) is made
    assert make(x[:]) is made  # the same elements
    assert make(x[:2]) is not made
    assert len(calls) == 2
    del made
    make(x)
    assert len(calls) == 3
