"""Arrays of NumPy's that a recorder watches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..backends import NUMPY
from ..backends.numpy import hushed, unhush
from .program import Variable, numbers_taken

if TYPE_CHECKING:
    from .recording import Recorder

_Function = Callable[..., Any]


_SOMETHING = object()


class RecordedArray(NDArrayOperatorsMixin):
    """An array of NumPy's that a recorder watches."""

    __slots__ = ("__weakref__", "_array", "recorder", "variable")
    __array_priority__ = 1000.0

    def __init__(self, array: Any, variable: Variable, recorder: Recorder) -> None:
        self._array, self.variable, self.recorder = array, variable, recorder
        recorder.living.add(self)

    __hash__ = object.__hash__
    __eq__ = NDArrayOperatorsMixin.__eq__

    shape = property(lambda self: self._array.shape)
    dtype = property(lambda self: self._array.dtype)
    ndim = property(lambda self: self._array.ndim)
    size = property(lambda self: self._array.size)
    nbytes = property(lambda self: self._array.nbytes)
    itemsize = property(lambda self: self._array.itemsize)
    strides = property(lambda self: self._array.strides)
    flags = property(lambda self: self._array.flags)
    address = property(lambda self: self._array.__array_interface__["data"][0])

    @property
    def base(self) -> Any:
        """The array that this is a view of; only that there is one while a body is tried, which must not take it."""
        base = self._array.base
        return _SOMETHING if base is not None and self.recorder.trial else base

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        self.recorder.refuse(numbers_taken())
        return self._array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        function: Any = ufunc if method == "__call__" else getattr(ufunc, method)
        name = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        if out is None and method != "at":
            return self.recorder.call(name, function, inputs, kwargs)
        if method == "at":
            self.recorder.call(name, function, inputs, kwargs, (self.recorder.target(name, inputs[0]),))
            return None
        target = self.recorder.target(name, out[0])
        if type(target) is not RecordedArray:
            return function(*opened(inputs), out=target, **kwargs)
        self.recorder.call(name, function, inputs, {**kwargs, "out": target}, (target,))
        return target

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name, writes = f"np.{function.__name__}", tuple[Any, ...]()
        if function.__name__ in _WRITING or kwargs.get("out") is not None:
            writes = (self.recorder.target(name, args[0] if kwargs.get("out") is None else kwargs["out"]),)
        return self.recorder.call(name, function, args, kwargs, writes)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # among them protocols that would hand out the memory
            raise AttributeError(f"'RecordedArray' object has no attribute {name!r}")
        if callable(getattr(self._array, name)):
            return partial(self._method, name)
        return self.recorder.call(f"attribute_{name}", partial(_attribute, name), (self,), {})

    def _method(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Record the call of a method."""
        writes: tuple[Any, ...] = (self,) if name in _METHODS else ()
        if kwargs.get("out") is not None:
            writes = (self.recorder.target(name, kwargs["out"]),)
        return self.recorder.call(f"np.ndarray.{name}", getattr(np.ndarray, name), (self, *args), kwargs, writes)

    def __pow__(self, other: Any) -> Any:
        return self.recorder.call("operator.pow", pow, (self, other), {})

    def __getitem__(self, index: Any) -> Any:
        return self.recorder.call("item", np.ndarray.__getitem__, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        self.recorder.call("write_item", _write_item, (self, index, value), {}, (self,))

    def __len__(self) -> int:
        return len(self._array)

    def __bool__(self) -> bool:
        return bool(self.recorder.guard(self, "bool", bool))

    def __float__(self) -> float:
        return float(self.recorder.guard(self, "float", float))

    def __int__(self) -> int:
        return int(self.recorder.guard(self, "int", int))

    __index__ = __int__

    def item(self, *args: Any) -> Any:
        if args:
            self.recorder.refuse(numbers_taken())
            return self._array.item(*args)
        return self.recorder.guard(self, "number", NUMPY.number)

    def __repr__(self) -> str:
        return f"RecordedArray(shape={self.shape}, dtype={self.dtype})"


# Functions and methods that write to their first argument.
_WRITING = frozenset("copyto put place putmask fill_diagonal put_along_axis".split())
_METHODS = frozenset("fill sort put partition itemset resize setfield setflags".split())


def silently(function: _Function, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function of arrays without floating-point warnings."""
    for token in hushed:
        try:
            result = function(*args, **kwargs)
        finally:
            unhush(token)
        break
    return result


def _attribute(name: str, array: Any) -> Any:
    return getattr(array, name)


def _write_item(array: Any, index: Any, value: Any) -> None:
    array[index] = value


def opened_into(given: list[RecordedArray], value: Any) -> Any:
    """Return nested arguments with the real arrays; `given` gets the recorded ones."""
    kind = type(value)
    if kind is RecordedArray:
        given.append(value)
        return value._array
    if kind is tuple or kind is list:
        return kind([opened_into(given, v) for v in value])
    if kind is dict:
        return {k: opened_into(given, v) for k, v in value.items()} if value else value
    if kind is slice:
        return slice(*[opened_into(given, v) for v in (value.start, value.stop, value.step)])
    return value


def opened(value: Any) -> Any:
    """Return nested arguments with the real arrays."""
    return opened_into([], value)


def recorder_of(value: Any) -> Recorder | None:
    """Return the recorder of the first recorded array in nested arguments, or None."""
    kind = type(value)
    if kind is RecordedArray:
        return value.recorder
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return None
    for item in value:
        found = recorder_of(item)
        if found is not None:
            return found
    return None
