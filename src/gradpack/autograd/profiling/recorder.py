"""What a profiler notes while a program runs: as little as possible. `build` makes events of it.

A record is a tuple: what it is of, its name, start and end in nanoseconds, the thread, the sequence number of
the node (as nodes have it: falling from 0), and details, None for most.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from operator import itemgetter
from threading import get_ident
from time import perf_counter_ns
from typing import Any, NamedTuple

from ...base.devices import device
from ...base.modes import MODE, Mode
from ...declare.dispatch.torch_names import VARIANTS
from ...declare.generate import profiling as clocks
from ...declare.generate.profiling import ANNOTATION, FUNCTION, MEMORY, NODE, OP, sequence_of
from ...graph.node import Node, Nowhere, Origin, Part, Slot
from ...tensor.memory import Tracker
from ...tensor.tensor import Tensor

Record = tuple[int, str, int, int, int, int | None, Any]


class Detail(NamedTuple):
    """What is noted of a call when that is asked for."""

    shapes: list[Any] | None = None  # of each argument; [] for what is no tensor, a list for a list of tensors
    values: list[Any] | None = None  # each argument that is no tensor; None for tensors
    dtypes: list[str] | None = None
    strides: list[Any] | None = None  # as the shapes
    stack: list[str] | None = None  # the callers, innermost first
    modules: tuple[str, ...] = ()  # the modules that are running, outermost first


class Recorder:
    """Takes records of operations, of nodes and of blocks of code, in the thread or task where it was started."""

    def __init__(
        self,
        *,
        shapes: bool = False,
        stack: bool = False,
        memory: bool = False,
        modules: bool = False,
        outer: Recorder | None = None,
    ) -> None:
        # Flat lists, whose entries are numbers and texts: tuples that stay would make the garbage collector busy.
        # Calls of which no more is asked than when they ran have fewer entries: every entry costs time.
        self._flat: list[Any] = []
        self._calls: list[Any] = []
        self.passes: list[tuple[int, list[Any]]] = []  # of each backward pass: see `Pass`
        self.note = self._flat.extend
        self.shapes, self.stack, self.modules, self.outer = shapes, stack, modules, outer
        self.memory: Tracker | None = Tracker(self._changed) if memory else None
        self.watch: Tracker | None = (
            None if outer is None else outer.watch
        )  # counts memory around it: see `MemoryWatch`
        self.running: tuple[str, ...] = ()  # the modules that are, outermost first
        self.append = None if shapes or stack or memory or modules or self.watch is not None else self._calls.extend
        self._open = False  # has it begun, and not told whoever records around it?
        self.start_ns = self.end_ns = perf_counter_ns()

    @property
    def records(self) -> list[Record]:
        """What was noted, in the order in which it ended."""
        entries, calls = iter(self._flat), iter(self._calls)
        found: list[Record] = list(zip(*[entries] * 7, strict=True))
        for what, start, end, thread, seq in zip(*[calls] * 5, strict=True):
            kind, name = (OP, what) if isinstance(what, str) else what
            found.append((kind, name, start, end, thread, seq, None))
        for thread, noted in self.passes:
            found += decoded(thread, noted)
        found.sort(key=itemgetter(3))
        return found

    # -- what operations call --

    def around(
        self, op: Any, name: str, run: Callable[..., Any], values: tuple[Any, ...], mode: Mode, kind: int = OP
    ) -> Any:
        """Run an operation, and note all that was asked for."""
        detail = _described(values) if self.shapes else _NOTHING
        detail = detail._replace(stack=callers(2) if self.stack else None, modules=self.running)
        if self.memory is not None:
            self.memory.know(values)
        if self.watch is not None:
            self.watch.know(values)
        seq = None
        start = perf_counter_ns()
        try:
            out = run(*values)
        except BaseException:
            self.note((kind, name, start, perf_counter_ns(), get_ident(), None, detail))
            raise
        end = perf_counter_ns()
        if mode.grad:
            seq = sequence_of(out)
        self.note((kind, name, start, end, get_ident(), seq, detail))
        if self.memory is not None:
            self.memory.see(out, end)
        if self.watch is not None:
            self.watch.see(out, end)
        return out

    def _changed(self, change: int, time: int, place: device) -> None:
        self.note((MEMORY, place.type, time, time, get_ident(), None, change))

    def nodes(self) -> Pass:
        """An observer of a backward pass."""
        return Pass(self)

    # -- what blocks call --

    def enter(self, name: str, args: str | None) -> Any:
        """The beginning of a block of the user's."""
        return name, args, perf_counter_ns(), callers(2) if self.stack else None

    def leave(self, token: Any, kind: int = ANNOTATION) -> None:
        """The end of it."""
        name, args, start, stack = token
        detail = None
        if args is not None or stack is not None or self.running:
            detail = Detail(values=None if args is None else [args], stack=stack, modules=self.running)
        self.note((kind, name, start, perf_counter_ns(), get_ident(), None, detail))

    # -- on and off --

    def start(self) -> None:
        """Begin to take records in this thread or task."""
        self._open = True
        if self.append is not None:
            clocks.begin(self)
        self.start_ns = perf_counter_ns()
        MODE.set(MODE.get().replace(profiler=self))

    def stop(self) -> None:
        """End it; whoever recorded around this one has the same records. May be interrupted, and called again."""
        self.end_ns = perf_counter_ns()
        clocks.end(self)
        if self.memory is not None:
            self.memory.close()
        mode = MODE.get()
        if mode.profiler is self:
            MODE.set(mode.replace(profiler=self.outer))
        if self.outer is not None and self._open:
            shared = [entry for record in self.records if record[0] in _SHARED for entry in record]
            self._open = False
            self.outer.note(shared)


