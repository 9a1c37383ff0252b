"""CuPy's functions under NumPy's names, as bodies of operations call them.

Most are CuPy's own. The rest differ: CuPy's ufuncs have fewer methods, some functions fewer parameters, and a few are
not there. What has no array among its arguments is computed on the host: shapes, dtypes, lists of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy  # noqa: ICN001 - `np` is what bodies call the namespace that this file makes

# Names that are the same in both: dtypes, constants, and functions that read only shapes.
_SHARED = frozenset(
    "bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 "
    "dtype finfo iinfo generic number integer floating isdtype issubdtype promote_types can_cast exceptions random "
    "pi e inf nan newaxis ndim shape broadcast_shapes ndindex intp longdouble".split()
)
_MAKES = frozenset(
    "array asarray asanyarray ascontiguousarray arange empty eye full identity indices linspace logspace meshgrid ones "
    "tri tril_indices triu_indices zeros".split()
)  # of numbers, arrays of the device
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
               "logical_or": "any"}  # fmt: skip


class RefusedError(NotImplementedError):
    """CuPy has no such function: the whole body is to be computed on the host."""


class Namespace:
    """CuPy's functions under NumPy's names and signatures."""

    def __init__(self, library: Any, path: str = "") -> None:
        self._library, self._path = library, path
        self._home = _at(library, path)
        self._host = _at(numpy, path)
        self._several = library.cuda.runtime.getDeviceCount() > 1

    def __getattr__(self, name: str) -> Any:
        made = self._made(name)
        setattr(self, name, made)
        return made

    def _made(self, name: str) -> Any:
        if not self._path and name in _SHARED:
            return getattr(numpy, name)
        if not self._path and name == "ndarray":
            return self._library.ndarray
        own = _OWN.get(f"{self._path}.{name}".lstrip("."))
        if own is not None:
            return own(self._library)
        host = getattr(self._host, name)  # an AttributeError for what NumPy does not have either
        if name in ("linalg", "fft", "lib", "stride_tricks"):
            return Namespace(self._library, f"{self._path}.{name}".lstrip("."))
        if not callable(host) or isinstance(host, type):
            return host
        found = getattr(self._home, name, None)
        call = _missing(name) if found is None else found
        if self._path == "linalg" and found is not None:
            call = _checked(self._library, found)
        if isinstance(host, numpy.ufunc) and host.signature is None:
            return Function(self, name, call, host)
        return self._guarded(_on_device(self._library, call, None if name in _MAKES else host))

    def _guarded(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function for calls from outside of bodies, too: it runs on the device of its first argument."""
        if not self._several:
            return call
        kind, cuda = self._library.ndarray, self._library.cuda

        def run(*args: Any, **kwargs: Any) -> Any:
            if args and isinstance(args[0], kind) and args[0].device.id != cuda.runtime.getDevice():
                with args[0].device:
                    return call(*args, **kwargs)
            return call(*args, **kwargs)

        return run


class Function:
    """A ufunc, with the methods of NumPy's that CuPy has in some form."""

    def __init__(self, home: Namespace, name: str, call: Any, host: Any) -> None:
        self._library, self.__name__, self._ufunc = home._library, name, call
        self._call = home._guarded(_on_device(self._library, call, host))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        name = _REDUCTIONS.get(self.__name__)
        if name is None or out is not None:
            raise RefusedError(f"cupy.{self.__name__}.reduce")
        more = {} if dtype is None else {"dtype": dtype}
        return getattr(self._library, name)(array, axis=axis, keepdims=keepdims, **more)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None) -> Any:
        return self._ufunc.accumulate(array, axis, dtype)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
        return self._ufunc.reduceat(array, self._library.asarray(indices), axis, dtype)

    def outer(self, a: Any, b: Any) -> Any:
        return self._ufunc.outer(a, b)

    def at(self, array: Any, indices: Any, values: Any) -> None:
        """Atomic on the device; complex numbers as their two parts."""
        if isinstance(values, numpy.ndarray):
            values = self._library.asarray(values)
        if array.dtype.kind == "c" and self.__name__ == "add":
            self._ufunc.at(array.real, indices, values.real)
            if getattr(values, "dtype", array.dtype).kind == "c":
                self._ufunc.at(array.imag, indices, values.imag)
            return
        self._ufunc.at(array, indices, values)


def _at(home: Any, path: str) -> Any:
    for part in path.split(".") if path else ():
        home = getattr(home, part)
    return home


