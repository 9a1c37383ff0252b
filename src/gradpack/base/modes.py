"""The current mode: how operations run and are recorded, per thread and per async task.

One `ContextVar` holds one immutable `Mode`. A `ContextVar` reads in a fraction of the time of a
`threading.local` attribute, and its scope is right for asyncio tasks as well as for threads.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple
from weakref import ref

from .exits import Exit


class Settings:
    """The settings that the operations of a thread or task run under, and what they are at first."""

    grad: bool = True  # record a graph?
    hooks: tuple[Any, ...] | None = None  # (pack, unpack) for saved tensors; with a third, informed: core/packed.py
    blocks: tuple[Any, ...] = ()  # of hooks that are active, innermost last: see scopes.py
    forbidden: str | None = None  # why saved tensor hooks may not be used here
    inference: bool = False  # make inference tensors?
    dual: int = 0  # the innermost level of forward-mode differentiation, 0 for none
    tangents: bool = True  # are tangents propagated, if there is a level?
    anomaly: Any = None  # anomaly settings, None when off
    recorder: Any = None  # is notified of every saved tensor
    profiler: Any = None  # is notified of every operation: see declare/generate/profiling.py
    levels: tuple[Any, ...] = ()  # levels of `vmap`, innermost last
    mutation: Any = None  # allow_mutation_on_saved_tensors bookkeeping
    threads: bool = True  # see `set_multithreading_enabled`
    ops: tuple[Any, ...] = ()  # operation modes, innermost last: see `OpMode`
    autocast: Any = None  # the state of autocast, None when off everywhere
    stance: str = "default"  # of compiled functions: see compiler/unrecorded.py
    functions: tuple[Any, ...] = ()  # modes of `__torch_function__`, innermost last: see overrides.py

    __slots__ = ()


_FIELDS = tuple(Settings.__annotations__)


class Mode(Settings):
    """Settings, and what follows from them. Immutable: `replace` makes another one."""

    without_grad: Mode | None  # cache: the same mode without grad
    with_grad: ref[Mode] | None  # cache: the mode with grad that this was made from
    below: Mode | None  # cache: the same mode without the innermost level
    within: Mode | None  # cache: the mode inside of a `Function`
    primal: Mode | None  # cache: the same mode outside of forward-mode levels
    forward: bool  # are tangents propagated now?
    needs_interpreter: bool  # must operations take the interpreted path?
    leaves_fast_path: bool  # must operations at least notify the profiler?
    note: Any  # how to notify it, if that is all, and it needs times only
    watched: bool  # is `needs_interpreter` due only to modes that observe: see `OpMode.observes`
    unwatched: Mode | None  # cache: the same mode without those
    traced: bool  # do modules record that they are called?
    plain: bool  # is nothing of this on but grad, inference and autocast, and may programs run?

    __slots__ = ("__weakref__", *_FIELDS, *__annotations__)

    def __init__(self, before: Settings | type[Settings] = Settings, **changes: Any) -> None:
        for name in _FIELDS:
            setattr(self, name, changes[name] if name in changes else getattr(before, name))
        self.forward = bool(self.dual and self.tangents and not self.inference)
        self.without_grad = self.below = self.with_grad = self.within = self.primal = self.unwatched = None
        self.traced = self.recorder is not None or (self.hooks is not None and len(self.hooks) > 2)
        special = bool(
            self.forward
            or self.levels
            or self.functions
            or self.anomaly is not None
            or self.recorder is not None
            or self.mutation is not None
        )
        busy = special or self.inference or bool(self.autocast is not None and self.autocast.active)
        self.needs_interpreter = busy or bool(self.ops)
        self.leaves_fast_path = self.needs_interpreter or self.profiler is not None
        others = self.profiler is not None or self.hooks is not None or self.stance == "force_eager"
        self.plain = not (special or self.ops or others)
        self.note = None if self.needs_interpreter or self.profiler is None else self.profiler.append
        self.watched = bool(self.ops) and not busy and all(mode.observes for mode in self.ops)

    def replace(self, **changes: Any) -> Mode:
        return Mode(self, **changes)


MODE: ContextVar[Mode] = ContextVar("gradpack mode", default=Mode())  # noqa: B039 - a Mode never changes


class Transform(set[Any]):
    """An active functional transform that differentiates: the set of edges of its inputs.

    Attributes:
        number: its nesting depth, counting levels of `vmap` too: 1 for the outermost.
        function: the function that it differentiates.
        forward: whether it is forward mode.
        inner: whether it belongs to a function of `autograd`, not of `func`.
        pushes: whether it computes a jvp, if only by differentiating backward twice.
    """

    __slots__ = ("forward", "function", "inner", "number", "pushes")

    def __init__(self, function: Any = None, forward: bool = False, inner: bool = False) -> None:
        super().__init__()
        self.number, self.function, self.forward, self.inner = depth() + 1, function, forward, inner
        self.pushes = forward

    __hash__ = object.__hash__  # type: ignore[assignment]


TRANSFORMS: ContextVar[tuple[Transform, ...]] = ContextVar("gradpack transforms", default=())


def depth() -> int:
    """The number of active functional transforms, levels of `vmap` included."""
    return len(TRANSFORMS.get()) + len(MODE.get().levels)


# Whether the history of a view whose base was written to is remade by replaying the view, not by `as_strided`.
VIEW_REPLAY: ContextVar[bool] = ContextVar("gradpack view replay", default=False)

# Identifies the current backward pass; None outside of one.
RUN: ContextVar[Any] = ContextVar("gradpack backward pass", default=None)


def without_grad(mode: Mode) -> Mode:
    """The same mode without grad (cached)."""
    if not mode.grad:
        return mode
    found = mode.without_grad
    if found is None:
        found = mode.without_grad = mode.replace(grad=False)
        found.with_grad = ref(mode)
    return found


def _kept(mode: Mode, name: str, **changes: Any) -> Mode:
    """Return a changed mode, which is kept in a field of the one that it was made from."""
    found = mode.replace(**changes)
    setattr(mode, name, found)
    return found


def within_function(mode: Mode) -> Mode:
    """The mode inside the forward of a `Function`: without grad and without tangents (cached)."""
    return mode.within or _kept(mode, "within", grad=False, tangents=False)


def without_dual(mode: Mode) -> Mode:
    """The same mode outside of forward-mode levels: nothing propagates tangents (cached)."""
    if mode.dual and mode.primal is None:
        mode.primal = mode.replace(dual=0)
    return mode.primal or mode


def with_grad(mode: Mode) -> Mode:
    """The same mode with grad: the one that this was made from, if that is alive."""
    if mode.grad:
        return mode
    found = None if mode.with_grad is None else mode.with_grad()
    if found is None or not found.grad:
        found = mode.replace(grad=True)
        found.without_grad, mode.with_grad = mode, ref(found)
    return found


def changed(mode: Mode, changes: dict[str, Any]) -> Mode:
    """The mode with some fields changed; the same object if they have these values already."""
    if len(changes) == 1 and "grad" in changes:
        return with_grad(mode) if changes["grad"] else without_grad(mode)
    for name, value in changes.items():
        found = getattr(mode, name)
        if found is not value and found != value:
            return mode.replace(**changes)
    return mode


def change(**changes: Any) -> dict[str, Any]:
    """Change fields of the current mode, and return their old values."""
    mode = MODE.get()
    inner = changed(mode, changes)
    if inner is not mode:
        MODE.set(inner)
    return {name: getattr(mode, name) for name in changes}


class Undo(NamedTuple):
    """How to undo a change of the mode: the mode before, the mode after, and the names of the changed fields."""

    outer: Mode
    inner: ref[Mode]
    fields: tuple[str, ...]

    def mode(self, mode: Mode) -> Mode:
        """Return the mode to restore: the one before the change, or `mode` with its fields if others changed since."""
        outer = self.outer
        return outer if self.inner() is mode else changed(mode, {name: getattr(outer, name) for name in self.fields})


class Block:
    """A context manager that changes fields of the mode for a block. Subclasses return them from `_changes`.

    Leaving restores the named fields only, so that blocks which end out of order (generators, tasks) do not undo each
    other's changes of other fields.
    """

    _entered: tuple[Undo, ...] = ()  # one for each time that this object was entered and not left

    def _changes(self) -> dict[str, Any]:
        raise NotImplementedError

    def __enter__(self) -> Any:
        mode, changes = MODE.get(), self._changes()
        inner = changed(mode, changes)
        try:
            MODE.set(inner)
            self._entered = (*self._entered, Undo(mode, ref(inner), tuple(changes)))
        except BaseException:  # an interrupt: a block that was not entered is not left either
            MODE.set(mode)
            raise
        return self

    def _last(self) -> Undo:
        """The block that was entered last."""
        return self._entered[-1]

    def _leave(self, undo: Undo) -> None:
        """Leave a block, unless it was left already."""
        if self._entered and self._entered[-1] is undo:
            MODE.set(undo.mode(MODE.get()))
            self._entered = self._entered[:-1]

    __exit__ = Exit(_last, _leave)


class using(Block):  # noqa: N801 - reads as a keyword
    """`with using(grad=False): ...` changes the mode for a block."""

    def __init__(self, **changes: Any) -> None:
        self.changes = changes

    def _changes(self) -> dict[str, Any]:
        return self.changes


class OpMode(Block):
    """`with mode: ...` intercepts every operation of the block, below autograd, before it runs.

    Subclasses override `operation`. Inside of it the mode is off, and modes around it are still on.

    A mode that `observes` leaves operations to run as they would without it, where nothing else forbids that, and only
    watches them in `look`. One with `backward` also intercepts the operations that backward formulas are made
    of.
    """

    observes = backward = False

    def operation(self, op: Any, values: list[Any], run: Any) -> Any:
        """Return the results of `op` on `values`: those of `run()`, or others of the same form.

        That is a pair: a list of tensors without history, and a list of arrays that only backward formulas use.
        """
        return run()

    def look(self, op: Any, args: tuple[Any, ...], call: Any) -> Any:
        """Watch an operation: return `call()`, the result of `op` with these arguments."""
        return call()

    def _changes(self) -> dict[str, Any]:
        return {"ops": (*MODE.get().ops, self)}


def unwatched(mode: Mode) -> Mode:
    """The same mode without operation modes, for modes that only observe (cached)."""
    return mode.unwatched or _kept(mode, "unwatched", ops=())


def through_modes(op: Any, values: list[Any], run: Any) -> Any:
    """Run an operation through the modes that are on, innermost first."""
    mode = MODE.get()
    if not mode.ops:
        return run()
    try:
        MODE.set(mode.replace(ops=mode.ops[:-1], grad=False))
        return mode.ops[-1].operation(op, values, lambda: through_modes(op, values, run))
    finally:
        MODE.set(mode)
