"""Conversion: dtype, device, NumPy, Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import backend_of, backend_on
from ...base import dtypes
from ...base.devices import as_device, bring, cuda_device, device
from ...base.devices import device as Device
from ...base.dtypes import dtype
from ...base.errors import too_big
from ...base.memory_formats import order_of
from ...base.modes import MODE
from ...core.saved import forbid_saved
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array, Setting
from ...declare.decorators import linear
from ..shape.memory_formats import counts_as, in_format

FUNCTIONS = "result_type can_cast promote_types"
METHODS = (
    "to type type_as cpu numpy float double half bfloat16 int long short char byte bool chalf cfloat cdouble cuda "
    "pin_memory is_pinned"
)
INPLACE = "detach_"


@linear(
    input=lambda g, input_dtype: _to_copy(g, input_dtype),
    result=None,
    node="ToCopyBackward0",
    promote=(),
    holomorphic=False,
    int64="real",
)
def _to_copy(input: Array, dtype: Setting, memory_format: Setting = None) -> Any:
    """A copy in another dtype, or in another order of memory."""
    return in_format(_cast(input, dtype), memory_format)


def _cast(array: Any, d: dtype) -> Any:
    backend = backend_of(type(array))
    if backend is None:
        raise TypeError(f"{type(array).__name__} is not an array")
    made = backend.cast(array, d)
    return backend.copy(made) if made is array else made


def _method_to(
    self: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Convert to another dtype or device; the tensor itself if nothing changes.

    `x.to(dtype)`, `x.to(device)`, `x.to(device, dtype)`, `x.to(other)`.

    Args:
        dtype: the dtype, the device or the other tensor, as the only positional argument; or the dtype after a device.
        device: a device, or its name.
        other: a tensor whose dtype and device are taken.
        non_blocking: the host does not wait for copies from pinned memory to a device, or back. The result of a copy
            back is in pinned memory, and valid only after `gradpack.cuda.synchronize()` or an event.
        copy: make a copy even if nothing changes.
        memory_format: the order of the dimensions in memory, such as `torch.channels_last`.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1.7]).to(torch.int64)
        tensor([1])
        >>> x = torch.zeros(2)
        >>> x.to(torch.float32) is x, x.to("cpu", torch.float64).dtype
        (True, gradpack.float64)
    """
    place, d = device, None if dtype is None else dtypes.as_dtype("to", dtype)
    for i, arg in enumerate(args):
        if isinstance(arg, dtypes.dtype):
            if d is not None:
                raise TypeError(f"to() received two dtypes, {d} and {arg}: give one, and perhaps a device before it")
            d = arg
        elif isinstance(arg, type):
            d = dtypes.as_dtype("to", arg)
        elif isinstance(arg, Tensor):
            d, place = arg._spec.dtype, arg._spec.device
        elif isinstance(arg, bool):
            if i == len(args) - 1 and i and isinstance(args[i - 1], bool):
                copy = arg
            else:
                non_blocking = arg
        elif isinstance(arg, str | int | Device) or arg is None:
            place = arg if arg is not None else place
        else:
            raise TypeError(
                f"to() received an invalid argument of type {type(arg).__name__}: give a dtype, device or tensor"
            )
    target = self._spec.device if place is None else as_device(place)
    if memory_format is not None:
        order_of(memory_format, self.ndim)
    if target.type != self._spec.device.type or (
        target.index not in (None, self._spec.device.index) and target.type != "cpu"
    ):
        return _in_format(_to_device(self, target, d, non_blocking), memory_format)
    if d is None or d is self._spec.dtype:
        return _to_copy(self, self._spec.dtype, memory_format) if copy else _in_format(self, memory_format)
    return _converted(self, d, memory_format)


def _in_format(tensor: Tensor, memory_format: Any) -> Tensor:
    """Convert a tensor to a memory format; the tensor itself if it counts as being in it."""
    if memory_format is None or counts_as(tensor._data, memory_format):
        return tensor
    return _to_copy(tensor, tensor._spec.dtype, memory_format)


