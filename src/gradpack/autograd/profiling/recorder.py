"""Recording for profilers, with as little overhead as possible. `build` makes events of the records.

A record is a tuple: kind, name, start and end in nanoseconds, thread, sequence number of the node
(as in `Node.seq`: falling from 0), and details, None for most.
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
from ...core.memory_tracking import Tracker
from ...core.tensor import Tensor
from ...declare.generate import profiling as clocks
from ...declare.generate.profiling import ANNOTATION, FUNCTION, MEMORY, NODE, OP, sequence_of
from ...graph.node import AccumulateGrad, Node, NoGradEdge, OutputSlot, PartialGrads, TransformInput

Call = Callable[..., Any]
Record = tuple[int, str, int, int, int, int | None, Any]


class Detail(NamedTuple):
    """Optional details of a call."""

    shapes: list[Any] | None = None  # of each argument; [] for one that is no tensor, a list for a list of tensors
    values: list[Any] | None = None  # the arguments that are no tensors; None for tensors
    dtypes: list[str] | None = None
    strides: list[Any] | None = None  # like the shapes, in elements
    stack: list[str] | None = None  # the callers, innermost first
    modules: tuple[str, ...] = ()  # the modules that are running, outermost first


class Recorder:
    """Records operations, nodes and labelled blocks, in the thread or task where it was started."""

    def __init__(
        self,
        *,
        shapes: bool = False,
        stack: bool = False,
        memory: bool = False,
        modules: bool = False,
        outer: Recorder | None = None,
    ) -> None:
        # Flat lists of numbers and strings: tuples would make the garbage collector traverse them.
        # Calls with nothing but times have fewer entries: every entry costs time.
        self._flat: list[Any] = []
        self._calls: list[Any] = []
        self.passes: list[tuple[int, list[Any]]] = []  # of each backward pass: see `PassObserver`
        self.note = self._flat.extend
        self.shapes, self.stack, self.modules, self.outer = shapes, stack, modules, outer
        self.memory: Tracker | None = Tracker(self._changed) if memory else None
        self.watch: Tracker | None = None if outer is None else outer.watch  # counts memory around: see `MemoryWatch`
        self.running: tuple[str, ...] = ()  # the modules that are running, outermost first
        self.append = None if shapes or stack or memory or modules or self.watch is not None else self._calls.extend
        self._open = False  # has it started, and not yet passed its records to the recorder around it?
        self.start_ns = self.end_ns = perf_counter_ns()

    @property
    def trackers(self) -> list[Tracker]:
        """The trackers of memory: its own, and that around it."""
        return [tracker for tracker in (self.memory, self.watch) if tracker is not None]

    @property
    def records(self) -> list[Record]:
        """The records, in order of their ends."""
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

    def around(self, op: Any, name: str, run: Call, values: tuple[Any, ...], mode: Mode, kind: int = OP) -> Any:
        """Run an operation, and record it with the requested details."""
        detail = _described(values) if self.shapes else _NOTHING
        detail = detail._replace(stack=callers(2) if self.stack else None, modules=self.running)
        for tracker in self.trackers:
            tracker.know(values)
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
        for tracker in self.trackers:
            tracker.see(out, end)
        return out

    def _changed(self, change: int, time: int, place: device) -> None:
        self.note((MEMORY, place.type, time, time, get_ident(), None, change))

    def nodes(self) -> PassObserver:
        """Return an observer for a backward pass."""
        return PassObserver(self)

    def finish(self, events: Any, number: Callable[[int], int]) -> None:
        """Add to the events what only this kind of recorder knows. `number` maps a thread to its number in events."""

    # -- what blocks call --

    def enter(self, name: str, args: str | None) -> Any:
        """Begin a labelled block; returns the token for `leave`."""
        return name, args, perf_counter_ns(), callers(2) if self.stack else None

    def leave(self, token: Any, kind: int = ANNOTATION) -> None:
        """End a labelled block, and record it."""
        name, args, start, stack = token
        detail = None
        if args is not None or stack is not None or self.running:
            detail = Detail(values=None if args is None else [args], stack=stack, modules=self.running)
        self.note((kind, name, start, perf_counter_ns(), get_ident(), None, detail))

    # -- on and off --

    def start(self) -> None:
        """Start recording in this thread or task."""
        self._open = True
        if self.append is not None:
            clocks.begin(self)
        self.start_ns = perf_counter_ns()
        MODE.set(MODE.get().replace(profiler=self))

    def stop(self) -> None:
        """Stop recording, and pass the records to a recorder around. May be interrupted, and called again."""
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
    """The shapes, strides and kinds of arguments, and the values of those that are no tensors."""
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
    """The strides of an array, in elements; `[]` if it has none."""
    return [step // array.itemsize for step in getattr(array, "strides", None) or ()]


_OURS = __name__.partition(".")[0] + "."


def callers(skip: int) -> list[str]:
    """The call stack, innermost first, as `file(line): function`, without calls inside the library."""
    found: list[str] = []
    frame: Any = sys._getframe(skip)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(_OURS) or name.startswith(_OURS + "examples"):
            code = frame.f_code
            found.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return found


# Names of nodes by type. Nodes that torch does not have are attributed to the node before them.
_OURS_ALONE = ""
_labels: dict[type, str | None] = {
    OutputSlot: _OURS_ALONE,
    NoGradEdge: _OURS_ALONE,
    TransformInput: _OURS_ALONE,
    AccumulateGrad: "torch::autograd::AccumulateGrad",
}
_named: dict[type, str] = {}  # names that depend on the type only


def _label(node: Node) -> str:
    """The name of a node; cached by type, for most types."""
    kind = type(node)
    try:
        known = _labels[kind]
    except KeyError:
        op = getattr(kind, "op", None)
        fixed = op is not None and (op.overloads is None or getattr(kind, "is_settled", False))
        known = _labels[kind] = node.name() if fixed else None
        if known is not None:
            _named[kind] = known
    return node.name() if known is None else known


class PassObserver:
    """Observes the nodes of one backward pass.

    The node's own time is one event. From its start to that of the next node (passing on and summing gradients, tensor
    hooks) is another event around it, as in torch: so only starts and ends are recorded, and `decoded` does the rest.
    """

    __slots__ = ("began", "named", "node", "note", "shapes", "thread", "trackers", "what")

    def __init__(self, recorder: Recorder) -> None:
        flat: list[Any] = []
        self.thread = get_ident()
        recorder.passes.append((self.thread, flat))
        self.note = flat.extend  # takes `(what, start, end, seq)`: `what` is a label, a node type, or (label, details)
        self.shapes = recorder.shapes
        self.trackers = recorder.trackers
        self.named: dict[type, str] | None = None if self.shapes or self.trackers else _named
        self.node: Node | None = None  # the running node
        self.began = 0
        self.what: Detail | None = None  # details of its gradients

    def start(self, node: Node, g: Any) -> None:
        """Called before a node runs."""
        if self.shapes:
            self.what = gradients_of(g)
        for tracker in self.trackers if _labels.get(type(node)) != _OURS_ALONE else ():
            tracker.know((g,))
        self.node = node
        self.began = perf_counter_ns()

    def end(self, grads: Any) -> None:
        """Called after a node has run."""
        now = perf_counter_ns()
        node: Any = self.node
        self.node = None
        label = _labels.get(type(node))
        if label is None:
            label = _label(node)
        if label:
            self.note((label if self.what is None else (label, self.what), self.began, now, node.seq))
            for tracker in self.trackers:
                tracker.see(grads, now)

    def close(self) -> None:
        """Called at the end of the pass, also after a failure."""
        if self.node is not None:
            self.end(None)
        now = perf_counter_ns()
        self.note((None, now, now, 0))


def decoded(thread: int, flat: list[Any]) -> Iterator[Record]:
    """Yield the records of a pass; the last item includes the time at which the next node began."""
    before: Any = None
    entries = iter(flat)
    for entry in zip(*[entries] * 4, strict=True):
        if before is not None:
            yield _of_node(thread, before, over=entry[1])
        before = None if entry[0] is None else entry
        if entry[3] == 1:  # AccumulateGrad: no gradient is passed on
            yield _of_node(thread, before, over=entry[2])
            before = None
    if before is not None:
        yield _of_node(thread, before, over=before[2])


def _of_node(thread: int, entry: Any, over: int) -> Record:
    what, start, end, seq = entry
    label, detail = what if isinstance(what, tuple) else (_named.get(what, what), None)
    return NODE, label, start, end, thread, seq, over if detail is None else (over, detail)


def gradients_of(g: Any) -> Detail:
    """The shapes, dtypes and strides of the gradients that a node receives."""
    parts = list(g) if isinstance(g, PartialGrads) else [g]
    return Detail(
        [[] if part is None else list(part.shape) for part in parts],
        [None] * len(parts),
        ["" if p is None else p._spec.dtype.name if isinstance(p, Tensor) else str(p.dtype) for p in parts],
        [[] if part is None else _strides(getattr(part, "_data", part)) for part in parts],
    )
