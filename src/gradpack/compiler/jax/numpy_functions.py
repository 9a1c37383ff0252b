"""Functions of NumPy's that JAX has under the same name with another meaning, or not at all."""

from __future__ import annotations

import math
import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .arrays import TracedArray, boxed, plain
from .numpy_table import BY_MODULE, entered
from .promotion import converted
from .questions import check_indices, places_of
from .writing import fitted


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(map(operator.index, shape)) if isinstance(shape, tuple | list) else (operator.index(shape),)


def _shape(a: Any) -> tuple[int, ...]:
    return tuple(a.shape) if hasattr(a, "shape") else np.shape(a)


def _is(a: Any) -> bool:
    return isinstance(a, TracedArray)


# -- new arrays --


@entered()
def zeros(shape: Any, dtype: Any = float, order: Any = None) -> Any:
    return TracedArray(jnp.zeros(_sizes(shape), dtype))


BY_MODULE[""]["empty"] = zeros


@entered()
def ones(shape: Any, dtype: Any = float, order: Any = None) -> Any:
    return TracedArray(jnp.ones(_sizes(shape), dtype))


@entered()
def full(shape: Any, value: Any, dtype: Any = None, order: Any = None) -> Any:
    native = dtype or (value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype)
    return TracedArray(fitted(plain(value), _sizes(shape), native))


@entered()
def zeros_like(a: Any, dtype: Any = None, order: Any = None, subok: bool = True, shape: Any = None) -> Any:
    return zeros(_shape(a) if shape is None else shape, dtype or a.dtype)


BY_MODULE[""]["empty_like"] = zeros_like


@entered()
def ones_like(a: Any, dtype: Any = None, order: Any = None, subok: bool = True, shape: Any = None) -> Any:
    return ones(_shape(a) if shape is None else shape, dtype or a.dtype)


@entered()
def full_like(a: Any, value: Any, dtype: Any = None, order: Any = None, subok: bool = True, shape: Any = None) -> Any:
    return full(_shape(a) if shape is None else shape, value, dtype or a.dtype)


@entered()
def asarray(a: Any, dtype: Any = None, order: Any = None, copy: Any = None) -> Any:
    if _is(a):
        return a.copy() if copy and dtype is None else a if dtype is None else a.astype(dtype, copy=bool(copy))
    if isinstance(a, np.ndarray):
        return np.asarray(a, dtype)
    return array(a, dtype)


BY_MODULE[""]["asanyarray"] = asarray


@entered()
def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    return asarray(a, dtype)


@entered()
def array(a: Any, dtype: Any = None, copy: Any = True, order: Any = None, subok: bool = False, ndmin: int = 0) -> Any:
    a = plain(a)
    if not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(a)):
        made = np.array(a, dtype, ndmin=ndmin)
        return made if isinstance(a, list | tuple) else TracedArray(jnp.asarray(made))
    return TracedArray(jnp.array(a, dtype, ndmin=ndmin))


@entered()
def astype(a: Any, dtype: Any, copy: bool = True) -> Any:
    return a.astype(dtype, copy=copy)


@entered()
def copy(a: Any, order: Any = None) -> Any:
    return a.copy()


# -- writing --


@entered()
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if not _is(dst):
        np.copyto(dst, src, casting=casting, where=where)
    elif where is True:
        dst.write(src)
    else:
        old = dst.value
        dst.write(jnp.where(plain(where), fitted(plain(src), old.shape, old.dtype), old))


@entered()
def putmask(dst: Any, mask: Any, value: Any) -> None:
    copyto(dst, value, where=mask)


@entered()
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int) -> None:
    if not _is(arr):
        np.put_along_axis(arr, indices, values, axis)
        return
    shape = np.broadcast_shapes(_shape(values), _shape(indices))
    made = fitted(plain(values), shape, arr.dtype)
    check_indices(plain(indices), arr.shape[axis])
    arr.write(jnp.put_along_axis(arr.value, plain(indices), made, axis, inplace=False))


