"""Sharing memory with other libraries: DLPack both ways, and Python's buffers."""

from __future__ import annotations

import ctypes
import enum
from typing import Any

import numpy as np

from ...backends import backend_on
from ...backends.numpy import NUMPY
from ...base import dtypes
from ...base.callers import warn_user
from ...base.devices import CPU, as_device
from ...base.devices import device as Device
from ...base.dtypes import dtype
from ...core.tensor import Tensor, wrap

FUNCTIONS = "from_dlpack to_dlpack frombuffer"


class DLDeviceType(enum.IntEnum):
    """The kinds of devices of the DLPack standard."""

    kDLCPU = 1  # noqa: N815 - the standard's names
    kDLCUDA = 2  # noqa: N815
    kDLCUDAHost = 3  # noqa: N815
    kDLOpenCL = 4  # noqa: N815
    kDLVulkan = 7  # noqa: N815
    kDLMetal = 8  # noqa: N815
    kDLVPI = 9  # noqa: N815
    kDLROCM = 10  # noqa: N815
    kDLROCMHost = 11  # noqa: N815
    kDLExtDev = 12  # noqa: N815
    kDLCUDAManaged = 13  # noqa: N815
    kDLOneAPI = 14  # noqa: N815
    kDLWebGPU = 15  # noqa: N815
    kDLHexagon = 16  # noqa: N815
    kDLMAIA = 17  # noqa: N815


class _Description(ctypes.Structure):
    """The leading fields of a `DLTensor` struct, up to its dtype."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    )


_PLAIN, _VERSIONED = b"dltensor", b"dltensor_versioned"
_UNSIGNED, _BFLOAT = 1, 4  # type codes of DLPack


def _description(capsule: Any) -> _Description | None:
    """Return the `DLTensor` of a capsule, or None if the capsule was consumed already."""
    api = ctypes.pythonapi
    api.PyCapsule_IsValid.argtypes = api.PyCapsule_GetPointer.argtypes = ctypes.py_object, ctypes.c_char_p
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    for name, offset in ((_PLAIN, 0), (_VERSIONED, 32)):  # 32 bytes: version, two pointers and flags come first
        if api.PyCapsule_IsValid(capsule, name):
            return _Description.from_address(api.PyCapsule_GetPointer(capsule, name) + offset)
    return None


def _dlpack(
    self: Tensor,
    *,
    stream: Any = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule that shares the memory of this tensor, for `from_dlpack` of another library.

    Raises:
        BufferError: if the tensor requires grad (`detach()` it), or is not on the CPU.
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if self._spec.device.type == "cuda":
        return self._data.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
    if stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    return _capsule(self, max_version, dl_device, copy)


def _capsule(tensor: Tensor, version: tuple[int, int] | None, where: Any = None, copy: bool | None = None) -> Any:
    if where is not None and tuple(where) != (1, 0):
        raise BufferError(f"cannot export a tensor on the CPU to the DLPack device {tuple(where)}")
    array = tensor._spec.backend.to_numpy(tensor._data)
    if copy:
        array = array.copy(order="K")
    if not array.flags.writeable and version is None:
        array = _alias(array)  # this version of DLPack has no read-only flag
    low = tensor._spec.dtype is dtypes.bfloat16
    if low:  # DLPack has this dtype, NumPy does not
        array = array.view(np.uint16)
    capsule = array.__dlpack__() if version is None or version[0] < 1 else array.__dlpack__(max_version=version)
    if low:
        held = _description(capsule)
        if held is not None:
            held.code = _BFLOAT
    return capsule


def _dlpack_device(self: Tensor) -> tuple[DLDeviceType, int]:
    """The device as DLPack's (device type, index)."""
    kind = DLDeviceType.kDLCUDA if self._spec.device.type == "cuda" else DLDeviceType.kDLCPU
    return kind, self._spec.device.index or 0


class _Producer:
    """Wraps a capsule in an object with `__dlpack__`, as `numpy.from_dlpack` requires."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class _Memory:
    """Shows the memory of an array as writable by `__array_interface__`, and keeps the array alive."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def _alias(array: Any) -> Any:
    """A writable array over the memory of a read-only one."""
    return np.asarray(_Memory(array))


