"""Tensors from data, and predicates: `is_tensor`, `is_floating_point` and others."""

from __future__ import annotations

import builtins
from functools import partial
from typing import Any

import numpy as np

from ...backends import NUMPY, backend_of, backend_on
from ...backends.numpy import quiet
from ...base import dtypes
from ...base.callers import warn_user
from ...base.devices import as_device
from ...base.dtypes import COMPLEX, as_dtype, dtype
from ...base.errors import scalar_type
from ...base.info import number_for
from ...core.storage import UntypedStorage
from ...core.tensor import Tensor, alias, wrap
from ...declare.generate.profiling import profiled
from . import numbers
from .making import finish, usual

_FLOATS = {float}
_dtype = dtype  # for functions with a parameter of this name

FUNCTIONS = "tensor as_tensor asarray from_numpy scalar_tensor is_tensor is_floating_point is_signed is_complex numel"


@partial(profiled, name="lift_fresh")
def tensor(
    data: Any, *, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new tensor with a copy of `data`: a number, nested lists, an array or a tensor.

    Python floats give the default dtype, ints int64, bools bool.

    Args:
        data: the elements: a number, nested lists or tuples, an array of NumPy's, or a tensor.
        dtype: by default that of the elements: the default dtype for floats, int64 for ints.

    Raises:
        ValueError: for nested lists of unequal lengths.
        TypeError: for elements that are not numbers.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
        >>> torch.tensor(2.5, requires_grad=True)
        tensor(2.5000, requires_grad=True)
    """
    dtype = as_dtype("tensor", dtype)
    as_device(device)
    if dtype is None and (type(data) is float or (type(data) is list and set(map(type, data)) == _FLOATS)):
        spec = usual(None, None, device, requires_grad)
        if spec is not None:
            with quiet():
                made = np.array(data, spec.native)
            return alias(made, spec, made.shape)
    if isinstance(data, Tensor):
        warn_user(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than gradpack.tensor(sourceTensor)."
        )
        spec = data._spec
        array = spec.backend.copy(spec.backend.cast(data._data, dtype or spec.dtype))
        return finish(array, requires_grad, device)
    backend = backend_of(type(data))
    if backend is not None and not isinstance(data, np.generic | np.ndarray):
        return finish(backend.copy(data if dtype is None else backend.cast(data, dtype)), requires_grad, device)
    if backend is None and hasattr(data, "__array__") and not isinstance(data, list | tuple):
        data = np.asarray(data)
    if isinstance(data, np.generic | np.ndarray):
        d = NUMPY.spec(np.asarray(data)).dtype
        return finish(np.array(NUMPY.cast(np.asarray(data), dtype or d), order="C"), requires_grad, device)
    array = None if dtype is dtypes.uint64 else numbers.plain_numbers(data)
    if array is not None:
        kind = {"b": dtypes.bool_, "i": dtypes.int64, "f": dtypes.get_default_dtype(), "c": dtypes.default_complex()}
        d = dtype or kind[array.dtype.kind]
        spec = usual(None, d, device, requires_grad) if array.dtype.kind in "bi" else None
        if spec is not None and spec.native == array.dtype:
            return alias(array, spec, array.shape)
    else:
        if isinstance(data, str | bytes):
            raise numbers.no_dtype_of(data)
        sizes, data = numbers.sizes_of(data), numbers.as_lists(data)
        d = dtype or numbers.kind_of_numbers(data) or dtypes.get_default_dtype()
        if not sizes and not isinstance(data, bool | int | float | builtins.complex):
            raise numbers.no_dtype_of(data)
        numbers.check_numbers(data, sizes, d)
        array = np.array(numbers.without_tensors(data), dtype=numbers.staging(d))
    numbers.check_fits(array, d)
    return finish(numbers.converted(array, d), requires_grad, device)


@partial(profiled, name="lift_fresh")
def as_tensor(data: Any, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """`data` as a tensor: itself, or a tensor that shares its memory, where that is possible; else a copy.

    Args:
        data: a tensor, an array of NumPy's, a number, or nested lists.
        dtype: the dtype; None for that of `data`. Another one makes a copy.
        device: the device; None for that of a tensor, and else the default device.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> torch.as_tensor(x) is x
        True
        >>> import numpy as np
        >>> array = np.zeros(2)
        >>> torch.as_tensor(array)[0] = 5
        >>> array
        array([5., 0.])
    """
    dtype = as_dtype("as_tensor", dtype)
    if isinstance(data, np.ndarray) or (backend_of(type(data)) is not None and not isinstance(data, np.generic)):
        data = wrap(data)
    elif not isinstance(data, Tensor) and hasattr(data, "__cuda_array_interface__"):
        data = wrap(_on_cuda(data))
    if isinstance(data, Tensor):
        if device is not None:
            data = data.to(device)
        return data if dtype is None or dtype is data._spec.dtype else data.to(dtype)
    return tensor(data, dtype=dtype, device=device)


def _on_cuda(data: Any) -> Any:
    """The array on a CUDA device of an object with `__cuda_array_interface__`."""
    as_device("cuda")
    backend: Any = backend_on("cuda")
    return backend.library.asarray(data)


@partial(profiled, name="lift_fresh")
def asarray(
    obj: Any,
    *,
    dtype: dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """A tensor of the elements of `obj`, sharing its memory if possible, and its autograd history.

    Args:
        obj: a tensor, an array, a DLPack capsule, an object with a buffer (whose bytes are read as `dtype`), a number
            or nested lists of numbers.
        dtype: of the result; that of `obj` if None.
        device: of the result; that of `obj` if None.
        copy: True for a copy, False to share memory or raise.
        requires_grad: False detaches; None keeps that of `obj`.

    Raises:
        ValueError: if `copy` is False and a copy is needed.
        RuntimeError: for a NumPy scalar, if `copy` is False.

    Example::

        >>> import gradpack as torch
        >>> torch.asarray([1, 2])
        tensor([1, 2])
        >>> torch.asarray(bytearray(b"ab"), dtype=torch.uint8)
        tensor([97, 98], dtype=gradpack.uint8)
    """
    dtype = as_dtype("asarray", dtype)
    shared = _sharing(obj, dtype)
    if shared is None:
        if copy is False:
            if isinstance(obj, np.generic):
                raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    if requires_grad is None:
        requires_grad = shared.requires_grad
    out = shared if requires_grad or not shared.requires_grad else shared.detach()
    converts = dtype is not None and dtype is not shared._spec.dtype
    moves = device is not None and as_device(device) != shared.device
    if copy is False and (converts or moves):
        raise ValueError(
            f"can't alias tensor with dtype '{scalar_type(shared._spec.dtype)}' into dtype '{scalar_type(dtype)}'."
            if converts
            else f"can't alias tensor from device '{shared.device}' to '{device}'."
        )
    if converts or moves:
        out = out.to(device=shared.device if device is None else device, dtype=dtype or shared._spec.dtype)
    elif copy:
        out = out.clone()
    return out if out.requires_grad or not requires_grad else out.detach().requires_grad_()


def _sharing(obj: Any, d: dtype | None) -> Tensor | None:
    """A tensor that shares the memory of `obj`; None if `obj` has no array memory."""
    from .exchange import from_dlpack, frombuffer

    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.generic | int | float | builtins.complex | str | list | tuple):
        return None
    if isinstance(obj, np.ndarray) or backend_of(type(obj)) is not None:
        return wrap(obj)
    if isinstance(obj, UntypedStorage):
        return wrap(obj._memory.view(NUMPY.native_of(d or dtypes.get_default_dtype())))
    if type(obj).__name__ == "PyCapsule" or hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return as_tensor(obj) if hasattr(obj, "__cuda_array_interface__") else None
    return frombuffer(obj, dtype=d or dtypes.get_default_dtype())


@partial(profiled, name="lift_fresh")
def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares the memory of a NumPy array.

    Args:
        ndarray: the array. Its dtype and strides are those of the tensor.

    Raises:
        TypeError: for anything else, and for dtypes that tensors do not have.

    Example::

        >>> import numpy as np, gradpack as torch
        >>> a = np.zeros(2)
        >>> t = torch.from_numpy(a)
        >>> a[0] = 7
        >>> t
        tensor([7., 0.], dtype=gradpack.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        kind = type(ndarray)
        module = "" if kind.__module__ == "builtins" else kind.__module__ + "."
        raise TypeError(f"expected np.ndarray (got {module}{kind.__name__})")
    if any(s < 0 for s in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    if ndarray.itemsize and any(s % ndarray.itemsize for s in ndarray.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate "
            "the memory."
        )
    if not ndarray.flags.writeable:
        from .exchange import NOT_WRITABLE

        warn_user(NOT_WRITABLE.format("NumPy array"))
    return wrap(ndarray)


@profiled
def scalar_tensor(
    s: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor without dimensions, of the default dtype unless another is given.

    Args:
        s: the number.

    Example::

        >>> import gradpack as torch
        >>> torch.scalar_tensor(2)
        tensor(2.)
    """
    if isinstance(s, str | bytes | list | tuple | dict):
        raise TypeError(f"scalar_tensor(): argument 's' (position 1) must be Number, not {type(s).__name__}")
    d = as_dtype("scalar_tensor", dtype) or dtypes.get_default_dtype()
    number = number_for(s, d) if isinstance(s, int | float | builtins.complex) and d.category != COMPLEX else s
    return tensor(number, dtype=d, device=device, requires_grad=requires_grad)


def is_tensor(obj: Any, /) -> bool:
    """Whether `obj` is a tensor.

    Args:
        obj: anything.

    Example::

        >>> import gradpack as torch
        >>> torch.is_tensor(1)
        False
        >>> torch.is_tensor(torch.nn.Parameter(torch.ones(1)))
        True
    """
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating-point one.

    Example::

        >>> import gradpack as torch
        >>> torch.is_floating_point(torch.tensor(1))
        False
    """
    return input._spec.dtype.is_floating_point


def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers.

    Example::

        >>> import gradpack as torch
        >>> torch.is_signed(torch.tensor(1)), torch.is_signed(torch.tensor(True))
        (True, False)
    """
    return input._spec.dtype.is_signed


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex one.

    Example::

        >>> import gradpack as torch
        >>> torch.is_complex(torch.tensor(1j))
        True
    """
    return input._spec.dtype.is_complex


def numel(input: Tensor) -> int:
    """The number of elements.

    Example::

        >>> import gradpack as torch
        >>> torch.numel(torch.ones(2, 3))
        6
    """
    return input.numel()
