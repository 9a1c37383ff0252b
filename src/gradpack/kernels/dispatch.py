"""The choice between a function on arrays and its kernels, made at each call.

A function marked `accelerated` says what is computed, in plain NumPy. Called with a large array of NumPy's, it
gives way to the first kernel of its row in `table` whose library is switched on and installed, and which takes
these arguments. For small arrays that costs one comparison.
"""

from __future__ import annotations

import os
from _thread import get_ident
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from time import perf_counter
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from numpy import ascontiguousarray, ndarray

from ..base import pool
from ..base.exits import block
from ..base.heap import keep_freed_memory
from ..base.modes import MODE
from .parts import run_in_parts

if TYPE_CHECKING:
    from .table import Kernel

F = TypeVar("F", bound=Callable[..., Any])

_SIZE = "type(a0) is ndarray and a0.size"
LEAST = 256  # elements, below which no kernel applies
LARGE = 1 << 15  # elements, below which arrays stay in the cache: steps on them need not be one loop
HEAVY = 1 << 16  # elements that a core takes at a time, where each is some work: as long as it takes to wake a thread
PART = 1 << 17  # where it waits for memory
PYTHON = 1 << 18  # and where each part waits for the lock of the interpreter
STRIP = 512  # of values that compiled loops pass on to each other: some of these stay in the first-level cache
SEEN: list[int] = []  # not empty once there was an array of two parts: operations of one step look for more
# By library, whether its kernels are used: for all of this process.
ENABLED = {"numba": os.environ.get("GRADPACK_COMPILED", "1") != "0", "scipy": True, "blocks": True}
_NEEDED = {"blocks": "numpy"}  # what kernels import, where that is not the library of their name
_COMPILING: set[int] = set()  # threads in which a profile has the event


def note_large(size: int) -> None:
    """Remember that there was a large array: freed memory is kept for the next ones from now on."""
    SEEN.append(size)
    keep_freed_memory()


@block
def libraries(**enabled: bool) -> Iterator[None]:
    """Use the kernels of these libraries, or do not, until the context is left: `libraries(numba=False)`."""
    before = {name: ENABLED[name] for name in enabled}
    try:
        ENABLED.update(enabled)
        yield
    finally:
        ENABLED.update(before)


def accelerated(reference: F, size: str = _SIZE) -> F:
    """Let the kernels that the table has for a function stand in for it.

    The first argument decides by its size; arguments are passed by position. `Backend.bind` gives the arrays of other
    libraries to `reference`.

    Args:
        size: what decides, as an expression of the arguments a0, a1 and so on.
    """
    return cast("F", choosing(reference, f"{reference.__module__.partition('.')[2]}.{reference.__qualname__}", size))


def undivided(least: int = 0) -> Callable[[F], F]:
    """Mark a function that is faster than its steps would be as calls of NumPy's: programs of `compile` call it as one.

    Args:
        least: elements of its largest argument from which on it is.
    """

    def mark(function: F) -> F:
        function.undivided = least  # type: ignore[attr-defined]
        return function

    return mark


_TEXT = """\
def chosen({params}):
    if {size} >= least:
        made = faster({params})
        if made is not NotImplemented:
            return made
    return reference({params})
"""


@cache
def _code(count: int, size: str) -> CodeType:
    """The text of functions of so many arguments: passing them on one by one takes half the time of `*args`."""
    return compile(_TEXT.format(params=", ".join(f"a{i}" for i in range(count)), size=size), __file__, "exec")


def choosing(reference: Any, path: str, size: str = _SIZE) -> Any:
    """A function that runs the first kernel that applies, else `reference`.

    Args:
        path: where the kernels are in the table, which is read when it is first needed.
        size: the expression that decides whether any may apply.
    """
    kernels: list[tuple[int, str, Callable[..., bool], Kernel]] = []
    enough = size != _SIZE

    def faster(first: Any, *others: Any) -> Any:
        if not kernels:
            kernels.extend((0 if enough else k.least, k.library, k.when, k) for k in row(path))
            names["least"] = min(kernel.least for *_, kernel in kernels)
        for least, library, when, kernel in kernels:
            if (least == 0 or first.size >= least) and ENABLED[library] and when(first, *others):
                run = loaded(kernel)
                if run is None:
                    continue
                made = run_in_parts(kernel, run, (first, *others)) if kernel.results else run(first, *others)
                if made is not NotImplemented:
                    return made
        if type(first) is ndarray and first.size >= LARGE:
            given = tuple(map(dense, (first, *others)))
            if any(a is not b for a, b in zip(given, (first, *others), strict=True)):
                return faster(*given)
        return NotImplemented

    names: dict[str, Any] = {"__name__": reference.__module__, "ndarray": ndarray, "least": LEAST}
    names |= {"faster": faster, "reference": reference}
    exec(_code(reference.__code__.co_argcount, size), names)
    chosen: Any = names["chosen"]
    chosen.__name__, chosen.__qualname__ = reference.__name__, reference.__qualname__
    chosen.__doc__, chosen.__defaults__ = reference.__doc__, reference.__defaults__
    chosen.reference, chosen.where = reference, (path, size)
    return chosen


def dense(value: Any) -> Any:
    """Return an argument; for a large array of one number in memory, as gradients of sums are, a dense one."""
    if type(value) is ndarray and value.size >= LARGE and not any(value.strides) and value.dtype.kind == "f":
        return ascontiguousarray(value)
    return value


def rebound(function: Callable[..., Any], reference: Callable[..., Any]) -> Any:
    """An `accelerated` function with another function in place of its reference."""
    return choosing(reference, *vars(function)["where"])


def row(path: str) -> tuple[Kernel, ...]:
    """The kernels that the table has for a function."""
    from .table import TABLE

    return TABLE[path]


def compiling(function: Callable[..., Any], *args: Any) -> Any:
    """Return `function(*args)`, of which profiles and recordings are told, with what it compiles in turn as one event.

    Profiles show `gradpack::compile`.
    """
    mode, thread = MODE.get(), get_ident()
    told = getattr(mode.recorder, "compiled", None)
    if (mode.profiler is None and told is None) or thread in _COMPILING:
        return function(*args)
    token = None if mode.profiler is None else mode.profiler.enter("gradpack::compile", None)
    start = perf_counter()
    _COMPILING.add(thread)
    try:
        return function(*args)
    finally:
        _COMPILING.discard(thread)
        if mode.profiler is not None:
            mode.profiler.leave(token)
        if told is not None:
            told(perf_counter() - start)


def _function(library: str, path: str) -> Callable[..., Any]:
    module, _, name = path.rpartition(".")
    function: Callable[..., Any] = getattr(import_module(f".{library}.{module}", __package__), name)
    return function


@cache
def loaded(kernel: Kernel) -> Callable[..., Any] | None:
    """The function of a kernel; None where its library is not installed."""
    try:
        compiling(import_module, _NEEDED.get(kernel.library, kernel.library))
    except ImportError:  # as where it is too old for this NumPy
        return None
    if kernel.library == "numba" and not (pool.teams or pool.loaders):
        pool.loaders.append(lambda: _function("numba", "loops.team.of_pool")())
    return _function(kernel.library, kernel.function)
