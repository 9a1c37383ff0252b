"""Bodies and formulas of operations as the calls of NumPy that they make.

A body that works through NumPy's functions only is run on recorded arrays, so that a program has these calls in the
place of the body. It is used where the results have the bits of the body that eager operations run: a body that asks
for a value, or takes memory, stays one call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends import NUMPY
from ..backends.base import Backend, nested
from ..declare.generate.inline import Inlined
from ..declare.generate.large_sizes import large_body, large_formula
from ..kernels.dispatch import ENABLED, dense, row
from ..ops.random.generator import default_generator
from .recorded_array import RecordedArray, opened, recorder_of, silently

if TYPE_CHECKING:
    from .recording import Recorder
_Function = Callable[..., Any]


class NotLowered(Exception):  # noqa: N818 - a message to the caller, no error
    """Raised where a body does more than call NumPy."""


class _Steps(Backend):
    """Binds functions so that their calls of NumPy are recorded, and so are functions for which a kernel stands in.

    Args:
        like_numpy: let functions take the branch that they have for arrays of NumPy's, not that for others.
        divides: let functions that are faster as a whole be steps, too.
    """

    name = "steps"
    xp = np

    def __init__(self, like_numpy: bool = False, divides: bool = False) -> None:
        super().__init__()
        self.like_numpy, self.divides = like_numpy, divides

    def bind(self, function: _Function) -> _Function:
        least = None if self.divides else getattr(function, "undivided", None)
        if least is not None:
            return _undivided(function, least, self._steps(function))
        return self._steps(function)

    def _steps(self, function: _Function) -> _Function:
        if not isinstance(function, FunctionType) or getattr(function, "reference", None) is None:
            bound = super().bind(function)
            if self.like_numpy and "_array_type" in getattr(bound, "__globals__", ()):
                bound.__globals__["_array_type"] = RecordedArray
            return bound
        found = self._bound.get(function)
        if found is None:
            found = _choosing(function, super().bind(function))
            self._bound[function] = found
        return found


def _undivided(function: _Function, least: int, steps: _Function) -> _Function:
    """Return a function that is one recorded call for arrays of at least so many elements, and its steps else."""

    def run(*args: Any, **kwargs: Any) -> Any:
        recorder = recorder_of((args, kwargs))
        if recorder is None:
            return NUMPY.bind(function)(*args, **kwargs)
        if max(a.size for a in _arrays(opened((args, kwargs)))) < least:
            return steps(*args, **kwargs)
        return _called(recorder, function, args, kwargs)

    return run


def _called(recorder: Recorder, function: _Function, args: Any, kwargs: Any) -> Any:
    """Record the call of a function that only reads its arguments.

    Raises:
        NotLowered: if it wrote to one of them: a program would not know.
    """
    given = _arrays((opened(args), opened(kwargs)))
    before = [array.tobytes() for array in given]
    made = recorder.call(function.__name__, NUMPY.bind(function), args, kwargs)
    written = [pair for pair in zip(given, before, strict=True) if pair[0].tobytes() != pair[1]]
    for array, values in written:
        array[...] = np.frombuffer(values, array.dtype).reshape(array.shape)
    if written:
        raise NotLowered(f"{function.__name__} writes to its arguments")
    return made


def _arrays(value: Any) -> list[Any]:
    """Return the arrays in nested arguments."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [array for item in value for array in _arrays(item)] if isinstance(value, tuple | list) else []


def _choosing(function: Any, steps: _Function) -> _Function:
    """Return a function that is one recorded call where a kernel would run, and its steps else."""
    path, size = function.where
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]

    def run(*args: Any) -> Any:
        recorder = recorder_of(args)
        given = [dense(opened(a)) for a in args]
        if recorder is None:
            return NUMPY.bind(function)(*args)
        if _has_kernel(path, size, dict(zip(names, given, strict=False)), given):
            count = WRITTEN.get(function.__name__)
            if count is None:
                return _called(recorder, function, args, {})
            writes = [a for i, a in enumerate(args[0]) if i % count != 1 and a is not None]
            return recorder.call(function.__name__, NUMPY.bind(function), args, {}, tuple(writes))
        return steps(*args)

    return run


def _has_kernel(path: str, size: str, named: dict[str, Any], args: list[Any]) -> bool:
    decides = eval(size, {"ndarray": np.ndarray}, named)  # noqa: S307 - an expression of the table's
    return any(decides >= k.least and ENABLED[k.library] and k.when(*args) for k in row(path))


def _state() -> Any:
    return default_generator.numpy.bit_generator.state


