"""The backend of recorded arrays: each body or formula of an operation is one recorded call."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..backends import NUMPY
from ..backends.base import register_backend
from ..backends.numpy import NATIVE, WrappingBackend
from ..base.dtypes import dtype
from ..declare.op import REGISTRY
from .program import numbers_taken
from .recorded_array import RecordedArray, recorder_of
from .recording import current
from .returned_numbers import caller_of_float, is_returned

_FEW = 1 << 10  # elements
_Function = Callable[..., Any]


def bytes_of(array: Any) -> bytes:
    """Return the elements of an array for a comparison."""
    found: bytes = array.tobytes()
    return found


class RecordingBackend(WrappingBackend):
    """The backend of recorded arrays. They are on the CPU."""

    name = "recording"
    array_types = (RecordedArray,)
    xp = np  # whose functions dispatch to recorded arrays

    def asarray(self, value: Any, d: dtype, where: Any) -> Any:
        if type(value) is RecordedArray:
            return self.cast(self.copy(value), d)
        recorder = current()
        made = NUMPY.asarray(value, d, where)
        return made if recorder is None else recorder.call("np.array", np.array, (made,), {})

    def specs(self) -> list[Any]:
        """Return what tensors and packed ones say of recorded arrays."""
        return list(self._specs.values())

    def ensure(self, array: Any) -> Any:
        return array

    def cast(self, array: Any, d: dtype) -> Any:
        if array.dtype == NATIVE[d]:
            return array
        return _called(f"as_{d.name}", partial(_cast, d), array)

    def copy(self, array: Any) -> Any:
        return _called("copy", NUMPY.copy, array)

    def in_rows(self, array: Any) -> Any:
        if array.flags.c_contiguous:
            return array
        return _called("np.ascontiguousarray", np.ascontiguousarray, array)

    def write(self, array: Any, value: Any) -> None:
        if type(array) is not RecordedArray:
            value.recorder.refuse("an array that was not recorded was written to")
            NUMPY.write(array, value._array)
            return
        array.recorder.call("write", NUMPY.write, (array, value), {}, (array,))

    def added(self, array: Any, other: Any) -> Any:
        return array + other

    def to_numpy(self, array: Any) -> Any:
        array.recorder.refuse(numbers_taken())
        return array._array

    def values(self, array: Any) -> Any:
        """The elements; the program will compare those of few integers, as lengths and offsets are."""
        if array.dtype.kind not in "iub" or array.size > _FEW:
            return self.to_numpy(array)
        array.recorder.guard(array, "values", bytes_of)
        return array._array.copy()

    def number(self, array: Any) -> Any:
        recorder = array.recorder
        if recorder.is_recording() and array.dtype.names is None:  # not a pair of halves
            frame = sys._getframe(1)
            caller = caller_of_float(frame) if array.dtype.kind in "fV" else None
            if is_returned(caller or frame, recorder.lists):
                return recorder.returned(array, caller is not None)
        return recorder.guard(array, "number", NUMPY.number)

    def truth(self, array: Any) -> bool:
        return bool(array)

    def address(self, array: Any) -> int:
        return int(array.address)

    def wrapped(self, function: _Function) -> _Function:
        bound = NUMPY.bind(function)
        origin = origins().get(function)
        name = _name_of(function) if origin is None else _name_of_origin(*origin)

        def run(*args: Any, **kwargs: Any) -> Any:
            recorder = recorder_of((args, kwargs))
            if recorder is None:
                return bound(*args, **kwargs)
            return recorder.body(function, bound, name, args, kwargs, origin)

        return run


def _cast(d: dtype, array: Any) -> Any:
    return NUMPY.cast(array, d)


def _called(name: str, function: Callable[[Any], Any], array: Any) -> Any:
    """Return the result of a function; for an array of NumPy's, as nodes have when the recording is over, at once."""
    return array.recorder.call(name, function, (array,), {}) if type(array) is RecordedArray else function(array)


def _name_of(function: Any) -> str:
    op = getattr(function, "op", None)
    return (op.name if op is not None else getattr(function, "__name__", "function")).strip("_<>")


def origins() -> dict[Any, tuple[Any, str]]:
    """Return the operation of each body and formula, and which of them it is: "inputs" is the one for all inputs."""
    return _origins_of(tuple(map(id, REGISTRY.values())))


@lru_cache(maxsize=1)
def _origins_of(ids: tuple[int, ...]) -> dict[Any, tuple[Any, str]]:
    """As `origins`, while the registry holds the same operations: users add others."""
    found: dict[Any, tuple[Any, str]] = {}
    for op in REGISTRY.values():
        found.update({f: (op, p) for p, f in op.formulas.items()})
        if op.joint_vjp is not None:
            found[op.joint_vjp] = op, "inputs"
    found.update({op.forward: (op, "forward") for op in REGISTRY.values()})
    return found


def _name_of_origin(op: Any, which: str) -> str:
    return op.name.strip("_") if which == "forward" else f"{op.name.strip('_')}_grad_{which}"


RECORDING = RecordingBackend()
register_backend(RECORDING)
