"""Gradients reduced to the shape and dtype of their inputs."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...backends import backend_of
from ...backends.memory_layout import _array_type
from ...base.dtypes import dtype
from ...base.layouts import strided
from ...base.modes import using
from ...core.tensor import Tensor, alias
from ...graph.node import PartialGrads, variant_of
from ...kernels.sums import sum_over_rows, sums_of_rows
from ..batching.batch_tensor import is_batched
from ..op import REGISTRY


def is_complex(g: Any) -> bool:
    if isinstance(g, PartialGrads):
        return any(is_complex(x) for x in g)
    return isinstance(g, Tensor) and g._spec.dtype.is_complex


def is_complex_array(g: Any, backend: Any) -> bool:
    if isinstance(g, PartialGrads):
        return any(is_complex_array(x, backend) for x in g)
    return g is not None and backend.spec(g).dtype.is_complex


def conj(x: Any) -> Any:
    if isinstance(x, PartialGrads):
        return PartialGrads(map(conj, x))
    if not isinstance(x, Tensor) or not x._spec.dtype.is_complex:
        return x
    return REGISTRY["conj_physical"].public(x)


def conj_array(x: Any, backend: Any) -> Any:
    if isinstance(x, PartialGrads):
        return PartialGrads(conj_array(i, backend) for i in x)
    return x if x is None or not is_complex_array(x, backend) else backend.xp.conj(x)


def cast(backend: Any, value: Any, d: dtype) -> Any:
    """An array in the dtype computed with, or in its complex one: real numbers may have complex results."""
    if not hasattr(value, "dtype") or value.dtype == backend.native_of(d):
        return value
    own = backend_of(type(value)) or backend  # a gradient may be sparse
    return own.cast(value, d.to_complex() if is_complex_array(value, backend) else d)


def cast_all(backend: Any, g: Any, d: dtype | None) -> Any:
    if isinstance(g, PartialGrads):
        return PartialGrads(cast_all(backend, x, d) for x in g)
    return g if g is None or d is None else cast(backend, g, d)


def fit_tensor(g: Any, fit: Any, edge: Any) -> Any:
    if g is None or fit is None or edge is None:
        return None if edge is None else g
    shape, spec = fit
    if g._shape != shape:
        g = REGISTRY["sum_to_size"].public(g, shape)
    if spec is not None and g._spec is not spec and g._spec.dtype is not spec.dtype:
        if g._spec.dtype.is_complex and not spec.dtype.is_complex:
            g = REGISTRY["real"].public(g)
        if g._spec is not spec:
            g = REGISTRY["_to_copy"].public(g, spec.dtype)
    return g


def fit_array(g: Any, fit: Any, edge: Any) -> Any:
    """Return a gradient in the shape and dtype of its input."""
    if g is None or fit is None or edge is None:
        return None if edge is None else g
    shape, spec = fit
    if type(g) is _array_type and g.dtype is spec.native and g.shape == shape and spec.plain:
        return g
    if tuple(g.shape) != shape:
        g = sum_to_array(g, shape, spec.backend.xp)
    own = backend_of(type(g))
    if own is not None and own.layout is not strided:  # a sparse gradient of a dense tensor stays sparse
        return own.cast(g, spec.dtype)
    return spec.backend.cast(spec.backend.ensure(g), spec.flow)


def sum_to_array(g: Any, shape: tuple[int, ...], xp: Any) -> Any:
    """Sum over the dimensions along which `shape` had been broadcast."""
    extra = len(g.shape) - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and g.shape[i + extra] != 1)
    if axes and not hasattr(g, "flags"):
        g = xp.sum(g, axis=axes, keepdims=True)
    elif axes:
        count = len(axes)
        if xp is np and g.size >= _LARGE and g.flags.c_contiguous and axes[-1] - axes[0] == count - 1:
            if axes[0] == 0 and count < g.ndim:
                g, axes = sum_over_rows(g.reshape(prod(g.shape[:count]), -1)), ()
            elif axes[-1] == g.ndim - 1 and count < g.ndim:
                g, axes = sums_of_rows(g.reshape(-1, prod(g.shape[axes[0] :]))), ()
        g = xp.add.reduce(g, axes, None, None, True) if axes else g
    return g.reshape(shape) if hasattr(g, "flags") else xp.reshape(g, shape)


_LARGE = 1 << 16  # elements, which NumPy adds up in more time than it takes to ask for another way


def fit_arrays(gradients: tuple[Any, ...], shapes: tuple[Any, ...]) -> list[Any]:
    """Gradients of arrays of one dtype in the shapes of their inputs; None is the shape of a number."""
    return [
        g if g is None or s is None or g.shape == s else sum_to_array(g, s, np)
        for g, s in zip(gradients, shapes, strict=True)
    ]


def fit_batched(gradients: tuple[Any, ...], shapes: tuple[Any, ...]) -> list[Any]:
    """`fit_arrays` for gradients that have a batch dimension in front."""
    found = []
    for g, shape in zip(gradients, shapes, strict=True):
        if g is not None and shape is not None and g.shape[1:] != shape:
            whole = (len(g), *(1,) * (g.ndim - 1 - len(shape)), *shape)
            g = sum_to_array(g, whole, np).reshape((len(g), *shape))
        found.append(g)
    return found


def with_zero_slope(gradient: Tensor, edge: Any, name: str) -> Tensor:
    """Connect a gradient to an edge, so that its derivative there is zeros and not None."""
    if is_batched(gradient):  # the input is the same for all examples
        whole = gradient
        while is_batched(whole):
            whole = whole._data.value
        with using(levels=()):
            input = REGISTRY["zeros_as"].public(whole, gradient._shape)
    else:
        input = alias(gradient._data, gradient._spec, gradient._shape)
    input._edge = edge
    made: Tensor = REGISTRY["_flat_gradient"].public(gradient, input)
    if made._edge is not None and not is_batched(made):
        node: Any = made._edge
        node.__class__ = variant_of(type(node), name)
    return made