_SHARED = frozenset({OP, NODE, ANNOTATION, FUNCTION})


_NOTHING = Detail()


def _described(values: tuple[Any, ...]) -> Detail:
    """The shapes and strides of arguments, the values of those that are no tensors, and what they are."""
    about: list[tuple[Any, Any, str, list[Any]]] = []
    for value in values:
        if isinstance(value, Tensor):
            about.append((list(value._shape), None, value._spec.dtype.name, _strides(value._data)))
        elif isinstance(value, list | tuple) and any(isinstance(v, Tensor) for v in value):
            tensors = [v for v in value if isinstance(v, Tensor)]
            about.append(([list(v._shape) for v in tensors], None, "TensorList", [_strides(v._data) for v in tensors]))
        elif isinstance(value, list | tuple) and all(isinstance(v, bool | int | float | complex) for v in value):
            about.append(([], list(value), "ScalarList", []))
        else:
            plain = isinstance(value, bool | int | float | complex)
            about.append(([], value, "" if value is None else "Scalar" if plain else type(value).__name__, []))
    shapes, given, dtypes, strides = map(list, zip(*about, strict=True)) if about else ([], [], [], [])
    return Detail(shapes, given, dtypes, strides)


def _strides(array: Any) -> list[int]:
    """The strides of an array, in elements; `[]` where there are none."""
    return [step // array.itemsize for step in getattr(array, "strides", None) or ()]


_OURS = __name__.partition(".")[0] + "."


def callers(skip: int) -> list[str]:
    """Who called, innermost first, as `file(line): function`; calls inside of the library are left out."""
    found: list[str] = []
    frame: Any = sys._getframe(skip)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(_OURS) or name.startswith(_OURS + "examples"):
            code = frame.f_code
            found.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return found


# Names of nodes by their type. Nodes that only we have are part of what the node before them did.
_OURS_ALONE = ""
_ACCUMULATE = "torch::autograd::AccumulateGrad"
_labels: dict[type, str | None] = {Slot: _OURS_ALONE, Nowhere: _OURS_ALONE, Origin: _OURS_ALONE}
_named: dict[type, str] = {}  # those of torch's that the type tells


def _label(node: Node) -> str:
    """The name of a node; of most it is known by its type."""
    kind = type(node)
    try:
        known = _labels[kind]
    except KeyError:
        op = getattr(kind, "op", None)
        fixed = op is not None and (op.name not in VARIANTS or getattr(kind, "is_settled", False))
        known = _labels[kind] = node.name() if fixed else None
        if known is not None:
            _named[kind] = known
    return node.name() if known is None else known


class Both:
    """Two trackers of memory, of which one may be None."""

    def __init__(self, *trackers: Tracker | None) -> None:
        self.trackers = [t for t in trackers if t is not None]

    def know(self, values: Any) -> None:
        for tracker in self.trackers:
            tracker.know(values)

    def see(self, values: Any, time: int) -> None:
        for tracker in self.trackers:
            tracker.see(values, time)


class Pass:
    """Observes the nodes of one backward pass.

    A node's own time is one event. From its start to that of the next one (the gradients handed on and added up,
    hooks of tensors) is another around it, as in torch: so only starts and ends are noted, and `decoded` has the rest.
    """

    __slots__ = ("began", "detailed", "memory", "named", "node", "note", "remark", "shapes", "thread", "what")

    def __init__(self, recorder: Recorder) -> None:
        flat: list[Any] = []
        self.thread = get_ident()
        recorder.passes.append((self.thread, flat))
        self.note = flat.extend  # takes `(what, start, end, seq)`: a label, the type that tells it, or (label, details)
        self.remark, self.shapes = recorder.note, recorder.shapes
        self.memory: Any = recorder.memory if recorder.watch is None else Both(recorder.memory, recorder.watch)
        self.detailed = self.shapes or self.memory is not None
        self.named: dict[type, str] | None = None if self.detailed else _named
        self.node: Node | None = None  # what is running
        self.began = 0
        self.what: Detail | None = None  # what its gradients are

    def start(self, node: Node, g: Any) -> None:
        """A node begins to run."""
        if self.detailed:
            self.what = gradients_of(g) if self.shapes else None
            if self.memory is not None and _labels.get(type(node)) != _OURS_ALONE:
                self.memory.know((g,))
        self.node = node
        self.began = perf_counter_ns()

    def end(self, grads: Any) -> None:
        """It has run."""
        now = perf_counter_ns()
        node: Any = self.node
        self.node = None
        label = _labels.get(type(node))
        if label is None:
            label = _label(node)
        if label:
            self.note((label if self.what is None else (label, self.what), self.began, now, node.seq))
            if self.memory is not None:
                self.memory.see(grads, now)

    def close(self) -> None:
        """The pass is over, or has failed."""
        if self.node is not None:
            self.end(None)
        now = perf_counter_ns()
        self.note((None, now, now, 0))

    def alone(self, node: Node, g: Any, keep: bool) -> Any:
        """Run a node on whatever thread this is."""
        label, what = _label(node), gradients_of(g) if self.shapes else None
        start = perf_counter_ns()
        grads = node.backward(g, keep)
        end = perf_counter_ns()
        if label:
            self.remark((NODE, label, start, end, get_ident(), node.seq, end if what is None else (end, what)))
        return grads

    def serving(self, serve: Callable[..., None]) -> Callable[..., None]:
        """`serve`, which gives a leaf its gradient, observed."""

        def served(leaf: Node, g: Any, create_graph: bool, wanted: Any, capture: bool) -> None:
            if wanted is not None and (leaf not in wanted or capture):
                serve(leaf, g, create_graph, wanted, capture)
                return
            what = gradients_of(g) if self.shapes else None
            if self.memory is not None:
                self.memory.know((g,))
            start = perf_counter_ns()
            serve(leaf, g, create_graph, wanted, capture)
            end = perf_counter_ns()
            self.note((_ACCUMULATE if what is None else (_ACCUMULATE, what), start, end, 1))
            if self.memory is not None:
                self.memory.see(leaf.grad, end)  # type: ignore[attr-defined]  # a copy, if others hold what came

        return served


def decoded(thread: int, flat: list[Any]) -> Iterator[Record]:
    """What a pass has noted, each with the time until the next one began."""
    before: Any = None
    entries = iter(flat)
    for entry in zip(*[entries] * 4, strict=True):
        if before is not None:
            yield _of_node(thread, before, over=entry[1])
        before = None if entry[0] is None else entry
        if entry[3] == 1:  # a leaf got its gradient: nothing is handed on
            yield _of_node(thread, before, over=entry[2])
            before = None
    if before is not None:
        yield _of_node(thread, before, over=before[2])


def _of_node(thread: int, entry: Any, over: int) -> Record:
    what, start, end, seq = entry
    if isinstance(what, tuple):
        label, detail = what
    else:
        label, detail = what if isinstance(what, str) else _named[what], None
    return NODE, label, start, end, thread, seq, over if detail is None else (over, detail)


def gradients_of(g: Any) -> Detail:
    """What the gradients are that a node gets: shapes, dtypes, strides."""
    parts = list(g) if isinstance(g, Part) else [g]
    return Detail(
        [[] if part is None else list(part.shape) for part in parts],
        [None] * len(parts),
        ["" if part is None else _dtype_of(part) for part in parts],
        [[] if part is None else _strides(getattr(part, "_data", part)) for part in parts],
    )


def _dtype_of(part: Any) -> str:
    return part._spec.dtype.name if isinstance(part, Tensor) else str(part.dtype)
