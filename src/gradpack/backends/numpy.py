"""NumPy, the default backend."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import repeat
from typing import Any

import numpy as np
from numpy import ndarray

from ..base.devices import CPU, device
from ..base.dtypes import DTYPES, bfloat16, complex32, complex64, dtype, float8_e4m3fn, float8_e5m2
from ..base.exits import Exit
from ..kernels.dispatch import LEAST, accelerated
from .base import Backend, Spec, python_number, register_backend

# What complex32 is in NumPy, which has no dtype for it: it moves the elements only, all else is done in complex64.
PAIR = np.dtype([("real", np.float16), ("imag", np.float16)])


_numpy = np  # never bound to another library


def as_intp(index: Any) -> Any:
    """Indices as wide as an address: `take`, `repeat`, `bincount` and `reduceat` of NumPy refuse wider ones."""
    return index if _numpy.intp is _numpy.int64 else index.astype(_numpy.intp)


def as_int64(index: Any) -> Any:
    """Indices that NumPy gives, which are as wide as an address, in the dtype that torch's have."""
    return index if _numpy.intp is _numpy.int64 else index.astype(_numpy.int64)


def ml_dtypes() -> Any:
    """The library that has bfloat16 and floats of eight bits for NumPy. To import it takes ten milliseconds.

    Raises:
        ImportError: if it is not installed.
    """
    try:
        return import_module("ml_dtypes")
    except ImportError:
        raise ImportError(
            "bfloat16 and floats of eight bits need ml_dtypes, which is not installed: pip install ml_dtypes"
        ) from None


class _Natives(dict[dtype, np.dtype[Any]]):
    """Table from dtype to NumPy dtype; those of `_OF_ML_DTYPES` are added at first access."""

    def __missing__(self, d: dtype) -> np.dtype[Any]:
        if d.name not in _OF_ML_DTYPES:
            raise KeyError(d)
        native = np.dtype(getattr(ml_dtypes(), d.name))
        NUMPY.by_native[native] = Spec(NUMPY, d, CPU, native)
        DTYPE[native] = d
        self[d] = native
        return native


_OF_ML_DTYPES = {d.name: d for d in (bfloat16, float8_e4m3fn, float8_e5m2)}
NATIVE = _Natives({d: np.dtype(d.name) for d in DTYPES.values() if d.name not in _OF_ML_DTYPES and d is not complex32})
NATIVE[complex32] = PAIR
DTYPE: dict[Any, dtype] = {native: d for d, native in NATIVE.items()}


def paired(array: Any) -> Any:
    """Complex numbers in pairs of float16."""
    made = np.empty_like(array, dtype=PAIR)
    made["real"], made["imag"] = array.real, array.imag
    return made


def unpaired(array: Any) -> Any:
    """Pairs of float16 as complex64."""
    made = np.empty_like(array, dtype=np.complex64)
    made.real, made.imag = array["real"], array["imag"]
    return made


@partial(accelerated, size="a0.size + a1.size")
def product(a: Any, b: Any) -> Any:
    """`np.matmul`; for vectors and matrices their method `dot`, which takes half the time where they are small."""
    if type(a) is ndarray and type(b) is ndarray and 0 < a.ndim < 3 and 0 < b.ndim < 3 and a.dtype.char in "fdFD":
        return a.dot(b)
    return np.matmul(a, b)


@accelerated
def as_native(array: Any, native: Any) -> Any:
    """`converted`."""
    return converted(array, native)


def converted(array: Any, native: Any) -> Any:
    """An array as one of another dtype of NumPy's. What does not fit is infinite or undefined, without a warning."""
    order: Any = "C" if 0 in array.strides else "K"
    if native.itemsize > array.itemsize and native.kind not in "iu":
        return array.astype(native, order, copy=False)  # where all fits
    for token in hushed:
        try:
            array = array.astype(native, order, copy=False)
        finally:
            unhush(token)
        break
    return array


def rounded_number(value: float, d: dtype) -> float:
    """A number as a floating dtype of 16 bits has it."""
    with quiet():
        return float(np.float32(value).astype(NATIVE[d]))


def _of_ml_dtypes(native: Any) -> dtype | None:
    """The dtype of ours that arrays of a dtype of that library have."""
    found = _OF_ML_DTYPES.get(native.name)
    return found if found is not None and native == NATIVE[found] else None


def _in_float8(array: Any, d: dtype) -> Any:
    """Numbers as floats of eight bits, rounded from float32: e4m3fn has a largest number, and no infinity."""
    with quiet():
        array = array.astype(np.float32, copy=False)
        return (np.clip(array, -448, 448) if d is float8_e4m3fn else array).astype(NATIVE[d])


def hold(d: dtype, native: Any) -> None:
    """Hold a dtype from outside in arrays of a NumPy dtype."""
    held = DTYPE.get(native) or _of_ml_dtypes(native)
    if held is not None:
        raise ValueError(f"the NumPy dtype {native} holds {held} already")
    NATIVE[d], DTYPE[native] = native, d
    NUMPY.by_native[native] = Spec(NUMPY, d, CPU, native)


def let_go(d: dtype) -> None:
    native = NATIVE.get(d)
    DTYPE.pop(native, None)
    NUMPY.by_native.pop(native, None)
    NATIVE.pop(d, None)


