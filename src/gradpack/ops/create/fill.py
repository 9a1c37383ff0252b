"""Factories: zeros, ones, full, uninitialised tensors, and the identity matrix."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.devices import KINDS
from ...base.dtypes import dtype
from ...base.info import number_for
from ...base.layouts import sparse_coo
from ...core.tensor import Tensor, alias
from ...declare.generate.profiling import profiled
from ...declare.signature.arguments import python_number
from ..shape.memory_formats import in_format
from .making import (
    _native,
    dtype_for,
    made_in,
    on_device,
    result,
    sequence_of,
    shape_of,
    uninitialized,
    usual,
    with_parameters_of,
)

FUNCTIONS = "zeros ones full empty eye empty_strided"


def _without_entries(name: str, size: Any, dtype: dtype | None, device: Any, requires_grad: bool) -> Tensor:
    if name == "ones":
        raise RuntimeError("full(...) is not implemented for sparse layout")
    return late.sparse_coo_tensor(size=shape_of(name, size), dtype=dtype, device=device, requires_grad=requires_grad)


def _full(shape: Any, value: Any, native: Any) -> Any:
    return np.full(shape, value, native)


def _of_size(allocate: Callable[[Any, Any], Any], value: int = 0) -> Callable[[Callable[[Any, Any], Any]], Any]:
    """Make a function of a size from `array(shape, native)`; in the usual case `allocate` and filling are faster."""

    def declare(array: Callable[[Any, Any], Any]) -> Any:
        name = array.__name__

        def of_size(
            *sizes: Any,
            size: Any = None,
            out: Any = None,
            dtype: dtype | None = None,
            layout: Any = None,
            device: Any = None,
            requires_grad: bool = False,
            pin_memory: bool = False,
        ) -> Tensor:
            spec = usual(out, dtype, device, requires_grad) if layout is None else None
            if spec is not None:
                made = allocate(shape_of(name, sizes if size is None else (size,)), spec.native)
                if value:
                    made.fill(value)
                return alias(made, spec, made.shape)
            if layout is sparse_coo:
                return _without_entries(name, sizes if size is None else (size,), dtype, device, requires_grad)
            dtype = dtype_for(name, out, dtype)
            shape = shape_of(name, sizes if size is None else (size,))
            make = array if len(KINDS) == 1 else on_device(array, device)
            made = made_in(_native(name, dtype, device), lambda native: make(shape, native))
            return result(name, out, made, requires_grad, device)

        return profiled(with_parameters_of(array, of_size))

    return declare


@_of_size(np.zeros)
def zeros(shape: Any, native: Any) -> Any:
    """A tensor of zeros.

    Args:
        sizes: the shape: ints, or one sequence of them.
        size: the shape, by name.
        dtype: by default the default dtype, float32 unless it was set.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros(2, 2)
        tensor([[0., 0.],
                [0., 0.]])
        >>> torch.zeros((2, 0), dtype=torch.int64).shape
        gradpack.Size([2, 0])
    """
    return np.zeros(shape, native)


@_of_size(np.empty, 1)
def ones(shape: Any, native: Any) -> Any:
    """A tensor of ones.

    Args:
        sizes: the shape: ints, or one sequence of them.
        size: the shape, by name.
        dtype: by default the default dtype, float32 unless it was set.

    Example::

        >>> import gradpack as torch
        >>> torch.ones(3)
        tensor([1., 1., 1.])
        >>> torch.ones(2, 1, dtype=torch.bool)
        tensor([[True],
                [True]])
    """
    return np.ones(shape, native)


@profiled
def empty(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """An uninitialised tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.empty(2, 3).shape
        gradpack.Size([2, 3])
    """
    spec = usual(out, dtype, device, requires_grad) if layout is None and memory_format is None else None
    if spec is not None:
        shape = shape_of("empty", sizes if size is None else (size,))
        array = uninitialized(shape, spec.native)
        return alias(array, spec, array.shape)
    if layout is sparse_coo:
        return _without_entries("empty", sizes if size is None else (size,), dtype, device, requires_grad)
    dtype = dtype_for("empty", out, dtype)
    shape = shape_of("empty", sizes if size is None else (size,))
    make = uninitialized if len(KINDS) == 1 else on_device(uninitialized, device)
    made = in_format(make(shape, _native("empty", dtype, device)), memory_format)
    return result("empty", out, made, requires_grad, device)


@profiled
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of no particular values with given strides.

    Args:
        size: the shape.
        stride: by dimension, how many elements of the memory lie between neighbours.

    Example::

        >>> import gradpack as torch
        >>> torch.empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    native = _native("empty_strided", dtype, device)
    needed = 1 + builtins.sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if all(size) else 0
    base = uninitialized(needed, native)
    strides = tuple(s * native.itemsize for s in stride)
    strided = np.lib.stride_tricks.as_strided(base, tuple(size), strides)
    return result("empty_strided", None, strided, requires_grad, device)


@profiled
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor filled with one value.

    Args:
        size: the shape.
        fill_value: the value of all elements: a number.
        dtype: by default that of the value: bool, int64, the default dtype for floats, or complex.

    Example::

        >>> import gradpack as torch
        >>> torch.full((2,), 7)
        tensor([7, 7])
    """
    if type(fill_value) is float or (dtype is None and type(fill_value) in (int, bool)):
        wanted = dtype if type(fill_value) is float else dtypes.scalar_dtype(fill_value)
        spec = usual(out, wanted, device, requires_grad)
    else:
        spec = None
    if spec is not None:
        shape = shape_of("full", (sequence_of("full", size),))
        array = np.empty(shape, spec.native)
        array.fill(number_for(fill_value, spec.dtype))
        return alias(array, spec, array.shape)
    value = fill_value.item() if isinstance(fill_value, Tensor) else python_number(fill_value)
    if not isinstance(value, int | float | complex):
        raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}")
    d = dtype_for("full", out, dtype) or dtypes.scalar_dtype(value)
    make = _full if len(KINDS) == 1 else on_device(_full, device)
    shape = shape_of("full", (sequence_of("full", size),))
    made = made_in(_native("full", d, device), lambda native: make(shape, number_for(value, d), native))
    return result("full", out, made, requires_grad, device)


@profiled
def eye(
    n: int,
    m: int | None = None,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere.

    Args:
        n: the number of rows.
        m: the number of columns; None for `n`.

    Raises:
        RuntimeError: for negative numbers.

    Example::

        >>> import gradpack as torch
        >>> torch.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
        >>> torch.eye(2, 3, dtype=torch.int64)
        tensor([[1, 0, 0],
                [0, 1, 0]])
    """
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(
            f"n must be greater or equal to 0, got {n}" if n < 0 else f"m must be greater or equal to 0, got {m}"
        )
    spec = usual(out, dtype, device, requires_grad) if type(n) is int and (m is None or type(m) is int) else None
    if spec is not None:
        width = n if m is None else m
        array = np.zeros((n, width), spec.native)
        array.reshape(-1)[: builtins.min(n, width) * (width + 1) : width + 1] = 1
        return alias(array, spec, array.shape)
    dtype = dtype_for("eye", out, dtype)
    made = made_in(_native("eye", dtype, device), lambda native: np.eye(n, m, dtype=native))
    return result("eye", out, made, requires_grad, device)