def _received(capsule: Any) -> Tensor:
    held = _description(capsule)
    if held is None:
        raise RuntimeError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
            "might have already constructed a tensor from it once."
        )
    if held.device_type not in (DLDeviceType.kDLCPU, DLDeviceType.kDLCUDAHost):
        raise BufferError(f"from_dlpack(): the memory is on the DLPack device {held.device_type}: move it to the CPU")
    low = (held.code, held.bits) == (_BFLOAT, 16)
    if low:
        held.code = _UNSIGNED
    held.device_type = DLDeviceType.kDLCPU
    array = np.from_dlpack(_Producer(capsule))
    if not array.flags.writeable:
        array = _alias(array)  # NumPy makes it read-only unless the producer gives the flag
    if low:
        array = array.view(NUMPY.native_of(dtypes.bfloat16))
    return wrap(array)


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of another library's.

    Args:
        ext_tensor: an object with `__dlpack__`, or a capsule (which can be used once).
        device: where the tensor is to be.
        copy: True for a copy, False to refuse one.

    Raises:
        RuntimeError: for objects that are no tensors, or a capsule that was consumed before.
        BufferError: for memory that is not on the CPU.

    Example::

        >>> import numpy as np, gradpack as torch
        >>> a = np.zeros(2, dtype="float32")
        >>> t = torch.from_dlpack(a)
        >>> a[0] = 7
        >>> t
        tensor([7., 0.])
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError("device and copy kwargs not supported when ext_tensor is already a DLPack capsule.")
        return _received(ext_tensor)
    if _where(ext_tensor) in (DLDeviceType.kDLCUDA, DLDeviceType.kDLCUDAManaged):
        return _from_cuda(ext_tensor, device, copy)
    if device is not None and (where := Device(device)).type != CPU.type:
        raise RuntimeError(f"from_dlpack(): no installed array library brings the device {where}")
    for version in ({"max_version": (1, 0)}, {}):
        try:
            made = _received(ext_tensor.__dlpack__(**version))
        except TypeError as error:  # a producer without `max_version`
            if not version or "max_version" not in str(error):
                raise
        except BufferError:  # NumPy refuses to export read-only arrays without the flag
            if not isinstance(ext_tensor, np.ndarray):
                raise
            made = wrap(ext_tensor)
        else:
            break
        if isinstance(ext_tensor, np.ndarray):
            break
    return made.clone() if copy else made


def _where(producer: Any) -> int:
    """The DLPack device type of a producer; the CPU if it has no `__dlpack_device__`."""
    ask = getattr(producer, "__dlpack_device__", None)
    return int(ask()[0]) if ask is not None else DLDeviceType.kDLCPU


def _from_cuda(producer: Any, where: Any, copy: bool | None) -> Tensor:
    as_device("cuda")  # raises if there is no library for CUDA
    backend: Any = backend_on("cuda")
    made = wrap(backend.library.from_dlpack(producer))
    if where is not None and Device(where).type != "cuda":
        if copy is False:
            raise ValueError(f"from_dlpack(): the memory is on {made.device}, and copy=False forbids to copy it")
        return made.to(where)
    return made.clone() if copy else made


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a tensor. It shares memory, and has no history.

    Example::

        >>> import gradpack as torch
        >>> torch.from_dlpack(torch.to_dlpack(torch.ones(2)))
        tensor([1., 1.])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"to_dlpack(): argument 'tensor' must be Tensor, not {type(tensor).__name__}")
    if tensor._spec.device.type == "cuda":
        return tensor._data.__dlpack__()
    return _capsule(tensor, None)


def frombuffer(buffer: Any, *, dtype: dtype, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A tensor of one dimension over the memory of an object with Python's buffer protocol.

    Args:
        buffer: a bytearray, memoryview, array and the like.
        dtype: of the elements.
        count: how many elements; -1 for as many as there are.
        offset: bytes to leave out at the start.

    Raises:
        ValueError: for no buffer, or a count or offset that does not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16)
        tensor([1, 2], dtype=gradpack.int16)
    """
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, size = view.nbytes, dtype.itemsize
    if length <= 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if offset < 0 or offset >= length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    rest = length - offset
    if count < 0 and rest % size:
        raise ValueError(
            f"buffer length ({rest} bytes) after offset ({offset} bytes) must be a multiple of element size ({size})"
        )
    if count > 0 and count * size > rest:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({length} bytes)"
        )
    if view.readonly:
        warn_user(NOT_WRITABLE.format("buffer"))
    array = np.frombuffer(buffer, dtype=NUMPY.native_of(dtype), count=count, offset=offset)
    out = wrap(array)
    if requires_grad:
        out.requires_grad = True
    return out


NOT_WRITABLE = (
    "The given {} is not writable, and there are no non-writable tensors: in-place operations on this one will fail. "
    "Copy it first if you mean to write."
)


OPERATORS = {"__dlpack__": _dlpack, "__dlpack_device__": _dlpack_device}
