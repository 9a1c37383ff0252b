"""Dask: arrays that are computed later, chunk by chunk, from data that need not fit into memory.

Operations on elements are NumPy's bodies on every chunk; the bodies of others run on Dask's functions. Nothing is
computed on the way: a body that asks for a value is refused (`LazyArray`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from math import isnan
from typing import Any, cast

import dask
import dask.array as da
import numpy  # noqa: ICN001 - `np` is what bodies call the namespace that this file makes
from dask.base import tokenize
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..base.devices import KINDS, device
from ..base.dtypes import dtype
from .base import Backend, UnsupportedError, bring_backend, nested
from .numpy import NATIVE, NUMPY

KINDS.add("dask")
_PLACE = device("dask")
LATER = (
    "the values of a tensor on the device 'dask' are computed later, and this operation needs them now: compute them "
    "before, by gradpack.utils.dask.evaluate(tensor), or bring the tensor to the host by tensor.cpu()"
)

# Names that are the same in both: dtypes, constants, and functions that read only shapes.
_SHARED = frozenset(
    "bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 "
    "dtype finfo iinfo generic number integer floating isdtype issubdtype promote_types result_type can_cast pi e inf "
    "nan newaxis ndim shape broadcast_shapes intp errstate".split()
)
_MAKES = frozenset("arange empty eye full linspace ones zeros".split())
_OTHER_NAMES = {"permute_dims": "transpose", "concat": "concatenate", "pow": "power", "amax": "max", "amin": "min"}
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
               "logical_or": "any"}  # fmt: skip


class LazyArray(NDArrayOperatorsMixin):
    """A Dask array whose values cannot be asked for, but by `compute` of the backend.

    Attributes:
        lazy: Dask's array.
    """

    __slots__ = ("__weakref__", "lazy")
    __array_priority__ = 1000.0

    def __init__(self, lazy: Any) -> None:
        self.lazy = lazy

    @property
    def shape(self) -> tuple[int, ...]:
        return cast("tuple[int, ...]", self.lazy.shape)

    @property
    def dtype(self) -> Any:
        return self.lazy.dtype

    @property
    def mT(self) -> LazyArray:  # noqa: N802 - the standard's name
        return LazyArray(da.swapaxes(self.lazy, -1, -2))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        if method != "__call__":
            return getattr(getattr(DASK.xp, ufunc.__name__), method)(*inputs, **kwargs)
        made = on_lazy(ufunc)(*inputs, **kwargs)
        if out is None:
            return made
        out[0].lazy = made.lazy.astype(out[0].dtype)
        return out[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return getattr(DASK.xp, function.__name__)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"'LazyArray' object has no attribute {name!r}")
        if name in ("item", "tolist", "compute", "persist", "tobytes"):
            raise UnsupportedError(LATER)
        found = getattr(self.lazy, name)
        return on_lazy(found) if callable(found) else _closed(found)

    def __getitem__(self, index: Any) -> Any:
        return _closed(self.lazy[_opened(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is Ellipsis:
            self.lazy = da.broadcast_to(da.asarray(_opened(value)), self.shape).astype(self.dtype)
        else:
            self.lazy[_opened(index)] = _opened(value)

    def __len__(self) -> int:
        return len(self.lazy)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise UnsupportedError(LATER)

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __array__ = __iter__ = _refuse

    def __repr__(self) -> str:
        return f"LazyArray(shape={self.shape}, dtype={self.dtype}, chunks={self.lazy.chunksize})"


def on_lazy(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of Dask's arrays to accept and return lazy arrays, among other arguments."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return _closed(function(*_opened(args), **_opened(kwargs)))

    return run


def _opened(value: Any) -> Any:
    return value.lazy if type(value) is LazyArray else nested(_opened, value)


def _closed(value: Any) -> Any:
    if not isinstance(value, da.Array):
        return nested(_closed, value)
    if has_unknown_shape(value):
        raise UnsupportedError(f"the shape of the result depends on elements: {LATER}")
    return LazyArray(value)


def has_unknown_shape(array: Any) -> bool:
    """Whether the shape of a Dask array depends on elements."""
    return any(map(isnan, array.shape))


def _has_lazy(value: Any) -> bool:
    return type(value) is LazyArray or (type(value) in (list, tuple) and any(map(_has_lazy, value)))


class Namespace:
    """Dask's functions under NumPy's names and signatures."""

    def __getattr__(self, name: str) -> Any:
        made = self._made(name)
        setattr(self, name, made)
        return made

    def _made(self, name: str) -> Any:
        host = getattr(numpy, name)  # an AttributeError for what NumPy does not have either
        if name in _SHARED or not callable(host) or isinstance(host, type):
            return host
        plain = isinstance(host, numpy.ufunc) and host.signature is None
        found: Any = host if plain else getattr(da, _OTHER_NAMES.get(name, name), None)
        if name in _MAKES:
            return on_lazy(found)

        def call(*args: Any, **kwargs: Any) -> Any:
            if not any(map(_has_lazy, (*args, *kwargs.values()))):
                return host(*args, **kwargs)
            if found is None:
                raise UnsupportedError(f"Dask has no function like numpy.{name}, for tensors on the device 'dask'")
            return on_lazy(found)(*args, **kwargs)

        reduction = _REDUCTIONS.get(name)
        if reduction is not None:
            call.reduce = lambda array, axis=0, **more: getattr(self, reduction)(array, axis=axis, **more)  # type: ignore[attr-defined]
        return call

    def asarray(self, value: Any, dtype: Any = None, **_: Any) -> Any:
        """An array as it is, or numbers as an array of Dask's."""
        if type(value) is LazyArray:
            return value if dtype is None or value.dtype == dtype else value.astype(dtype)
        return _closed(da.stack(_opened(value))) if _has_lazy(value) else _embedded(numpy.asarray(value, dtype))

    array = asanyarray = ascontiguousarray = asarray

    def astype(self, array: Any, kind: Any, copy: bool = True) -> Any:
        """An array in another dtype."""
        return array.astype(kind)

    def matrix_transpose(self, array: Any) -> Any:
        """An array with its last two dimensions exchanged."""
        return array.mT

    def count_nonzero(self, array: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """How many elements are not zero."""
        return self.sum(array != 0, axis=axis, keepdims=keepdims)

    def vecdot(self, a: Any, b: Any, axis: int = -1) -> Any:
        """The sum of products along a dimension."""
        return self.sum(a.conj() * b, axis=axis)


def _embedded(host: Any) -> LazyArray:
    """An array of the host as a part of the graph, in one chunk."""
    return LazyArray(da.from_array(host, chunks=-1))


@cache
def _body(name: str) -> Callable[..., Any]:
    """NumPy's body of an operation. Looked up by name: workers have gradpack, too."""
    import_module("gradpack")
    return NUMPY.body(import_module("gradpack.declare.op").REGISTRY[name])


def run_body(name: str, places: tuple[int | str, ...], fixed: dict[int | str, Any], which: Any, *arrays: Any) -> Any:
    """Run an operation on chunks.

    Args:
        places: of the arrays among the arguments: a number, or the name of a keyword.
        fixed: the other arguments, by place.
        which: the number of the result to return, if there are several.
    """
    given = fixed | dict(zip(places, arrays, strict=True))
    args = [given[i] for i in range(sum(type(place) is int for place in given))]
    with numpy.errstate(all="ignore"):
        made = _body(name)(*args, **{key: v for key, v in given.items() if type(key) is str})
    return numpy.asarray(made if which is None else made[which])


def _by_chunk(name: str) -> Callable[..., Any]:
    """The body of an operation on elements: NumPy's, on each chunk."""

    def run(*args: Any, **kwargs: Any) -> Any:
        given: dict[int | str, Any] = dict(enumerate(args))
        given.update(kwargs)
        places = tuple(place for place, value in given.items() if type(value) is LazyArray)
        arrays = [given[place].lazy for place in places]
        body = partial(run_body, name, places, {p: v for p, v in given.items() if p not in places})
        once = {key: _one(v) for key, v in kwargs.items()}
        found = _body(name)(*map(_one, args), **once)  # on a single element, for the dtypes
        which = [(None, found)] if type(found) is not tuple else enumerate(found)
        made = [LazyArray(da.core.elemwise(partial(body, i), *arrays, dtype=part.dtype)) for i, part in which]
        return made[0] if type(found) is not tuple else tuple(made)

    return run


def _one(value: Any) -> Any:
    return numpy.ones((1,) * len(value.shape), value.dtype) if type(value) is LazyArray else value


class DaskBackend(Backend):
    """The backend of the device `dask`."""

    name = "dask"
    array_types = (LazyArray,)
    mutable = False
    aliasing = False
    makes = True
    later = True

    def __init__(self) -> None:
        super().__init__()
        self.xp = Namespace()

    def dtype_of(self, native: Any) -> dtype:
        return NUMPY.dtype_of(native)

    def native_of(self, d: dtype) -> Any:
        return NATIVE[d]

    def device_of(self, array: Any) -> device:
        return _PLACE

    def asarray(self, value: Any, d: dtype, where: device) -> Any:
        if type(value) is LazyArray:
            return self.cast(LazyArray(value.lazy), d)
        return _embedded(numpy.array(value, dtype=NATIVE[d]))

    def ensure(self, array: Any) -> Any:
        return array if type(array) is LazyArray else self.xp.asarray(array)

    def cast(self, array: Any, d: dtype) -> Any:
        native = NATIVE[d]
        return array if array.dtype == native else array.astype(native)

    def copy(self, array: Any) -> Any:
        return LazyArray(array.lazy)

    def in_rows(self, array: Any) -> Any:
        return array

    def to_numpy(self, array: Any) -> Any:
        return numpy.asarray(array.lazy.compute())

    def making(self, where: device, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: self.ensure(self.bind(function)(*args, **kwargs))

    def text(self, tensor: Any) -> str:
        kind = "" if tensor.dtype.name == "float32" else f", dtype={tensor.dtype}"
        grad = ", requires_grad=True" if tensor.requires_grad and tensor.is_leaf else ""
        made = "" if tensor.is_leaf else f", grad_fn=<{tensor.grad_fn.name()}>"
        return f"tensor(..., device='dask', size={tuple(tensor.shape)}{kind}{grad}{made})"

    def body(self, op: Any) -> Callable[..., Any]:
        return _by_chunk(op.name) if op.kind == "elementwise" else super().body(op)


DASK = DaskBackend()


bring_backend("dask", DASK)  # tensors can be there from now on


def compute(arrays: list[LazyArray]) -> list[Any]:
    """The values of several arrays, as NumPy arrays, computed together."""
    return [numpy.asarray(value) for value in dask.compute(*[array.lazy for array in arrays])]


def embed(array: LazyArray, values: Any) -> None:
    """Put computed values into the place of what computes them."""
    array.lazy = _embedded(values).lazy


class _MappedFile:
    """The array in a file, which is mapped anew for each chunk: it is sent to workers as the name of the file."""

    def __init__(self, array: Any) -> None:
        self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim
        self._file, self._offset = os.fspath(array.filename), array.offset
        self._order: Any = "C" if array.flags.c_contiguous else "F"
        stat = os.stat(self._file)
        token = (self._file, stat.st_mtime_ns, stat.st_size, self._offset, self.shape, self.dtype.str)
        self.name = f"mapped-{tokenize(token)}"

    def __getitem__(self, index: Any) -> Any:
        mapped: Any = numpy.memmap(self._file, self.dtype, "r", self._offset, self.shape, self._order)
        return numpy.array(mapped[index])  # a copy, so that the chunk is the only one that is in memory


def mapped(array: Any, chunks: Any) -> Any:
    """Return a memory-mapped file as a Dask array. Dask's own function would read the whole of it.

    Raises:
        TypeError: for what is no whole memory-mapped file.
    """
    if not isinstance(array, numpy.memmap) or array.filename is None or isinstance(array.base, numpy.memmap):
        raise TypeError("from_memmap(): the result of numpy.memmap, or of numpy.load with mmap_mode, is needed")
    file = _MappedFile(array)
    return da.from_array(file, chunks=chunks, name=file.name, asarray=False, meta=numpy.empty(0, file.dtype))
