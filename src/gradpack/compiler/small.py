"""Programs of few instructions on small tensors, of which the function itself may take less time."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any
from weakref import ref

from ..core.tensor import Tensor
from .arguments import is_known, leaves_of, named_parameters, plain_tree, taken_apart
from .facts import TENSOR, Kept
from .program import variables
from .python.lifting import Lifted
from .recording import RECORDERS

if TYPE_CHECKING:
    from .compiled import Compiled

_FEW = 8  # instructions
_SMALL = 1 << 12  # elements of each tensor
_BEFORE = 16  # calls before the first of the function
_WARM = 32  # calls before the first that is timed: Python's interpreter adapts to what runs
_ROUNDS = 15  # calls of each that are timed
_FAR = 4  # if each call of the function takes so many times as long, two calls say enough
_LESS = 1.03  # to what runs the function belongs a look at shapes
_AROUND = 1000  # nanoseconds that a program takes to read and set places, and such a function without one

Shapes = tuple[tuple[int, ...], ...]


class _Absent:
    """Stands for an argument that is not given."""

    _shape = None


_ABSENT = _Absent()


def is_small(kept: Kept) -> bool:
    """Return whether a program does little."""
    instructions = kept.program.instructions
    if len(instructions) > _FEW or not is_known(kept.tree):
        return False
    arrays = [*kept.program.state, *(v for e in instructions for v in variables((e.args, e.kwargs, e.results)))]
    return all(prod(v.shape) <= _SMALL for v in arrays)


class Trial:
    """Runs small programs and their function in turns, and lets calls run what takes less time from then on.

    Args:
        kept: the first of the programs.

    Attributes:
        eager: the shapes of tensors for which the function takes less time, with the times of both in nanoseconds.
    """

    def __init__(self, compiled: Compiled, kept: Kept) -> None:
        self._compiled = ref(compiled)
        self._tree, self._places = kept.tree, [leaf is TENSOR for leaf in kept.leaves]
        self._calls: dict[Shapes, int] = {}
        self._times: dict[Shapes, tuple[list[int], list[int]]] = {}  # of the program, and of the function
        self.eager: dict[Shapes, tuple[int, int]] = {}

    def add(self, kept: Kept, inputs: list[Tensor]) -> bool:
        """Begin with the calls of a program; return whether calls are compared now."""
        shapes = tuple([t._shape for t in inputs])
        is_like = kept.tree == self._tree and self._places == [leaf is TENSOR for leaf in kept.leaves]
        if is_like and shapes not in self._calls:
            self._calls[shapes], self._times[shapes] = 0, ([], [])
        return bool(self._times)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        compiled = self._compiled()
        assert compiled is not None
        leaves, tree, inputs = leaves_of(*compiled.by_position(args, kwargs))
        is_tried = not RECORDERS and tree == self._tree and self._places == [isinstance(v, Tensor) for v in leaves]
        shapes = tuple([t._shape for t in inputs])
        if is_tried and shapes in self.eager:
            return compiled.function(*args, **kwargs)
        if not is_tried or shapes not in self._times:
            return compiled.by_program(*args, **kwargs)
        number = self._calls[shapes] = self._calls[shapes] + 1
        if number <= _BEFORE:
            return compiled.by_program(*args, **kwargs)
        is_eager, hits, before = number % 2, compiled.hits, perf_counter_ns()
        result = compiled.function(*args, **kwargs) if is_eager else compiled.by_program(*args, **kwargs)
        took = perf_counter_ns() - before
        times = self._times.get(shapes)
        if times is None:
            return result
        if is_eager or compiled.hits > hits:
            times[is_eager].append(took)
        is_far = len(times[1]) > 1 and len(times[0]) > 1 and min(times[1]) > _FAR * max(times[0])
        if is_far or min(map(len, times)) == _ROUNDS or number >= _WARM + 4 * _ROUNDS:
            self._decide(compiled, shapes)
        elif number == _WARM:
            times[0].clear()
            times[1].clear()
        return result

    def _decide(self, compiled: Compiled, shapes: Shapes) -> None:
        """End the comparison for these shapes: with the program, if that seldom ran.

        Lower quartiles are compared: what else the machine does only makes a call longer.
        """
        program, eager = map(sorted, self._times.pop(shapes, ([], [])))
        quarter = _ROUNDS // 4
        around = _AROUND * (type(compiled.function) is Lifted)
        if min(len(program), len(eager)) >= _ROUNDS and eager[quarter] * _LESS < program[quarter] + around:
            self.eager[shapes] = eager[quarter], program[quarter]
        if not self._times and compiled.trial is self:
            self._settle(compiled)

    def _settle(self, compiled: Compiled) -> None:
        """Let calls go the shortest way that is known."""
        own = self._compiled
        if self.eager and type(compiled.function) is Lifted:
            compiled.call_by(compiled.function.function)
            return

        def otherwise(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            found = own()
            assert found is not None
            return found.by_program(*args, **kwargs)

        gate = _gate(compiled.function, self._tree, self._places, list(self.eager), otherwise) if self.eager else None
        compiled.call_instead(gate)

    def told(self) -> list[str]:
        """Return lines about the shapes for which the function runs."""
        return [
            f"the function runs for {', '.join(str(list(s)) for s in shapes) or 'no tensors'}: it took "
            f"{eager / 1000:.1f} us, and its program {program / 1000:.1f} us"
            for shapes, (eager, program) in self.eager.items()
        ]


def _gate(function: Any, tree: Any, places: list[bool], eager: list[Shapes], otherwise: Any) -> Callable[..., Any]:
    """Return a function that calls another one for tensors of these shapes.

    Args:
        tree: the structure of the arguments.
        places: which of them are tensors.
        otherwise: is called for others, with all arguments, in a tuple and a dict.
    """
    names, only = named_parameters(function) if hasattr(function, "__code__") else ([], [])
    known = {"_absent": _ABSENT, "_function": function, "_otherwise": otherwise, "_AttributeError": AttributeError}
    first, last = tree._children
    keys = list(last.context or ())
    if (names or only) and first == plain_tree(len(first._children))._children[0] and set(keys) <= set(only):
        given, lines = names[: len(first._children)] + keys, list[str]()
        head = f"{''.join(f'{n}=_absent, ' for n in names)}*_rest{''.join(f', {n}=_absent' for n in only)}"
        call = f"_function({', '.join([*given[: len(first._children)], *(f'{k}={k}' for k in keys)])})"
        missed = f"_otherwise(*_as_given([{', '.join(names)}], _rest, [{', '.join(only)}]))"
        known["_as_given"] = _spelled_by(names, only)
        others = [f"{n} is not _absent" for n, is_tensor in zip(given, places, strict=True) if not is_tensor]
        others += [f"{n} is _absent" for n in (*names, *only) if n not in given] + ["not _rest"]
    else:
        head, call, missed = "*args, **named", "_function(*args, **named)", "_otherwise(args, named)"
        given = [f"x{i}" for i in range(len(places))]
        leaves, lines, others = iter(given), [], []

        def name_of(kind: str, value: Any) -> str:
            found = f"{kind}_{len(known)}"
            known[found] = value
            return found

        for name, child in zip(("args", "named"), tree._children, strict=True):
            lines += taken_apart(name, child, leaves, "", name_of)
    tensors = [n for n, is_tensor in zip(given, places, strict=True) if is_tensor]
    tests = [" and ".join(f"{n}._shape == {s}" for n, s in zip(tensors, shapes, strict=True)) for shapes in eager]
    fits = " and ".join([f"({' or '.join(t or 'True' for t in tests)})", *others])
    lines = [line.replace("return MISSED", f"return {missed}") for line in lines] + ["try:", f"    _fits = {fits}"]
    lines += ["except _AttributeError:", "    _fits = False", f"return {call} if _fits else {missed}"]
    exec(f"def call({head}):\n" + "".join(f"    {line}\n" for line in lines), known)
    made: Any = known["call"]
    made.__name__ = made.__qualname__ = getattr(function, "__qualname__", "call")  # in messages about arguments
    return made


def _spelled_by(names: list[str], only: list[str]) -> Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]:
    """Return a function of the values of parameters that returns the arguments of the call."""

    def as_given(values: list[Any], rest: tuple[Any, ...], others: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        first = next((i for i, v in enumerate(values) if v is _ABSENT), len(values))
        later = zip([*names[first:], *only], [*values[first:], *others], strict=True)
        return (*values[:first], *rest), {n: v for n, v in later if v is not _ABSENT}

    return as_given
