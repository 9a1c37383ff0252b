"""The current mode: what recording an operation involves, per thread and per async task.

One `ContextVar` holds one immutable `Mode`. A `ContextVar` reads in a fraction of the time of a
`threading.local` attribute, and its scope is right for asyncio tasks as well as for threads.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple
from weakref import ref

from .exits import Exit

_FIELDS = (
    "grad",
    "hooks",
    "blocks",
    "forbidden",
    "inference",
    "dual",
    "tangents",
    "anomaly",
    "recorder",
    "profiler",
    "levels",
    "mutation",
    "threads",
    "ops",
    "autocast",
    "functions",
)


class Mode:
    """What holds for the operations that run now. Never changed: `replace` makes another one."""

    __slots__ = (
        *_FIELDS,
        "__weakref__",
        "below",
        "busy",
        "forward",
        "note",
        "special",
        "traced",
        "unwatched",
        "watched",
        "with_grad",
        "within",
        "without_grad",
    )

    grad: bool  # record a graph?
    hooks: tuple[Any, ...] | None  # (pack, unpack) around what is saved; with a third, informed: tensor/saved.py
    blocks: tuple[Any, ...]  # of hooks that have not ended, innermost last: see scopes.py
    forbidden: str | None  # why saved tensor hooks may not be used here
    inference: bool  # make inference tensors?
    dual: int  # forward-mode level, 0 for none
    tangents: bool  # are tangents propagated, where there is a level?
    anomaly: Any  # anomaly settings, None when off
    recorder: Any  # is told of every saved tensor
    profiler: Any  # is told of every operation: see declare/generate/profiling.py
    levels: tuple[Any, ...]  # functional transforms, innermost last
    mutation: Any  # allow_mutation_on_saved_tensors bookkeeping
    threads: bool  # may backward use several threads?
    ops: tuple[Any, ...]  # operation modes, innermost last: see `OpMode`
    autocast: Any  # the state of autocast, None when off everywhere
    functions: tuple[Any, ...]  # modes of `__torch_function__`, innermost last: see overrides.py
    without_grad: Mode | None  # the same without grad, once somebody has asked
    with_grad: ref[Mode] | None  # the one with grad that this was made of
    below: Mode | None  # the same without the innermost level, once somebody has asked
    within: Mode | None  # the one inside of a `Function`, once somebody has asked
    forward: bool  # are tangents propagated now?
    busy: bool  # must operations take the interpreted path?
    special: bool  # must they at least tell the profiler?
    note: Any  # how, if that is all that is unusual, and times are all that it wants
    watched: bool  # only because of modes that look on: see `OpMode.observes`
    unwatched: Mode | None  # the same without those, once somebody has asked
    traced: bool  # do modules note that they are called?

    def __init__(
        self,
        grad: bool = True,
        hooks: tuple[Any, ...] | None = None,
        blocks: tuple[Any, ...] = (),
        forbidden: str | None = None,
        inference: bool = False,
        dual: int = 0,
        tangents: bool = True,
        anomaly: Any = None,
        recorder: Any = None,
        profiler: Any = None,
        levels: tuple[Any, ...] = (),
        mutation: Any = None,
        threads: bool = True,
        ops: tuple[Any, ...] = (),
        autocast: Any = None,
        functions: tuple[Any, ...] = (),
    ) -> None:
        self.grad = grad
        self.hooks = hooks
        self.blocks = blocks
        self.forbidden = forbidden
        self.inference = inference
        self.dual = dual
        self.tangents = tangents
        self.anomaly = anomaly
        self.recorder = recorder
        self.profiler = profiler
        self.levels = levels
        self.mutation = mutation
        self.threads = threads
        self.ops = ops
        self.autocast = autocast
        self.functions = functions
        self.forward = bool(dual and tangents and not inference)
        self.without_grad = self.below = self.with_grad = self.within = None
        self.traced = recorder is not None or (hooks is not None and len(hooks) > 2)
        busy = bool(
            inference
            or self.forward
            or levels
            or anomaly is not None
            or recorder is not None
            or mutation is not None
            or functions
            or (autocast is not None and autocast.active)
        )
        self.busy = busy or bool(ops)
        self.special = self.busy or profiler is not None
        self.note = None if self.busy or profiler is None else profiler.append
        self.watched = bool(ops) and not busy and all(mode.observes for mode in ops)
        self.unwatched = None

    def replace(self, **changes: Any) -> Mode:
        fields = {name: getattr(self, name) for name in _FIELDS}
        fields.update(changes)
        return Mode(**fields)


MODE: ContextVar[Mode] = ContextVar("gradpack mode", default=Mode())  # noqa: B039 - a Mode never changes


class Transform(set[Any]):
    """A functional transform that differentiates and is going on: the edges of what it differentiates by.

    Attributes:
        number: how deep it is, counting levels of `vmap` too: 1 for the outermost.
        function: what it differentiates.
        forward: by tangents?
        inner: by a function of `autograd`, and not by one of `func`?
        pushes: does it give tangents, though by differentiating backward twice?
    """

    __slots__ = ("forward", "function", "inner", "number", "pushes")

    def __init__(self, function: Any = None, forward: bool = False, inner: bool = False) -> None:
        super().__init__()
        self.number, self.function, self.forward, self.inner = depth() + 1, function, forward, inner
        self.pushes = forward

    __hash__ = object.__hash__  # type: ignore[assignment]


TRANSFORMS: ContextVar[tuple[Transform, ...]] = ContextVar("gradpack transforms", default=())


def depth() -> int:
    """How many functional transforms are going on, levels of `vmap` among them."""
    return len(TRANSFORMS.get()) + len(MODE.get().levels)


# Is the history of a view whose base was written to made by taking the view again, and not of where it lies?
VIEW_REPLAY: ContextVar[bool] = ContextVar("gradpack view replay", default=False)

# The backward pass that is going on: something with an identity, None outside.
RUN: ContextVar[Any] = ContextVar("gradpack backward pass", default=None)


def without_grad(mode: Mode) -> Mode:
    """The same mode without grad, made once."""
    if not mode.grad:
        return mode
    found = mode.without_grad
    if found is None:
        found = mode.without_grad = mode.replace(grad=False)
        found.with_grad = ref(mode)
    return found


def within_function(mode: Mode) -> Mode:
    """The mode inside of the forward of a `Function`, which differentiates itself in both directions; made once."""
    found = mode.within
    if found is None:
        found = mode.within = mode.replace(grad=False, tangents=False)
    return found


def with_grad(mode: Mode) -> Mode:
    """The same mode with grad; the one that it was made of, if that is still there."""
    if mode.grad:
        return mode
    found = None if mode.with_grad is None else mode.with_grad()
    if found is None or not found.grad:
        found = mode.replace(grad=True)
        found.without_grad, mode.with_grad = mode, ref(found)
    return found


def changed(mode: Mode, changes: dict[str, Any]) -> Mode:
    """The mode with some fields changed; the same one if they are so already."""
    if len(changes) == 1 and "grad" in changes:
        return with_grad(mode) if changes["grad"] else without_grad(mode)
    for name, value in changes.items():
        found = getattr(mode, name)
        if found is not value and found != value:
            return mode.replace(**changes)
    return mode


def change(**changes: Any) -> dict[str, Any]:
    """Change fields of the current mode, and return what they were."""
    mode = MODE.get()
    inner = changed(mode, changes)
    if inner is not mode:
        MODE.set(inner)
    return {name: getattr(mode, name) for name in changes}


class Undo(NamedTuple):
    """How to undo a change: the mode before it, the one after it, and the fields that it is about."""

    outer: Mode
    inner: ref[Mode]
    fields: tuple[str, ...]

    def mode(self, mode: Mode) -> Mode:
        """What is to follow: the mode before the change, or if others have come since then, its fields in `mode`."""
        outer = self.outer
        return outer if self.inner() is mode else changed(mode, {name: getattr(outer, name) for name in self.fields})


class Block:
    """A context manager that changes fields of the mode for a block. Subclasses say which, in `_changes`.

    Leaving restores the named fields only, so that blocks which end out of order (generators, tasks) do not undo each
    other's changes of other fields.
    """

    _entered: tuple[Undo, ...] = ()  # the blocks of this object that have not ended

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
        """The block that is to end."""
        return self._entered[-1]

    def _leave(self, undo: Undo) -> None:
        """End it, unless that is done."""
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
    """`with mode: ...` is asked about every operation of the block, below autograd, before it runs.

    Subclasses override `operation`. Inside of it the mode is off, and modes around it are still on.

    One that `observes` lets operations run as they would without it, where nothing else forbids that, and looks on in
    `look`. One with `backward` is asked about the operations that formulas of gradients are made
    of, too.
    """

    observes = backward = False

    def operation(self, op: Any, values: list[Any], run: Any) -> Any:
        """The results of `op` on `values`: what `run()` returns, or something of the same form.

        That is a pair: a list of tensors without history, and a list of arrays that only formulas see.
        """
        return run()

    def look(self, op: Any, args: tuple[Any, ...], call: Any) -> Any:
        """Returns `call()`, the result of `op` with these arguments."""
        return call()

    def _changes(self) -> dict[str, Any]:
        return {"ops": (*MODE.get().ops, self)}


def unwatched(mode: Mode) -> Mode:
    """The same mode without those who only look on, made once."""
    found = mode.unwatched
    if found is None:
        found = mode.unwatched = mode.replace(ops=())
    return found


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
