"""How the instructions of a program run while JAX traces them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...backends.base import nested
from ...backends.numpy import NUMPY
from ..program import Instruction, Program, Variable, variables
from ..recorded_array import _attribute, _write_item
from ..recording_backend import _cast as _numpy_cast
from . import kernels as _kernels  # noqa: F401 - enters functions of XLA's
from .arrays import TracedArray
from .backend import JAX
from .drawing import CURRENT, StateKept
from .namespace import NAMESPACE
from .questions import Unanswered, Unknown

LARGE = 1 << 12  # elements of constants that are arguments of the program


class Untraceable(Exception):  # noqa: N818 - a message to the caller, no error
    """Raised where JAX cannot trace an instruction."""


def function_of(each: Instruction) -> Callable[..., Any]:
    """Return what an instruction calls on traced arrays."""
    name, function = each.name, each.function
    if each.origin is not None:
        op, which = each.origin
        if which == "inputs":
            return JAX.bind(op.joint_vjp)
        return JAX.bind(op.forward if which == "forward" else op.formulas[which])
    if name.startswith("np.ndarray."):
        return _method(name.rpartition(".")[2])
    if isinstance(function, np.ufunc):
        return getattr(NAMESPACE, function.__name__)
    if isinstance(function, partial):
        if function.func is _numpy_cast:
            return partial(_cast, function.args[0])
        if function.func is _attribute:
            return function
    if not isinstance(function, partial) and function in _OWN:
        return _OWN[function]
    if name.startswith("np."):
        return _of_numpy(name, function)
    return JAX.bind(function)


def _of_numpy(name: str, function: Any) -> Any:
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return getattr(getattr(NAMESPACE, owner.__name__), function.__name__)
    home: Any = NAMESPACE
    for part in (getattr(function, "__module__", None) or "").split(".")[1:]:
        home = getattr(home, part) if part in ("linalg", "fft") else home
    return getattr(home, name.rpartition(".")[2])


def _method(name: str) -> Callable[..., Any]:
    def call(array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, name)(*args, **kwargs)

    return call


def _cast(d: Any, array: Any) -> Any:
    return JAX.cast(array, d)


def _write(array: Any, value: Any) -> None:
    array.write(value)


def _written(array: Any, index: Any, value: Any) -> None:
    array[index] = value


def _added(array: Any, other: Any) -> Any:
    return array + other


def _copied(array: Any, *args: Any) -> Any:
    return TracedArray(jnp.asarray(array.value if isinstance(array, TracedArray) else array))


_OWN: dict[Any, Callable[..., Any]] = {
    np.array: _copied,
    NUMPY.copy: _copied,
    NUMPY.write: _write,
    NUMPY.added: _added,
    _write_item: _written,
    np.ndarray.__getitem__: lambda array, index: array[index],
}


class OtherShape(Untraceable):
    """Raised where a result has another shape than in the recording, which follows from values."""


class Tracing:
    """One trace of a program: the arrays of its variables, and the values of its guards.

    Attributes:
        arrays: by variable.
        guards: pairs of a value and the answer that it must be.
    """

    def __init__(self, program: Program, update: Callable[..., Any]) -> None:
        self.program, self.update = program, update
        self.arrays: dict[Variable, Any] = {}
        self.guards: list[tuple[Any, Any]] = []
        self.written = {v.memory for each in program.instructions for v in each.writes}

    def run(self) -> None:
        """Run all instructions.

        Raises:
            Untraceable: where JAX cannot trace one; the message names it.
        """
        for each in self.program.instructions:
            try:
                self._step(each)
            except (Unanswered, OtherShape):
                raise
            except Exception as error:
                reason = str(error).partition("\n")[0]
                raise Untraceable(f"JAX cannot trace {each.name}: {reason} ({each.line})") from error

    def _step(self, each: Instruction) -> None:
        if each.kind == "guard":
            self.guards.append((self.value(each.args[0]), (each.name, each.expected)))
            return
        if each.kind == "update":
            self.update(self, each)
            return
        if each.kind == "draw" and each.results is None:
            CURRENT[-1].calls.append(StateKept(each.function))
            return
        given = {v.memory: self.value(v) for v in variables((each.args, each.kwargs))}
        made = function_of(each)(*self.value(each.args), **self.value(each.kwargs))
        self._keep(each.results, made, each.expected, given)

    def _keep(self, results: Any, made: Any, facts: Any, given: dict[int, Any]) -> None:
        """Keep results, and see to it that those share memory that do so in NumPy."""
        if isinstance(results, tuple | list):
            for result, one, fact in zip(results, made, facts, strict=True):
                self._keep(result, one, fact, given)
        if not isinstance(results, Variable):
            return
        shape, native = facts
        made = made if isinstance(made, TracedArray) else TracedArray(jnp.asarray(made))
        if made.shape != tuple(shape):
            raise OtherShape(f"a result has the shape {made.shape}, and had {tuple(shape)} when it was recorded")
        made = made if made.dtype == native else made.astype(native)
        source = given.get(results.memory)
        if source is None:
            made = TracedArray(made.value)
        elif results.memory in self.written and (not isinstance(source, TracedArray) or made.root is not source.root):
            raise Unknown("its result is no view there, as it is in NumPy, and is written to")
        self.arrays[results] = made

    def value(self, given: Any) -> Any:
        """Return nested arguments with arrays in place of variables."""
        if isinstance(given, Variable):
            found = self.arrays.get(given)
            if found is None:
                found = self.arrays[given] = given.value
            return found
        if isinstance(given, slice):
            return slice(*map(self.value, (given.start, given.stop, given.step)))
        return nested(self.value, given)