STEPS = _Steps()
_LIKE_NUMPY = _Steps(like_numpy=True)
_PARTS = _Steps(divides=True)
# Functions that write to the arrays in a list, and how many there are for each parameter: the second is the gradient.
WRITTEN = {"adam_updates": 5, "sgd_updates": 3}


def lowered(recorder: Recorder, function: _Function, bound: _Function, args: Any, kwargs: Any, origin: Any) -> Any:
    """Return the results of a body or formula by recorded calls of NumPy's functions; NotImplemented if it has others.

    Args:
        function: as it was declared.
        bound: as eager operations run it.
    """
    if origin[1] == "forward" and "generator" in origin[0].params:
        return NotImplemented
    alike = function, _described((args, kwargs), {})
    way, state = recorder.agreed.get(alike, ...), _state()
    if way is None:
        return NotImplemented
    wanted = None
    if way is ...:
        wanted = silently(bound, *opened(args), **opened(kwargs))
    if state != _state():  # it draws random numbers
        default_generator.numpy.bit_generator.state = state
        return NotImplemented
    profile = sys.getprofile()
    sys.setprofile(None)  # it has seen what the body calls, and would see it again in each trial
    try:
        if way is not ...:
            return _known_steps(recorder, way, function, args, kwargs)
        return _by_steps(recorder, function, bound, args, kwargs, origin, wanted, alike)
    finally:
        sys.setprofile(profile)


def _known_steps(recorder: Recorder, way: _Steps, function: _Function, args: Any, kwargs: Any) -> Any:
    """Return the results by recorded calls, which had the bits of the body for arrays of these kinds before."""
    mark = len(recorder.instructions)
    made = _steps(recorder, way, function, args, kwargs)
    if made is NotImplemented:
        del recorder.instructions[mark:]
        return made
    return recorder.arrays(made)


def _steps(recorder: Recorder, way: _Steps, function: _Function, args: Any, kwargs: Any) -> Any:
    """Return what a body returns for recorded arrays; NotImplemented if it does more than call NumPy."""
    trial, recorder.trial = recorder.trial, True
    try:
        return silently(way.bind(function), *args, **kwargs)
    except Exception:  # `NotLowered`, or it wants an array of NumPy's
        return NotImplemented
    finally:
        recorder.trial = trial


def _by_steps(
    recorder: Recorder, function: _Function, bound: _Function, args: Any, kwargs: Any, origin: Any, wanted: Any,
    alike: Any,
) -> Any:  # fmt: skip
    """Return the results by recorded calls, if they have the bits of `wanted`, and agree for other numbers, too.

    Args:
        alike: of calls that give arrays of the same kinds: what is found out of one of them is known of all.
    """
    op, which = origin
    if _is_large(op, which, wanted):
        if op.kind == "elementwise":
            recorder.parts = _parts(recorder, function, args, kwargs, wanted)
        return NotImplemented
    mark, given = len(recorder.instructions), opened((args, kwargs))
    for way in (_LIKE_NUMPY, STEPS) if _size(given) < _LARGE else (STEPS,):
        made = _steps(recorder, way, function, args, kwargs)
        kept = recorder.instructions[mark:]
        fits = made is not NotImplemented and len(kept) <= _MOST and _same(made, wanted, _roots(given))
        agree = fits and _agree(recorder, way, function, bound, args, kwargs, _trials(_size(wanted), _size(given)))
        del recorder.instructions[mark:]
        if agree:
            recorder.agreed[alike] = way
            recorder.instructions += kept
            return recorder.arrays(made)
    recorder.agreed[alike] = None
    return NotImplemented


def _parts(recorder: Recorder, function: _Function, args: Any, kwargs: Any, wanted: Any) -> Any:
    """Return the steps of an elementwise body that has a loop of its own, with other last digits, or None."""
    mark = len(recorder.instructions)
    made = _steps(recorder, _PARTS, function, args, kwargs)
    parts = recorder.instructions[mark:]
    del recorder.instructions[mark:]
    fits = made is not NotImplemented and hasattr(made, "variable") and _alike(made._array, wanted)
    return (parts, made.variable) if fits else None


_LARGE = 1 << 14  # elements of arguments, from which on NumPy's branches are made of blocks, and loops join others
_MOST = 48  # steps of a body that are worth while
_TRIALS = 24  # for few numbers; a quarter for some dozens
_MANY = 1 << 12  # results, whose bits for one set of numbers say enough


def _size(value: Any) -> int:
    """Return the number of elements of arrays in nested arguments or results."""
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(_size, value)) if isinstance(value, tuple | list) else int(np.size(value))


