"""CuPy's functions under NumPy's names, as bodies of operations call them.

Most are CuPy's own. The rest differ: CuPy's ufuncs have fewer methods, some functions fewer parameters, and a few are
not there. What has no array among its arguments is computed on the host: shapes, dtypes, lists of numbers.

Random numbers are drawn by Philox, seeded anew for each call by a number from the host's generator. So the state of all
devices is that of the generator that the user knows, and few bytes: who sets it back draws the same numbers again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy  # noqa: ICN001 - `np` is what bodies call the namespace that this file makes

from .base import nested

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
        full = f"{self._path}.{name}".lstrip(".")
        own = getattr(_Own(self._library), full.replace(".", "__"), None)
        if own is not None:
            return own
        host = getattr(self._host, name)  # an AttributeError for what NumPy does not have either
        if name in ("linalg", "fft", "lib", "stride_tricks"):
            return Namespace(self._library, full)
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
    return nested(lambda item: _uploaded(library, item), value)


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


class _Own:
    """Functions with other names or signatures in CuPy, as attributes; `__` stands for the dot of a path."""

    def __init__(self, library: Any) -> None:
        self._xp = library

    def may_share_memory(self, a: Any, b: Any) -> Any:
        return self._xp.may_share_memory(a, b)

    def array(self, value: Any, dtype: Any = None, copy: Any = True, order: Any = "K", ndmin: int = 0) -> Any:
        return self._xp.array(value, dtype, order=order, ndmin=ndmin)

    def asarray(self, value: Any, dtype: Any = None, order: Any = None, copy: Any = None) -> Any:
        return self._xp.array(value, dtype) if copy else self._xp.asarray(value, dtype)

    def astype(self, x: Any, dtype: Any, copy: bool = True) -> Any:
        return self._xp.asarray(x).astype(dtype, copy=copy)

    def vecdot(self, a: Any, b: Any, axis: int = -1) -> Any:
        xp = self._xp
        a, b = xp.moveaxis(a, axis, -1), xp.moveaxis(b, axis, -1)
        return xp.matmul(xp.conj(a)[..., None, :], b[..., :, None])[..., 0, 0]

    def unpackbits(self, a: Any, axis: Any = None, count: Any = None, bitorder: str = "big") -> Any:
        return self._xp.unpackbits(a, axis, bitorder)[:count]

    def copyto(self, dst: Any, src: Any, casting: str = "same_kind", where: Any = None) -> None:
        src = self._xp.asarray(src)
        if dst.dtype.kind != "c" and src.dtype.kind == "c":
            src = src.real
        if where is None:
            dst[...] = src
        else:
            self._xp.copyto(dst, src.astype(dst.dtype, copy=False), where=self._xp.asarray(where))

    def nonzero(self, a: Any) -> Any:
        return self._xp.nonzero(self._xp.atleast_1d(a))

    def searchsorted(self, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
        return self._xp.searchsorted(self._xp.asarray(a), self._xp.asarray(v), side, sorter)

    def lexsort(self, keys: Any, axis: int = -1) -> Any:
        return self._xp.lexsort(keys if isinstance(keys, self._xp.ndarray) else self._xp.stack(list(keys)))

    def lib__stride_tricks__as_strided(
        self, x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
    ) -> Any:
        return self._xp.lib.stride_tricks.as_strided(x, shape, strides)

    def lib__stride_tricks__sliding_window_view(self, x: Any, window_shape: Any, axis: Any = None, **flags: Any) -> Any:
        return self._xp.lib.stride_tricks.sliding_window_view(x, window_shape, axis)

    def where(self, condition: Any, *choices: Any) -> Any:
        condition = self._xp.asarray(condition)
        if not choices:
            return self.nonzero(condition)
        return self._xp.where(condition, *(self._xp.asarray(c) if isinstance(c, numpy.ndarray) else c for c in choices))

    def sort(self, a: Any, axis: int = -1, kind: Any = None, stable: Any = None) -> Any:
        return self._xp.sort(self._xp.asarray(a), axis)  # always stable

    def argsort(self, a: Any, axis: int = -1, kind: Any = None, stable: Any = None) -> Any:
        return self._xp.argsort(self._xp.asarray(a), axis)

    def count_nonzero(self, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._xp.sum(self._xp.asarray(a) != 0, axis=axis, keepdims=keepdims)

    def bincount(self, x: Any, weights: Any = None, minlength: int = 0) -> Any:
        return self._xp.bincount(x, weights, minlength)

    def linalg__diagonal(self, x: Any, offset: int = 0) -> Any:
        return self._xp.diagonal(x, offset, -2, -1)

    def errstate(self, **kwargs: Any) -> Any:
        return nullcontext()

    def seeded_by(self, host: Any) -> Any:
        """Not NumPy's: random numbers that are drawn on the device."""
        return DeviceRandom(self._xp, int(host.integers(1 << 63)))

    @property
    def special(self) -> Any:
        """As scipy.special."""
        import cupyx.scipy.special

        return cupyx.scipy.special


STREAMS = 1 << 15  # threads that draw beside each other, each from a sequence of its own


class DeviceRandom:
    """Spoken to as a `numpy.random.Generator`, it draws on the device in use."""

    __slots__ = ("_generator", "_library")

    def __init__(self, library: Any, seed: int) -> None:
        self._library = library
        random = library.random
        self._generator = random.Generator(random.Philox4x3210(seed, size=STREAMS))

    def random(self, size: Any = None, dtype: Any = "float64") -> Any:
        return self._generator.random(size, dtype)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
        return self._generator.random(size) * (high - low) + low

    def integers(self, low: int, high: int, size: Any = None, dtype: Any = "int64") -> Any:
        return self._generator.integers(low, high, size, self._library.dtype(dtype))

    def standard_normal(self, size: Any = None, dtype: Any = "float64") -> Any:
        return self._generator.standard_normal(size, dtype)

    def exponential(self, scale: float = 1.0, size: Any = None) -> Any:
        return self._generator.exponential(scale, size)

    def geometric(self, p: float, size: Any = None) -> Any:
        return self._generator.geometric(p, size)

    def poisson(self, rates: Any) -> Any:
        return self._generator.poisson(rates, rates.shape)

    def standard_cauchy(self, size: Any = None) -> Any:
        return self._library.tan((self._generator.random(size) - 0.5) * math.pi)

    def lognormal(self, mean: float = 0.0, sigma: float = 1.0, size: Any = None) -> Any:
        return self._library.exp(self._generator.standard_normal(size) * sigma + mean)

    def permutation(self, n: int) -> Any:
        """The order of so many random numbers; equal ones, of 64 bits each, do not occur."""
        return self._library.argsort(self._generator.integers(0, 1 << 63, n))
