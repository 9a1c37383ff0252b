"""Memory shared with other libraries: arrays, DLPack capsules, buffers."""

from __future__ import annotations

import array
import gc
from importlib import import_module

import numpy as np
import pytest

import gradpack

DTYPES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("name", DTYPES)
def test_arrays_share_memory_both_ways(torch, name):
    a = np.zeros(3, dtype=name)
    x = torch.from_numpy(a)
    assert x.dtype is getattr(torch, name) and np.shares_memory(x.numpy(), a)
    a[1] = 1
    assert x[1].item() == 1
    x[2] = 1
    assert a[2] == 1 and np.asarray(x) is not None and np.shares_memory(np.asarray(x), a)


@pytest.mark.filterwarnings("ignore:.*__array__ must implement")  # torch's does not take `copy`
def test_asarray_and_array(torch):
    x = torch.tensor([1.0, 2.0])
    assert not np.shares_memory(np.array(x), x.numpy())
    assert np.asarray(x, dtype="float64").dtype == np.float64
    assert x.__array__(np.int64).tolist() == [1, 2]
    assert x.__array_priority__ == 1000
    g = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        np.asarray(g)
    with pytest.raises(RuntimeError, match=r"Use tensor.detach\(\).numpy\(\) instead"):
        g.numpy()
    assert np.shares_memory(g.numpy(force=True), g.detach().numpy())


def test_a_copy_can_be_refused():
    x = gradpack.ones(2)
    assert np.shares_memory(np.array(x, copy=False), x.numpy())
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.array(x, dtype="float64", copy=False)


def test_there_is_no_cuda_array(torch):
    x = torch.ones(2)
    assert not hasattr(x, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="Can't get __cuda_array_interface__ on non-CUDA tensor type"):
        x.__cuda_array_interface__


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: np.array(["a"]), TypeError, r"can't convert np.ndarray of type numpy.str_"),
        (lambda: np.zeros(2, np.longdouble), TypeError, r"can't convert np.ndarray of type numpy.longdouble"),
        (lambda: np.zeros(2, ">f4"), ValueError, "given numpy array has byte order different"),
        (lambda: np.zeros(4)[::-1], ValueError, "At least one stride in the given numpy array is negative"),
        (lambda: np.zeros(2, dtype=[("a", "i1"), ("b", "f4")])["b"], ValueError, "strides not a multiple of"),
        (lambda: np.float32(3), TypeError, r"expected np.ndarray \(got numpy.float32\)"),
        (lambda: [1.0], TypeError, r"expected np.ndarray \(got list\)"),
    ],
)
def test_arrays_that_tensors_cannot_hold(torch, make, error, match):
    with pytest.raises(error, match=match):
        torch.from_numpy(make())


def test_memory_that_is_not_writable_is_not_written():
    a = np.zeros(2)
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        x = gradpack.from_numpy(a)
    with pytest.raises(Exception, match="read-only"):
        x.add_(1)
    assert a.tolist() == [0, 0] and x._version == 0


# -- DLPack --


@pytest.mark.parametrize("name", [*DTYPES, "bfloat16"])
def test_a_capsule_carries_a_tensor(torch, name):
    x = torch.ones(2, 3).to(getattr(torch, name)).T
    y = torch.from_dlpack(x)
    assert y.dtype is x.dtype and y.shape == x.shape and y.stride() == x.stride() and y.data_ptr() == x.data_ptr()
    z = torch.from_dlpack(x.__dlpack__())
    assert z.dtype is x.dtype and z.data_ptr() == x.data_ptr()
    z[0] = 0
    assert x[0].tolist() == [0, 0]


def test_numpy_reads_capsules(torch):
    x = torch.tensor([1.0, 2.0])
    a = np.from_dlpack(x)
    assert np.shares_memory(a, x.numpy()) and a.flags.writeable
    b = torch.from_dlpack(np.array([3.0, 4.0]))
    b += 1
    assert b.tolist() == [4, 5]


def test_a_capsule_outlives_its_tensor(torch):
    x = torch.arange(1000)
    capsule = x.__dlpack__()
    del x
    gc.collect()
    y = torch.from_dlpack(capsule)
    del capsule
    gc.collect()
    assert y.sum().item() == 499500


def test_a_capsule_is_used_once(torch):
    capsule = torch.ones(2).__dlpack__(max_version=(1, 0))
    assert "dltensor_versioned" in repr(capsule)
    torch.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        torch.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="invalid capsule"):
        torch.from_dlpack(3)


def test_copies_and_devices(torch):
    a = np.zeros(2)
    assert not np.shares_memory(torch.from_dlpack(a, copy=True).numpy(), a)
    assert np.shares_memory(torch.from_dlpack(a, device="cpu").numpy(), a)
    x = torch.ones(2)
    assert tuple(x.__dlpack_device__()) == (1, 0)
    with pytest.raises(AssertionError, match="device and copy kwargs not supported"):
        torch.from_dlpack(x.__dlpack__(), copy=True)
    with pytest.raises(AssertionError, match="stream should be None on cpu"):
        x.__dlpack__(stream=3)
    with pytest.raises(TypeError, match="stream must be"):
        x.__dlpack__(stream="3")
    with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
        torch.ones(2, requires_grad=True).__dlpack__()


def test_the_module_of_the_name(torch):
    dlpack = import_module(torch.__name__ + ".utils.dlpack")
    x = torch.ones(2, requires_grad=True)
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    assert not y.requires_grad and y.data_ptr() == x.data_ptr()
    assert dlpack.DLDeviceType.kDLCUDA == 2


# -- buffers --


def test_a_buffer_is_shared(torch):
    memory = bytearray(8)
    x = torch.frombuffer(memory, dtype=torch.float32, requires_grad=True)
    assert x.tolist() == [0, 0] and x.requires_grad and x.is_leaf
    y = torch.frombuffer(memory, dtype=torch.uint8, offset=2, count=3)
    y += 7
    assert memory[2:5] == b"\x07\x07\x07"
    assert torch.frombuffer(array.array("i", [1, 2]), dtype=torch.int32).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("buffer", "options", "match"),
    [
        (bytearray(0), {}, r"both buffer length \(0\) and count \(-1\) must not be 0"),
        (bytearray(8), {"count": 0}, r"both buffer length \(8\) and count \(0\) must not be 0"),
        (bytearray(7), {}, r"buffer length \(7 bytes\) after offset \(0 bytes\) must be a multiple of element size"),
        (bytearray(8), {"offset": 9}, r"offset \(9 bytes\) must be non-negative and no greater than buffer length"),
        (bytearray(8), {"offset": -1}, r"offset \(-1 bytes\) must be non-negative"),
        (bytearray(8), {"count": 9}, r"requested buffer length \(9 \* 4 bytes\) after offset \(0 bytes\) must not be"),
        (bytearray(8), {"offset": 5}, r"buffer length \(3 bytes\) after offset \(5 bytes\) must be a multiple"),
        (3, {}, "object does not implement Python buffer protocol"),
    ],
)
def test_buffers_that_do_not_fit(torch, buffer, options, match):
    with pytest.raises(ValueError, match=match):
        torch.frombuffer(buffer, dtype=torch.float32, **options)


def test_a_buffer_that_is_not_writable(torch):
    with pytest.warns(UserWarning, match="The given buffer is not writable"):
        torch.frombuffer(bytes(8), dtype=torch.float32)