def _trials(results: int, given: int) -> int:
    """Return for how many sets of numbers steps are compared with a body, by the elements of both."""
    fewest = _TRIALS // 4 if results < _MANY else 1
    return 2 if given > _FEW else max(fewest, min(_TRIALS, _FEW // 64 // max(1, results)))


def _agree(
    recorder: Recorder, way: _Steps, function: _Function, bound: _Function, args: Any, kwargs: Any, trials: int
) -> bool:
    """Return whether a body and its steps give the same bits in all trials."""
    return all(_agrees(recorder, way, function, bound, args, kwargs, seed) for seed in range(trials))


def _described(value: Any, places: dict[int, int]) -> Any:
    """Return the shapes, strides and dtypes of arrays in nested arguments, which of them are one, and other values."""
    if type(value) in (list, tuple):
        return type(value), *[_described(v, places) for v in value]
    if type(value) is dict:
        return dict, *value, *[_described(v, places) for v in value.values()]
    array = value._array if type(value) is RecordedArray else value
    if isinstance(array, np.ndarray):
        place = places.setdefault(id(array), len(places))
        return type(value), array.shape, array.strides, array.dtype.str, place
    return type(value), repr(value)


def _agrees(
    recorder: Recorder, way: _Steps, function: _Function, bound: _Function, args: Any, kwargs: Any, seed: int
) -> bool:
    """Return whether a body and its steps give the same bits for other numbers, too.

    One set of numbers is not enough: sums of few numbers in another order often have the same bits.
    """
    mark = recorder.mark()
    others = partial(_with_other_numbers, recorder, np.random.default_rng(seed), {})
    args, kwargs = nested(others, args), nested(others, kwargs)
    given, named = opened(args), opened(kwargs)
    try:
        wanted = silently(bound, *given, **named)
    except Exception:  # numbers that the body refuses say nothing
        recorder.forget(mark)
        return True
    trial, recorder.trial = recorder.trial, True
    try:
        return _same(silently(way.bind(function), *args, **kwargs), wanted, set())
    except Exception:
        return False
    finally:
        recorder.trial = trial
        recorder.forget(mark)


def _with_other_numbers(recorder: Recorder, rng: Any, made: dict[int, Any], value: Any) -> Any:
    """Return nested arguments with smaller numbers in floating arrays."""
    if type(value) in (list, tuple, dict):
        return nested(partial(_with_other_numbers, recorder, rng, made), value)
    array = value._array if type(value) is RecordedArray else value
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fc" or array.size > _HUGE:
        return value
    if id(value) not in made:
        other = (array * rng.uniform(0.5, 1, array.shape)).astype(array.dtype)
        made[id(value)] = recorder.array(other) if type(value) is RecordedArray else other
    return made[id(value)]


_FEW = 1 << 15  # elements: more are compared a few times
_HUGE = 1 << 22  # and arrays of more as they are


def _is_large(op: Any, which: str, wanted: Any) -> bool:
    """Return whether eager operations have another form for arrays of this size."""
    if not isinstance(wanted, np.ndarray):
        return False
    least = _LEAST.get((op, which))
    if least is None:
        expression = Inlined(op).expression(which)
        least = large_body(op, expression) if which == "forward" else large_formula(op, which, expression)
        _LEAST[op, which] = least
    return bool(least) and wanted.size >= least


_LEAST: dict[Any, int] = {}  # elements from which on a body or formula has another form; 0 if it has none


def _roots(value: Any) -> set[int]:
    """Return which memory arrays in nested arguments have."""
    return {id(root(array)) for array in _arrays(value)}


def _same(made: Any, wanted: Any, roots: set[int]) -> bool:
    """Return whether results have the same bits, lie in memory in the same way, and are views of the same arguments."""
    if isinstance(wanted, tuple | list):
        if not isinstance(made, tuple | list) or len(made) != len(wanted):
            return False
        return all(_same(m, w, roots) for m, w in zip(made, wanted, strict=True))
    if isinstance(wanted, np.ndarray | np.generic):
        array: Any = made._array if type(made) is RecordedArray else made
        if not isinstance(array, np.ndarray | np.generic):
            return False
        if isinstance(wanted, np.ndarray) and {id(root(array))} & roots != {id(root(wanted))} & roots:
            return False
        return _alike(array, wanted) and array.tobytes() == wanted.tobytes()
    return type(made) is type(wanted) and bool(made == wanted)


def _alike(a: Any, b: Any) -> bool:
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.strides == b.strides)


def root(array: Any) -> Any:
    """Return the array, or other object, whose memory an array is a view of."""
    while (base := array.base) is not None:
        if not isinstance(base, np.ndarray):
            owner = getattr(base, "base", None)  # of the object that `as_strided` puts in between
            if not isinstance(owner, np.ndarray):
                return base.obj if isinstance(base, memoryview) else base
            base = owner
        array = base
    return array