@entered()
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    if not _is(arr) and not _is(indices):
        return np.take_along_axis(arr, indices, axis)
    arr, indices = plain(arr), plain(indices)
    check_indices(indices, arr.size if axis is None else arr.shape[axis])
    return boxed(jnp.take_along_axis(arr, indices, axis))


@entered()
def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    return _is(a) and _is(b) and a.root is b.root


BY_MODULE[""]["shares_memory"] = may_share_memory


# -- views --


@entered()
def reshape(a: Any, shape: Any, order: str = "C", copy: Any = None) -> Any:
    return a.reshape(shape, order=order) if hasattr(a, "reshape") else np.reshape(a, shape)


@entered()
def ravel(a: Any, order: str = "C") -> Any:
    return a.reshape(-1)


@entered()
def transpose(a: Any, axes: Any = None) -> Any:
    return a.transpose(axes) if _is(a) else np.transpose(a, axes)


BY_MODULE[""]["permute_dims"] = transpose


@entered()
def matrix_transpose(a: Any) -> Any:
    return a.swapaxes(-1, -2)


@entered()
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    return a.swapaxes(axis1, axis2)


@entered()
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    if not _is(a):
        return np.moveaxis(a, source, destination)
    sources = [s % a.ndim for s in np.atleast_1d(source).tolist()]
    order = [n for n in range(a.ndim) if n not in sources]
    for d, s in sorted(zip([d % a.ndim for d in np.atleast_1d(destination).tolist()], sources, strict=True)):
        order.insert(d, s)
    return a.transpose(tuple(order))


@entered()
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    return boxed(jnp.rollaxis(plain(a), axis, start))


@entered()
def squeeze(a: Any, axis: Any = None) -> Any:
    return a.squeeze(axis)


@entered()
def expand_dims(a: Any, axis: Any) -> Any:
    if not _is(a):
        return np.expand_dims(a, axis)
    return a.reshape(jax.eval_shape(lambda v: jnp.expand_dims(v, axis), a.value).shape)


@entered()
def broadcast_to(a: Any, shape: Any, subok: bool = False) -> Any:
    if not _is(a):
        return np.broadcast_to(a, shape)
    shape = _sizes(shape)
    return a.view_by(lambda p: jnp.broadcast_to(p, shape), None)


@entered()
def broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    shape = np.broadcast_shapes(*map(_shape, arrays))
    return tuple(broadcast_to(a, shape) for a in arrays)


@entered()
def real(a: Any) -> Any:
    return a.real


@entered()
def imag(a: Any) -> Any:
    return a.imag


@entered()
def flip(a: Any, axis: Any = None) -> Any:
    if not _is(a):
        return np.flip(a, axis)
    return a.view_by(lambda p: jnp.flip(p, axis), lambda p, v: jnp.flip(v, axis))


@entered()
def split(a: Any, where: Any, axis: int = 0) -> Any:
    if not _is(a):
        return np.array_split(a, where, axis)
    places = np.array_split(np.arange(a.shape[axis]), where)
    lead = (slice(None),) * (axis % a.ndim)
    return [a[(*lead, slice(int(p[0]), int(p[-1]) + 1) if len(p) else slice(0, 0))] for p in places]


BY_MODULE[""]["array_split"] = split


@entered()
def unstack(a: Any, axis: int = 0) -> Any:
    lead = (slice(None),) * (axis % a.ndim)
    return tuple(a[(*lead, i)] for i in range(a.shape[axis]))


@entered()
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    if not _is(a):
        return np.diagonal(a, offset, axis1, axis2)
    places = np.arange(a.size).reshape(a.shape)
    return a.view_of_places(np.diagonal(places, offset, axis1, axis2))


@entered("linalg")
def diagonal_(a: Any, offset: int = 0) -> Any:
    return diagonal(a, offset, -2, -1)


@entered()
def einsum(pattern: Any, *arrays: Any, out: Any = None, **_: Any) -> Any:
    if not any(map(_is, arrays)):
        return np.einsum(pattern, *arrays, out=out)
    if pattern in ("...ii->...i", "ii->i"):
        return diagonal(arrays[0], 0, -2, -1)
    made = jnp.einsum(pattern, *[plain(a) for a in arrays])
    if out is None:
        return boxed(made)
    out.write(made)
    return out


