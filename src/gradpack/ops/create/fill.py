"""Factories: zeros, ones, full, uninitialised tensors, and the identity matrix."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.devices import KINDS
from ...base.dtypes import dtype
from ...base.info import number_for
from ...base.layouts import sparse_coo
from ...core.tensor import Tensor, alias
from ...declare.generate.profiling import noted
from ...declare.signature.arguments import python_number
from ..shape.memory_formats import in_format
from .making import _native, dtype_for, filled, finish, made_in, on_device, settled, shape_of, usual

FUNCTIONS = "zeros ones full empty eye empty_strided"


def _without_entries(name: str, size: Any, dtype: dtype | None, device: Any, requires_grad: bool) -> Tensor:
    from ..sparse.coordinates import sparse_coo_tensor

    return sparse_coo_tensor(size=shape_of(name, size), dtype=dtype, device=device, requires_grad=requires_grad)


def _zeros(shape: Any, native: Any) -> Any:
    return np.zeros(shape, native)


def _ones(shape: Any, native: Any) -> Any:
    return np.ones(shape, native)


def _empty(shape: Any, native: Any) -> Any:
    return settled(np.empty(shape, native))


def _full(shape: Any, value: Any, native: Any) -> Any:
    return np.full(shape, value, native)


@noted
def zeros(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros of a shape.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros(2, 2)
        tensor([[0., 0.],
                [0., 0.]])
    """
    spec = usual(out, dtype, device, requires_grad) if layout is None else None
    if spec is not None:
        shape = shape_of("zeros", sizes if size is None else (size,))
        array = np.zeros(shape, spec.native)
        return alias(array, spec, array.shape)
    if layout is sparse_coo:
        return _without_entries("zeros", sizes if size is None else (size,), dtype, device, requires_grad)
    dtype = dtype_for("zeros", out, dtype)
    shape = shape_of("zeros", sizes if size is None else (size,))
    make = _zeros if len(KINDS) == 1 else on_device(_zeros, device)
    made = finish(make(shape, _native("zeros", dtype, device)), requires_grad, device)
    return filled("zeros", out, made)


@noted
def ones(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Ones of a shape.

    Example::

        >>> import gradpack as torch
        >>> torch.ones(3)
        tensor([1., 1., 1.])
    """
    spec = usual(out, dtype, device, requires_grad) if layout is None else None
    if spec is not None:
        shape = shape_of("ones", sizes if size is None else (size,))
        array = np.empty(shape, spec.native)
        array.fill(1)
        return alias(array, spec, array.shape)
    if layout is sparse_coo:
        raise RuntimeError("full(...) is not implemented for sparse layout")
    dtype = dtype_for("ones", out, dtype)
    shape = shape_of("ones", sizes if size is None else (size,))
    make = _ones if len(KINDS) == 1 else on_device(_ones, device)
    made = made_in(_native("ones", dtype, device), lambda native: make(shape, native))
    return filled("ones", out, finish(made, requires_grad, device))


@noted
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
        array = settled(np.empty(shape, spec.native))
        return alias(array, spec, array.shape)
    if layout is sparse_coo:
        return _without_entries("empty", sizes if size is None else (size,), dtype, device, requires_grad)
    dtype = dtype_for("empty", out, dtype)
    shape = shape_of("empty", sizes if size is None else (size,))
    make = _empty if len(KINDS) == 1 else on_device(_empty, device)
    made = in_format(make(shape, _native("empty", dtype, device)), memory_format)
    return filled("empty", out, finish(made, requires_grad, device))


@noted
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
    """An uninitialised tensor with given strides, in elements.

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
    base = settled(np.empty(needed, native))
    strides = tuple(s * native.itemsize for s in stride)
    return finish(np.lib.stride_tricks.as_strided(base, tuple(size), strides), requires_grad, device)


@noted
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
    """A tensor filled with one value, which determines the default dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.full((2,), 7)
        tensor([7, 7])
    """
    if type(fill_value) is float and (spec := usual(out, dtype, device, requires_grad)) is not None:
        shape = shape_of("full", (size,))
        array = np.empty(shape, spec.native)
        array.fill(number_for(fill_value, spec.dtype))
        return alias(array, spec, array.shape)
    value = fill_value.item() if isinstance(fill_value, Tensor) else python_number(fill_value)
    if not isinstance(value, int | float | complex):
        raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}")
    d = dtype_for("full", out, dtype) or dtypes.scalar_dtype(value)
    make = _full if len(KINDS) == 1 else on_device(_full, device)
    shape = shape_of("full", (size,))
    made = made_in(_native("full", d, device), lambda native: make(shape, number_for(value, d), native))
    return filled("full", out, finish(made, requires_grad, device))


@noted
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
    """The identity matrix, `n` by `m`.

    Example::

        >>> import gradpack as torch
        >>> torch.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
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
    return filled("eye", out, finish(made, requires_grad, device))
