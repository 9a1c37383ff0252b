"""Records what happens to arrays while a function runs.

While a function is recorded, the arrays of its tensors are `RecordedArray`s, which hold the real values: so Python goes
on as usual. They are no arrays of NumPy's, and whatever takes their memory is noticed. Each body or formula of an
operation is one instruction, on the function that is bound to NumPy, so that a program computes what the operations do.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import numpy as np

from ..backends import NUMPY
from ..backends.base import nested
from ..backends.memory_layout import _array_type
from ..ops.random.generator import DRAWN, Generator
from .lowering import NotLowered, lowered, root
from .program import Instruction, Program, Variable, call_of_caller, line_of_caller
from .random_numbers import RandomNumbers
from .recorded_array import RecordedArray, opened_into, silently
from .returned_numbers import Number
from .static_shapes import is_static

_Function = Callable[..., Any]
MOST = 250_000  # instructions that are recorded
LONGEST = {False: 100_000, True: 20_000}  # instructions of a program, of NumPy's functions and of XLA's


class WriteError(Exception):
    """A backward pass that is only recorded would write to what the function or its caller has."""


class Recorder:
    """The instructions of one recording.

    Attributes:
        refused: why there can be no program, with the line; None so far.
        again: whether the next call may become one.
        place: where the function begins, for what is found out when it has run.
        thread: the one that records. What others do meanwhile is no part of the function.
        inside: whether a recorded call runs now.
        ended: whether the function has returned.
        trial: whether a body is tried that may turn out to be no calls of NumPy's functions.
        held: the memory that must not be written to now.
        hooked: whether an operation ran under hooks of saved tensors, or under modes of the user's.

    Args:
        whole: let operations and steps of optimizers be one instruction each, for XLA to take apart.
    """

    def __init__(self, whole: bool = False) -> None:
        self.whole = whole
        self.instructions: list[Instruction] = []
        self.refused: str | None = None
        self.again = False
        self.thread = get_ident()
        self.place = ""
        self.inside = self.trial = self.hooked = False
        self.open, self.ended, self._line = True, False, ""
        self.held: set[int] = set()
        self.parts: Any = None  # of the body that is called next
        self.first = 0  # where the next instruction goes that runs before all others
        self._count = 0
        self.living: WeakSet[RecordedArray] = WeakSet()
        self.random = RandomNumbers()
        self._kept: list[Any] = []  # so that addresses of objects are not used again
        self._constants: dict[int, Variable] = {}
        self.floats: dict[int, Number] = {}  # by the address of a float that was only returned
        self.lists: dict[int, Any] = {}  # to which the function appends, by identity: what it appends is a result
        self.executed: dict[int, Any] | None = None  # the code that calls may run, by identity; None: any
        self.agreed: dict[Any, Any] = {}  # how bodies become steps with the same results for other numbers; None: not

    def has_refused(self) -> bool:
        return self.refused is not None

    def is_ours(self) -> bool:
        """Return whether the thread of this call is the one that records."""
        return get_ident() == self.thread

    def is_recording(self) -> bool:
        """Return whether a call now becomes an instruction."""
        return self.open and self.refused is None and not (self.inside or self.trial) and self.is_ours()

    def refuse(self, reason: str, again: bool = False) -> None:
        """Let there be no program. The function goes on.

        Args:
            again: whether a later call may become one.
        """
        if self.trial:
            raise NotLowered(reason)
        if self.refused is None and self.open:
            line = line_of_caller() if current() is self and not self.ended else self.place
            self.refused, self.again = f"{reason} ({line})" if line else reason, again
            self.instructions.clear()

    def refused_as_long(self, program: Program) -> bool:
        """Refuse a program whose text would take too long to compile."""
        longest = LONGEST[self.whole]
        if len(program.instructions) > longest:
            self.refuse(f"its program has more than {longest} instructions")
        return self.has_refused()

    def drawn_outside(self) -> None:
        """Refuse if random numbers were drawn, or a generator was seeded, since the last call."""
        wrong = self.random.since_last(self) if self.open else ""
        if wrong:
            self.refuse(wrong, again=True)

    def variable(self, array: Any, hint: str = "", value: Any = None) -> Variable:
        """Return a new variable for an array."""
        memory = root(array)
        self._kept.append(memory)
        self._count += 1
        return Variable(self._count, id(memory), array, hint, value, getattr(memory, "nbytes", 0) == array.nbytes)

    def mark(self) -> tuple[int, int]:
        """Return the place of now, for `forget`."""
        return self._count, len(self._kept)

    def forget(self, mark: tuple[int, int]) -> None:
        """Let the variables that were made since `mark` be none, and their arrays go: nothing refers to them."""
        self._count = mark[0]
        del self._kept[mark[1] :]

    def array(self, array: Any, hint: str = "") -> RecordedArray:
        return RecordedArray(array, self.variable(array, hint), self)

    def constant(self, array: Any) -> Variable:
        """Return the variable of an array that no instruction made."""
        if self.trial:  # the body may write to it later
            return self.variable(array, "", array.copy("K") if 0 not in array.strides else array)
        found = self._constants.get(id(array))
        if found is None:
            found = self._constants[id(array)] = self.variable(array, "", array)
            self._kept.append(array)
        return found

    def call(
        self, name: str, function: _Function, args: Any, kwargs: Any, writes: tuple[Any, ...] = (), origin: Any = None
    ) -> Any:
        """Return `function(*args, **kwargs)` on the real arrays, and record it."""
        given: list[RecordedArray] = []
        plain, named = opened_into(given, args), opened_into(given, kwargs)
        if any(type(w) is RecordedArray and w.variable.memory in self.held for w in writes):
            raise WriteError
        if not self.is_ours():
            self.refused = self.refused or f"another thread used its tensors ({line_of_caller()})"
            self.again = True
            return function(*plain, **named)
        if not self.open or self.inside or self.refused is not None:
            return self._recorded(silently(function, *plain, **named), given)[0]
        if not self.trial:
            self._line = line_of_caller()
        references = self._references(args), self._references(kwargs)
        self.drawn_outside()
        for each in (*args, *kwargs.values()):
            if isinstance(each, Generator) and not self.random.watch(each):
                self.refuse("random numbers of a generator are drawn that is made inside of it: make it outside")
        self.inside = True
        try:
            made = silently(function, *plain, **named)
        finally:
            self.inside = False
        draws = self.random.draws()
        if self.trial and name not in _OF_SHAPES and _has_numbers(made):
            raise NotLowered(f"{name} gives numbers to Python")
        results, variables, answers = self._recorded(made, given)
        if len(self.instructions) >= MOST:
            self.refuse(f"it takes more than {MOST} instructions")
        if self.has_refused():
            return results
        written = tuple(w.variable for w in writes if type(w) is RecordedArray)
        static = variables is None or is_static(origin, name, args, given)
        kind = "call" if static else "checked"
        if draws:
            kind = "draw"
        if DRAWN.get() is not None and origin is not None and "generator" in origin[0].params:
            self.refuse(
                f"{name} draws numbers that are drawn again in the backward pass: put the policy around the call"
            )
        each = Instruction(function, name, *references, variables, written, answers, kind, self._line, origin)
        self.instructions.append(each)
        if draws:
            self.random.drew(each)
        return results

    def body(self, function: _Function, bound: _Function, name: str, args: Any, kwargs: Any, origin: Any) -> Any:
        """Return the results of a body or formula: recorded as calls of NumPy's functions if it is that, or as one."""
        lowers = origin is not None and self.open and not (self.inside or self.trial or self.whole)
        if lowers and self.refused is None:
            self.drawn_outside()
            self._line = line_of_caller()
            made = lowered(self, function, bound, args, kwargs, origin)
            if made is not NotImplemented:
                return made
        made, parts, self.parts = self.call(name, bound, args, kwargs, origin=origin), self.parts, None
        if parts is not None and self.instructions:
            self.instructions[-1] = self.instructions[-1]._replace(parts=parts)
        return made

    def arrays(self, made: Any) -> Any:
        """Return results in which constants are new arrays that a program makes."""
        if isinstance(made, np.ndarray | np.generic):
            return self.call("np.array", np.array, (np.asarray(made),), {})
        return nested(self.arrays, made) if isinstance(made, tuple | list) else made

    def _recorded(self, made: Any, given: list[RecordedArray]) -> tuple[Any, Any, Any]:
        """Return results with recorded arrays, with variables, and what has to be the same when the program runs."""
        if isinstance(made, np.ndarray):
            if type(made) is not _array_type:
                self.refuse(f"{call_of_caller()} returned an array of type {type(made).__name__}: call it outside")
            for each in given:
                if each._array is made:
                    return each, each.variable, (made.shape, made.dtype)
            recorded = self.array(made)
            return recorded, recorded.variable, (made.shape, made.dtype)
        if isinstance(made, np.generic):
            recorded = self.array(np.asarray(made))
            return recorded, recorded.variable, ((), made.dtype)
        if isinstance(made, tuple | list):
            parts = [self._recorded(part, given) for part in made]
            kind = type(made)
            results = kind(*[p[0] for p in parts]) if hasattr(made, "_fields") else kind([p[0] for p in parts])
            return results, [p[1] for p in parts], [p[2] for p in parts]
        if made is not None and type(made) not in (int, float, bool, complex, str):
            self.refuse(f"{call_of_caller()} returned a {type(made).__name__}, and no array: call it outside")
        return made, None, made

    def target(self, name: str, array: Any) -> Any:
        """Return the array that a function writes to, if it is a recorded one; else there is no program."""
        if type(array) is not RecordedArray:
            self.refuse(f"{name} wrote to an array that was not recorded")
        return array

    def _references(self, value: Any) -> Any:
        if type(value) is RecordedArray:
            if value.recorder is not self:
                self.refuse("an array of another recording was used")
            return value.variable
        if isinstance(value, np.ndarray):
            return self.constant(value)
        if isinstance(value, slice):
            return slice(*map(self._references, (value.start, value.stop, value.step)))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return tuple(map(self._references, value))
        return nested(self._references, value)

    def returned(self, array: RecordedArray, is_float: bool) -> Any:
        """Return what stands for the number of an array that the function only returns.

        Args:
            is_float: Python wants a float: one that is known by its address.
        """
        copy = self.call("copy", NUMPY.copy, (array,), {})  # what is written to the array comes later
        found = Number(copy.variable, NUMPY.number(array._array))
        if not is_float:
            return found
        self.floats[id(found.value)] = found
        return found.value

    def guard(self, array: RecordedArray, name: str, ask: _Function) -> Any:
        """Return what Python sees of an array; the program will ask for it again."""
        if self.trial:
            raise NotLowered(name)
        answer = ask(array._array)
        if self.open and not self.inside:
            self.instructions.append(
                Instruction(ask, name, (array.variable,), {}, None, (), answer, "guard", line_of_caller())
            )
        return answer


_OF_SHAPES = frozenset({"np.shape", "np.ndim", "np.size"})


def _has_numbers(made: Any) -> bool:
    """Return whether results are, or hold, numbers of Python."""
    if isinstance(made, tuple | list):
        return any(map(_has_numbers, made))
    return type(made) in (int, float, bool, complex)


RECORDERS: list[Recorder] = []


def current() -> Recorder | None:
    """Return the recorder of this moment, if it is one of this thread."""
    return RECORDERS[-1] if RECORDERS and RECORDERS[-1].is_ours() else None


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Make a recorder the current one."""
    RECORDERS.append(recorder)
    try:
        yield
    finally:
        RECORDERS.pop()
        recorder.open = False