@entered("stride_tricks")
def as_strided(x: Any, shape: Any = None, strides: Any = None, **_: Any) -> Any:
    if not _is(x):
        return np.lib.stride_tricks.as_strided(x, shape, strides)
    places = np.arange(max(x.size, 1))
    wide = tuple(s // x.itemsize * places.itemsize for s in strides)
    return x.reshape(-1).view_of_places(np.array(np.lib.stride_tricks.as_strided(places, tuple(shape), wide)))


@entered("stride_tricks")
def sliding_window_view(x: Any, window_shape: Any, axis: Any = None, **_: Any) -> Any:
    if not _is(x):
        return np.lib.stride_tricks.sliding_window_view(x, window_shape, axis)
    places = np.arange(x.size).reshape(x.shape)
    return x.view_of_places(np.array(np.lib.stride_tricks.sliding_window_view(places, window_shape, axis)))


# -- the rest --


@entered()
def where(condition: Any, *choices: Any) -> Any:
    if not choices:
        return nonzero(condition)
    if not (_is(condition) or any(map(_is, choices))):
        return np.where(condition, *choices)
    native = np.result_type(*[c.dtype if hasattr(c, "dtype") else c for c in choices])
    values = [plain(c) for c in choices]
    values = [converted(v, native) if hasattr(v, "dtype") else np.asarray(v, native) for v in values]
    return boxed(jnp.where(plain(condition), *values))


@entered()
def nonzero(a: Any) -> Any:
    return boxed(places_of(a.value)) if _is(a) else np.nonzero(a)


@entered()
def flatnonzero(a: Any) -> Any:
    return nonzero(a.reshape(-1))[0]


@entered()
def argwhere(a: Any) -> Any:
    return boxed(jnp.stack(places_of(a.value), -1)) if _is(a) else np.argwhere(a)


@entered()
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    if not _is(a) and not _is(indices):
        return np.take(a, indices, axis, out, mode)
    how = "wrap" if mode == "raise" else mode  # negative ones count from the end
    if mode == "raise":
        check_indices(plain(indices), math.prod(_shape(a)) if axis is None else _shape(a)[axis])
    made = jnp.take(plain(a), plain(indices), axis, mode=how)
    if out is None:
        return boxed(made)
    out.write(made)
    return out


@entered()
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return boxed(jnp.sort(a.value, axis=axis)) if _is(a) else np.sort(a, axis, kind)


@entered()
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return boxed(jnp.argsort(a.value, axis=axis, stable=True)) if _is(a) else np.argsort(a, axis, kind)


@entered()
def lexsort(keys: Any, axis: int = -1) -> Any:
    return boxed(jnp.lexsort([plain(k) for k in keys], axis)) if any(map(_is, keys)) else np.lexsort(keys, axis)


@entered()
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    if not _is(x):
        return np.bincount(x, weights, minlength)
    if not minlength:
        raise NotImplementedError("JAX's bincount needs to know how many bins there are")
    made = jnp.bincount(x.value, None if weights is None else plain(weights), minlength=minlength, length=minlength)
    return boxed(made.astype(np.int64) if weights is None else made)


@entered()
def errstate(**_: Any) -> Any:
    return np.errstate()


@entered()
def seeded_by(host: Any) -> Any:
    """Not NumPy's: random numbers of a program."""
    from .drawing import numbers_of

    return numbers_of(host)


@entered("linalg")
def cholesky(a: Any, *, upper: bool = False) -> Any:
    return boxed(jnp.linalg.cholesky(plain(a), upper=upper, symmetrize_input=False))


@entered("linalg")
def eigh(a: Any, UPLO: str = "L") -> Any:
    return boxed(jnp.linalg.eigh(plain(a), UPLO=UPLO, symmetrize_input=False))


@entered("special")
def psi(a: Any) -> Any:
    return boxed(jax.scipy.special.digamma(plain(a)))