def _converted(tensor: Tensor, d: dtype, memory_format: Any = None) -> Tensor:
    """A copy in another dtype; not differentiable if the dtype is an integer one."""
    return _to_copy(tensor if d.is_floating_point or d.is_complex else tensor.detach(), d, memory_format)


def _to_device(tensor: Tensor, target: device, d: dtype | None, non_blocking: bool) -> Tensor:
    from ...autograd.device_copy import to_device

    moved = to_device(tensor, target, non_blocking)
    return moved if d is None or d is moved._spec.dtype else _converted(moved, d)


def _conversion(name: str, d: dtype) -> Any:
    def method(self: Tensor, *, memory_format: Any = None) -> Tensor:
        if memory_format is not None:
            return _method_to(self, d, memory_format=memory_format)
        return self if self._spec.dtype is d else _converted(self, d)

    method.__name__ = name
    method.__doc__ = f"This tensor as {d.name}."
    return method


_method_float = _conversion("float", dtypes.float32)
_method_double = _conversion("double", dtypes.float64)
_method_half = _conversion("half", dtypes.float16)
_method_bfloat16 = _conversion("bfloat16", dtypes.bfloat16)
_method_int = _conversion("int", dtypes.int32)
_method_long = _conversion("long", dtypes.int64)
_method_short = _conversion("short", dtypes.int16)
_method_char = _conversion("char", dtypes.int8)
_method_byte = _conversion("byte", dtypes.uint8)
_method_bool = _conversion("bool", dtypes.bool_)
_method_chalf = _conversion("chalf", dtypes.complex32)
_method_cfloat = _conversion("cfloat", dtypes.complex64)
_method_cdouble = _conversion("cdouble", dtypes.complex128)