class NumPyBackend(Backend):
    name = "numpy"
    array_types = (np.ndarray, np.generic)
    xp = np
    is_numpy = True

    def __init__(self) -> None:
        super().__init__()
        self.by_native: dict[Any, Spec] = {native: Spec(self, d, CPU, native) for native, d in DTYPE.items()}

    def spec(self, array: Any) -> Spec:
        native = array.dtype
        found = self.by_native.get(native)
        if found is None:
            found = self.by_native[native] = self.by_native[NATIVE[self.dtype_of(native)]]
        return found

    def spec_for(self, d: dtype, where: device) -> Spec:
        return self.by_native[NATIVE[d]]

    def native_of(self, d: dtype) -> Any:
        return NATIVE[d]

    def dtype_of(self, native: Any) -> dtype:
        found = DTYPE.get(native) or _of_ml_dtypes(native)
        if found is None and native.isnative is False:
            raise ValueError(
                f"given numpy array has byte order different from the native byte order ({native}): "
                "convert it with array.astype(array.dtype.newbyteorder('='))"
            )
        if found is None:
            names = ", ".join(d.name for d in DTYPES.values())
            raise TypeError(
                f"can't convert np.ndarray of type {native.type.__module__}.{native.type.__name__}. "
                f"The only supported types are: {names}."
            )
        return found

    def asarray(self, value: Any, d: dtype, where: device) -> Any:
        if d is float8_e4m3fn or d is float8_e5m2:
            return _in_float8(np.array(value, np.float32), d)
        return paired(np.array(value, np.complex64)) if d is complex32 else np.array(value, dtype=NATIVE[d])

    def one(self, spec: Spec) -> Any:
        return np.array(1, spec.native) if spec.plain else super().one(spec)  # a seventh of the time of `ones`

    def ensure(self, array: Any) -> Any:
        return np.asarray(array)

    def cast(self, array: Any, d: dtype) -> Any:
        native = NATIVE[d]
        if array.dtype == native:
            return array
        if native is PAIR or array.dtype == PAIR:
            return paired(np.asarray(array)) if native is PAIR else self.cast(unpaired(array), d)
        if array.dtype.kind == "c" and native.kind != "c":
            array = array != 0 if d.name == "bool" else array.real.copy("C" if 0 in array.strides else "K")
        if d.alone and d.is_floating_point:
            return _in_float8(array, d)
        return (as_native if array.size >= LEAST else converted)(array, native)

    def copy(self, array: Any) -> Any:
        return array.copy(order="C" if 0 in array.strides else "K")

    def write(self, array: Any, value: Any) -> None:
        if not isinstance(value, np.ndarray | np.generic) and hasattr(value, "to_dense"):  # `dense.mul_(sparse)`
            value = value.to_dense()
        if array.dtype == PAIR:
            value = self.cast(np.asarray(value), complex32)
        array[...] = value

    def added(self, array: Any, other: Any) -> Any:
        if array.dtype == PAIR:
            return paired(unpaired(array) + self.cast(other, complex64))
        return array + other

    def to_numpy(self, array: Any) -> Any:
        return array

    def number(self, array: Any) -> Any:
        pair = array.dtype.char == "V" and array.dtype == PAIR
        return python_number((unpaired(array) if pair else array).item())


class WrappingBackend(Backend):
    """Base class of backends whose dtypes are NumPy's, and for which functions are wrapped."""

    def dtype_of(self, native: Any) -> dtype:
        return NUMPY.dtype_of(native)

    def native_of(self, d: dtype) -> Any:
        return NATIVE[d]

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that works on arrays of this library. `bind` keeps it."""
        raise NotImplementedError

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        found = self._bound.get(function)
        if found is None:
            found = self._bound[function] = self.wrapped(function)
        return found


# Torch never warns of 1/0 and the like, so NumPy must not while it works for a tensor.
# `numpy.errstate` does it through a context variable; compiled code sets that one directly, in a
# fifth of the time. Where this NumPy has none of the kind, its settings are changed in the open.
try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    silent: Any = _make_extobj(all="ignore")
    hush: Any = _extobj_contextvar.set
    unhush: Any = _extobj_contextvar.reset
    _settings: Any = _extobj_contextvar.get
except (ImportError, TypeError):
    silent = dict.fromkeys(np.geterr(), "ignore")

    def hush(settings: Any) -> Any:
        return np.seterr(**settings)

    def unhush(before: Any) -> None:
        np.seterr(**before)

    _settings = np.geterr

# `for token in hushed: ...` hushes. Going on with an iterator is no call, after which Python looks for an interrupt: so
# none comes between this and the `try` that is to follow, whose `finally` calls `unhush(token)`. Leave by `break`.
hushed: Any = map(hush, repeat(silent))


def silently(function: Any, /, **arguments: Any) -> Any:
    """Call a function without floating-point warnings."""
    for token in hushed:
        try:
            result = function(**arguments)
        finally:
            unhush(token)
        break
    return result


class quiet:  # noqa: N801 - reads as a keyword
    """`with quiet(): ...` runs NumPy without floating-point warnings."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = _settings()
        try:
            hush(silent)
        except BaseException:  # an interrupt
            hush(self.before)
            raise

    __exit__ = Exit(lambda self: self.before, lambda self, before: hush(before))


clip: Any = getattr(getattr(np._core, "umath", None), "clip", np.clip)  # type: ignore[attr-defined]  # without its checks

# glibc asks the system for each large array anew, and the system clears it page by page, until a larger one has been
# freed: then it keeps such memory and hands it out again. One that nothing is written to, freed at once, makes it
# begin with that, for arrays of up to 31 MiB. Elsewhere it is nothing.
np.empty(31 << 20, np.uint8)

NUMPY = NumPyBackend()
register_backend(NUMPY)