def _missing(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RefusedError(f"CuPy has no {name}")

    return refuse


def _on_device(library: Any, call: Callable[..., Any], host: Callable[..., Any] | None) -> Callable[..., Any]:
    """Wrap a function: host arrays are copied to the device; without any array `host` computes the result."""
    kind = library.ndarray

    def run(*args: Any, **kwargs: Any) -> Any:
        for value in args:
            if isinstance(value, kind):
                break
        else:
            if host is not None and not (_any(kind, args) or _any(kind, kwargs.values())):
                if not _any(numpy.ndarray, args):
                    return host(*args, **kwargs)
        if _any(numpy.ndarray, args):
            args = _uploaded(library, args)
        return call(*args, **kwargs)

    return run


def _any(kind: type, values: Any) -> bool:
    return any(isinstance(v, kind) or (isinstance(v, list | tuple) and _any(kind, v)) for v in values)


def _uploaded(library: Any, value: Any) -> Any:
    if isinstance(value, numpy.ndarray):
        return library.asarray(value)
    return type(value)([_uploaded(library, v) for v in value]) if type(value) in (list, tuple) else value


def _checked(library: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `linalg` that says what is singular: CuPy gives nan unless it is asked to."""

    def run(*args: Any, **kwargs: Any) -> Any:
        from cupyx import errstate

        try:
            with errstate(linalg="raise"):
                return call(*args, **kwargs)
        except RuntimeError as error:
            if type(error) is RuntimeError:  # not one of CUDA's: the routine is not in this cuSOLVER
                raise RefusedError(str(error)) from None
            raise

    return run


# -- functions with other names or signatures in CuPy --


def _array(xp: Any) -> Any:
    def array(value: Any, dtype: Any = None, copy: Any = True, order: Any = "K", ndmin: int = 0) -> Any:
        return xp.array(value, dtype, order=order, ndmin=ndmin)

    return array


def _asarray(xp: Any) -> Any:
    def asarray(value: Any, dtype: Any = None, order: Any = None, copy: Any = None) -> Any:
        return xp.array(value, dtype) if copy else xp.asarray(value, dtype)

    return asarray


def _astype(xp: Any) -> Any:
    return lambda x, dtype, copy=True: xp.asarray(x).astype(dtype, copy=copy)


def _vecdot(xp: Any) -> Any:
    def vecdot(a: Any, b: Any, axis: int = -1) -> Any:
        a, b = xp.moveaxis(a, axis, -1), xp.moveaxis(b, axis, -1)
        return xp.matmul(xp.conj(a)[..., None, :], b[..., :, None])[..., 0, 0]

    return vecdot


def _unpackbits(xp: Any) -> Any:
    return lambda a, axis=None, count=None, bitorder="big": xp.unpackbits(a, axis, bitorder)[:count]


def _copyto(xp: Any) -> Any:
    def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = None) -> None:
        src = xp.asarray(src)
        if dst.dtype.kind != "c" and src.dtype.kind == "c":
            src = src.real
        if where is None:
            dst[...] = src
        else:
            xp.copyto(dst, src.astype(dst.dtype, copy=False), where=xp.asarray(where))

    return copyto


def _nonzero(xp: Any) -> Any:
    return lambda a: xp.nonzero(xp.atleast_1d(a))


def _searchsorted(xp: Any) -> Any:
    return lambda a, v, side="left", sorter=None: xp.searchsorted(xp.asarray(a), xp.asarray(v), side, sorter)


def _lexsort(xp: Any) -> Any:
    return lambda keys, axis=-1: xp.lexsort(keys if isinstance(keys, xp.ndarray) else xp.stack(list(keys)))


def _as_strided(xp: Any) -> Any:
    def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> Any:
        return xp.lib.stride_tricks.as_strided(x, shape, strides)

    return as_strided


def _sliding(xp: Any) -> Any:
    def sliding_window_view(x: Any, window_shape: Any, axis: Any = None, **flags: Any) -> Any:
        return xp.lib.stride_tricks.sliding_window_view(x, window_shape, axis)

    return sliding_window_view


def _where(xp: Any) -> Any:
    def where(condition: Any, *choices: Any) -> Any:
        condition = xp.asarray(condition)
        if not choices:
            return xp.nonzero(xp.atleast_1d(condition))
        return xp.where(condition, *(xp.asarray(c) if isinstance(c, numpy.ndarray) else c for c in choices))

    return where


def _sort(xp: Any) -> Any:
    return lambda a, axis=-1, kind=None, stable=None: xp.sort(xp.asarray(a), axis)  # always stable


def _argsort(xp: Any) -> Any:
    return lambda a, axis=-1, kind=None, stable=None: xp.argsort(xp.asarray(a), axis)


def _count_nonzero(xp: Any) -> Any:
    def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return xp.sum(xp.asarray(a) != 0, axis=axis, keepdims=keepdims)

    return count_nonzero


def _bincount(xp: Any) -> Any:
    return lambda x, weights=None, minlength=0: xp.bincount(x, weights, minlength)


def _seeded_by(xp: Any) -> Any:
    from .cupy_random import DeviceRandom

    return lambda host: DeviceRandom(xp, int(host.integers(1 << 63)))


def _special(xp: Any) -> Any:
    import cupyx.scipy.special

    return cupyx.scipy.special


def _diagonal(xp: Any) -> Any:
    return lambda x, offset=0: xp.diagonal(x, offset, -2, -1)


_OWN: dict[str, Callable[[Any], Any]] = {
    "argsort": _argsort,
    "array": _array,
    "asarray": _asarray,
    "astype": _astype,
    "bincount": _bincount,
    "copyto": _copyto,
    "count_nonzero": _count_nonzero,
    "errstate": lambda xp: lambda **kwargs: nullcontext(),
    "lexsort": _lexsort,
    "lib.stride_tricks.as_strided": _as_strided,
    "lib.stride_tricks.sliding_window_view": _sliding,
    "linalg.LinAlgError": lambda xp: numpy.linalg.LinAlgError,
    "linalg.diagonal": _diagonal,
    "may_share_memory": lambda xp: xp.may_share_memory,
    "nonzero": _nonzero,
    "searchsorted": _searchsorted,
    "seeded_by": _seeded_by,  # not NumPy's: random numbers that are drawn on the device
    "sort": _sort,
    "special": _special,  # as scipy.special
    "unpackbits": _unpackbits,
    "vecdot": _vecdot,
    "where": _where,
}