def _method_cpu(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """This tensor on the CPU; itself if it is there already."""
    if memory_format is None and self._spec.device.type == "cpu":
        return self
    return _method_to(self, "cpu", memory_format=memory_format)


def _method_cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """This tensor on a CUDA device, where there is one.

    Raises:
        AssertionError: if there is none, with torch's message.
        RuntimeError: for an index where there is no accelerator, or for a device of another kind.
    """
    return _method_to(self, cuda_device(device), non_blocking=non_blocking, memory_format=memory_format)


def _method_pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """A copy in pinned (page-locked) memory; the tensor itself if it is pinned already.

    Raises:
        RuntimeError: if there is no such device, or the tensor is not on the CPU.
    """
    place = Device("cuda" if device is None else device)
    if place.type == "cuda":
        bring("cuda")
    backend = backend_on(place.type)
    if backend is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    if not self._spec.numpy:
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    if _method_is_pinned(self):
        return self
    made = backend.pinned(self._shape, self._spec.native)
    made[...] = self._data
    return wrap(made)


def _method_is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the tensor is in pinned (page-locked) memory."""
    if not self._spec.numpy:
        return False
    memory = self._data
    while isinstance(memory, np.ndarray):
        memory = memory.base
    owner = getattr(memory, "obj", memory)  # a memoryview's owner
    return type(owner).__module__.partition(".")[0] == "cupy"


def _method_type(self: Tensor, dtype: Any = None, non_blocking: Any = False) -> Any:
    """The name of the tensor's type; with an argument, the tensor in another dtype.

    Args:
        dtype: a dtype, or the name of a type of tensors; None for the name of this one.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros(1).type(), torch.zeros(1).type(torch.int64)
        ('torch.FloatTensor', tensor([0]))
    """
    if dtype is None:
        name: str = _TYPE_NAMES[self._spec.dtype.name]
        return name.replace("torch.", "torch.sparse.") if self.is_sparse else name
    if isinstance(dtype, str):
        dtype = next(
            (dtypes.DTYPES[k] for k, v in _TYPE_NAMES.items() if v.split(".")[-1] == dtype.split(".")[-1]), dtype
        )

    if type(dtype).__name__ == "tensortype":  # `FloatTensor` and the like
        dtype = dtype.dtype
    if not isinstance(dtype, dtypes.dtype):
        kind = ValueError if isinstance(dtype, str) else TypeError
        raise kind(f"invalid type: {dtype!r}: give a dtype, a type of tensors or the name of one")
    return self if dtype is self._spec.dtype else _converted(self, dtype)


_TYPE_NAMES = {
    "bool": "torch.BoolTensor", "uint8": "torch.ByteTensor", "int8": "torch.CharTensor", "int16": "torch.ShortTensor",
    "int32": "torch.IntTensor", "int64": "torch.LongTensor", "uint16": "torch.UInt16Tensor",
    "uint32": "torch.UInt32Tensor", "uint64": "torch.UInt64Tensor", "float16": "torch.HalfTensor",
    "bfloat16": "torch.BFloat16Tensor", "float32": "torch.FloatTensor", "float64": "torch.DoubleTensor",
    "float8_e4m3fn": "torch.Float8_e4m3fnTensor", "float8_e5m2": "torch.Float8_e5m2Tensor",
    "complex32": "torch.ComplexHalfTensor", "complex64": "torch.ComplexFloatTensor",
    "complex128": "torch.ComplexDoubleTensor",
}  # fmt: skip


def _method_type_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor in the dtype of `other`.

    Args:
        other: the tensor whose dtype is taken.
    """
    return _method_to(self, other._spec.dtype)


def _method_numpy(self: Tensor, *, force: Any = False) -> Any:
    """The NumPy array that holds the elements; it shares memory with the tensor.

    Args:
        force: for a tensor that requires grad, or is on another device: `detach()` it and bring it to the CPU. The
            array may share no memory with the tensor then.

    Raises:
        RuntimeError: without `force`, if the tensor requires grad.
        TypeError: without `force`, if it is on another device; for complex32, which NumPy does not have.

    Example::

        >>> import gradpack as torch
        >>> torch.ones(2).numpy()
        array([1., 1.], dtype=float32)
    """
    if self.requires_grad and not force and MODE.get().grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if self._spec.device.type != "cpu" and not force:
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
            "memory first."
        )
    if self._spec.dtype is dtypes.complex32:
        raise TypeError("Got unsupported ScalarType ComplexHalf: convert with .cfloat() first")
    return self._spec.backend.to_numpy(self._data)


def _method_detach_(self: Tensor) -> Tensor:
    """Take this tensor out of the graph, in place, and return it.

    Raises:
        RuntimeError: for a view, which must be detached out of place.
    """
    if self._view is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
            "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
            "detach_() cannot be called on these gradients. To fix this error, please refer to the "
            "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
        )
    if self.is_leaf:  # its `.grad` stays
        self.requires_grad = False
    else:
        self._edge = None
        if type(self._counter) is list:
            forbid_saved(self)
    self._tangents = None
    return self


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype of an arithmetic result of two tensors or numbers.

    Example::

        >>> import gradpack as torch
        >>> torch.result_type(torch.tensor([1, 2], dtype=torch.int32), 1.0)
        gradpack.float32
    """
    full: list[dtype] = []
    zero: list[dtype] = []
    scalars: list[dtype] = []
    for value in (tensor1, tensor2):
        if isinstance(value, Tensor):
            (full if value._shape else zero).append(value._spec.dtype)
        elif isinstance(value, int | float | complex):
            if type(value) is int and not -(1 << 63) <= value < 1 << 64:
                raise too_big("result_type(): an argument", value)
            scalars.append(dtypes.operand_dtype(value))
        else:
            raise TypeError(f"result_type(): arguments must be Tensors or Numbers, not {type(value).__name__}")
    return dtypes.result_dtype(full, zero, scalars)


can_cast = dtypes.can_cast
promote_types = dtypes.promote_types
