"""The record of a function: instructions on arrays, and the Python text that runs them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, NamedTuple

_PACKAGE = __name__.partition(".")[0]


class GuardFailed(Exception):  # noqa: N818 - a message to the caller, no error
    """Raised by a program where a value that Python looked at while it was recorded is another one."""


def failed(error: Exception) -> GuardFailed:
    """Return what ends the run of a program after an error, which the function raises, too, at its own line."""
    return error if isinstance(error, GuardFailed) else GuardFailed(f"{type(error).__name__}: {error}")


new_memory = count(-2, -1)  # numbers for the memory of variables that no array of the recording had


class Variable:
    """An array of a program. Its identity is what counts.

    Attributes:
        number: the order in which variables were made.
        memory: the same object for variables that share memory.
        value: the array of a constant; None of other variables.
        hint: a name for people, or "".
        shape, dtype, strides: of the array; a program runs only where they are the same.
        whole: whether its elements are all that is in its memory.
    """

    __slots__ = ("dtype", "hint", "memory", "number", "shape", "strides", "value", "whole")

    def __init__(
        self, number: int, memory: int, array: Any, hint: str = "", value: Any = None, whole: bool = True
    ) -> None:
        self.number, self.memory, self.hint, self.value, self.whole = number, memory, hint, value, whole
        self.shape, self.dtype, self.strides = array.shape, array.dtype, array.strides


class Instruction(NamedTuple):
    """One call on arrays.

    Attributes:
        function: is called on arrays of NumPy's when the program runs.
        name: how the text calls it.
        args: its arguments, with variables in the place of arrays, in tuples, lists and dicts.
        results: a variable, None, or a tuple or list of these.
        writes: the variables whose memory it writes to.
        expected: for a guard, the answer that has to come again.
        kind: "call", "checked" (its results may have other shapes), "guard", "draw" (takes random numbers), "number"
            (reads an option) or "update" (of an optimizer).
        line: the line of the user's that caused it.
        origin: the operation, and "forward" or the input whose formula it is; None for other functions.
        parts: instructions that compute the same, with the variable of their result; None if there are none.
    """

    function: Callable[..., Any]
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: Any
    writes: tuple[Variable, ...] = ()
    expected: Any = None
    kind: str = "call"
    line: str = ""
    origin: Any = None
    parts: Any = None


class Program(NamedTuple):
    """Instructions, the arrays that they begin with, and those that are wanted.

    Attributes:
        inputs: the arrays of the tensors among the arguments.
        state: the arrays of tensors that the function captured.
        steady: those of them that stay the same arrays between calls.
        outputs: the arrays that outlive the call.
    """

    instructions: list[Instruction]
    inputs: list[Variable]
    state: list[Variable]
    steady: list[Variable]
    outputs: list[Variable]


def variables(value: Any) -> list[Variable]:
    """Return the variables in nested arguments."""
    found: list[Variable] = []
    _collect((value,), found)
    return found


def _collect(values: Iterable[Any], found: list[Variable]) -> None:
    for value in values:
        kind = type(value)
        if kind is Variable:
            found.append(value)
        elif kind in _PLAIN:
            continue
        elif kind is tuple or isinstance(value, tuple | list):
            _collect(value, found)
        elif kind is dict:
            _collect(value.values(), found)
        elif kind is slice:
            _collect((value.start, value.stop, value.step), found)


_PLAIN = frozenset({int, float, bool, str, type(None), type(Ellipsis)})


def mapped(change: Callable[[Variable], Any], value: Any) -> Any:
    """Return nested arguments with `change(variable)` in the place of each variable."""
    if isinstance(value, Variable):
        return change(value)
    if type(value) in (tuple, list):
        return type(value)([mapped(change, v) for v in value])
    if type(value) is dict:
        return {k: mapped(change, v) for k, v in value.items()}
    if type(value) is slice:
        return slice(*[mapped(change, v) for v in (value.start, value.stop, value.step)])
    return value


def is_elementwise(each: Instruction) -> bool:
    """Return whether an instruction is a call of a ufunc over the elements of its arguments."""
    function: Any = each.function
    return type(function).__name__ == "ufunc" and function.signature is None


def is_of_rows(v: Variable) -> bool:
    """Return whether an array lies row by row, without gaps."""
    step = v.dtype.itemsize
    for n, stride in zip(reversed(v.shape), reversed(v.strides), strict=True):
        if stride != step:
            return False
        step *= n
    return True


def may_end(each: Instruction) -> bool:
    """Return whether a program may end at an instruction: a guard, or a call that takes not all numbers."""
    if each.kind in ("guard", "checked"):
        return True
    indices = any(v.dtype.kind in "iu" and v.value is None for v in variables((each.args, each.kwargs)))
    if each.origin is None:  # a call of NumPy's, as `array[indices]`
        return each.kind == "call" and indices and type(each.function).__name__ != "ufunc"
    if each.kind != "call" or each.origin[1] != "forward":
        return False
    return indices or ".linalg." in each.origin[0].forward.__module__


def in_use(program: Program) -> tuple[Program, list[bool]]:
    """Return a program without the arrays of its state that nothing reads, and which of them are read."""
    read = {v for e in program.instructions for v in variables((e.args, e.kwargs))}.union(program.outputs)
    used = [v in read for v in program.state]
    state = [v for v, is_used in zip(program.state, used, strict=True) if is_used]
    return program._replace(state=state, steady=[v for v in program.steady if v in read]), used


def written_early(instructions: list[Instruction]) -> set[int]:
    """Return the memory that is written to before an instruction at which a program may end."""
    last = max((n for n, each in enumerate(instructions) if may_end(each)), default=0)
    return {v.memory for each in instructions[:last] for v in each.writes}


def updates_early(instructions: list[Instruction]) -> bool:
    """Return whether an optimizer makes a step before a guard."""
    last = max((n for n, each in enumerate(instructions) if each.kind in ("guard", "checked")), default=0)
    return any(each.kind == "update" for each in instructions[:last])


def draws_early(instructions: list[Instruction]) -> bool:
    """Return whether random numbers are drawn before an instruction at which a program may end."""
    draws = [n for n, each in enumerate(instructions) if each.kind == "draw"]
    later = instructions[draws[0] + 1 :] if draws else []
    return any(may_end(each) or (each.kind == "draw" and variables((each.args, each.kwargs))) for each in later)


_PASSED_ON = frozenset(
    "to_numpy host_of numbers_taken call_of_caller call wrapper run body array_function without_tensors".split()
)


def call_of_caller() -> str:
    """Return the name of the function of this package that the user has called, or of the innermost in a module."""
    names: list[str] = []
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (_PACKAGE, "numpy"):
        name = frame.f_code.co_name.removeprefix("_method_")
        is_known = not (name in _PASSED_ON or (name[0] in "_<" and name != "__call__"))
        if is_known and frame.f_globals["__name__"].partition(".")[0] == _PACKAGE:
            names.append(name)
        frame = frame.f_back
    names = names[:1] if "__call__" in names else names[-1:]
    return f"`{names[0]}`" if names and names[0] != "__call__" else "a function of NumPy's"


def numbers_taken() -> str:
    """Return why there is no program where a function looks at the numbers of a tensor."""
    return f"{call_of_caller()} takes the numbers of a tensor to Python: call it outside, or compute with tensors"


def line_of_caller() -> str:
    """Return the place of the innermost frame outside of this package."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (_PACKAGE, "numpy"):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"


def with_room(bind: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes programs whose frames have room behind them for those of what they call.

    CPython keeps frames in pieces of 16 KiB. Where one ends behind the frame of a program, each call of a function
    takes a piece from the system, and gives it back: a tenth of the time of a network. A frame that is as large as a
    piece gets a larger one.
    """

    def bound(*arrays: Any) -> Any:
        program = bind(*arrays)
        code = program.__code__
        program.__code__ = code.replace(co_stacksize=max(code.co_stacksize, _PIECE - code.co_nlocals))
        return program

    return bound


_PIECE = 1 << 11  # values in a piece of the stack
