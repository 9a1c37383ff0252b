"""The data of a recording: one row for each saved tensor, and which bytes were held for which row, and when."""

from __future__ import annotations

from _thread import RLock, get_ident
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from weakref import ref

from ...backends.memory_layout import owner_of
from ...base.modes import MODE, RUN
from ...core.copy_on_write import CopyOnWrite
from ...core.packed import Packed
from ...core.tensor import Tensor
from ..info import SavedInfo, storage_number
from ..policy import Policy
from ..storage import arrays_in
from .document import ASIDE, COMPILING, IN_MEMORY, TICK, Label, Row, Span, Timeline, Totals
from .estimates import OpResult, Provenance, cost

_EXEMPT = ("parameter", "buffer")  # not counted: the model keeps them alive anyway
_COPIED = ("op", "slot", "kind", "strides", "storage_bytes", "module", "exact", "policy")  # fields of `SavedInfo`
_SHARES = 100  # ids to list of rows that share the memory

Key = tuple[str, int]  # a piece of memory: ("storage", its number), or ("stored", ...), ("disk", ...), ("packed", ...)
# (time, row id, id of the backward pass that released it, or None), or (time, key, (bytes by storage, bytes on disk)).
Note = tuple[float, Any, Any]


class ReleaseMarker:
    """An object that a node keeps beside a saved tensor: its `__del__` notes when the tensor is released."""

    def __init__(self, notes: deque[Note], row: int) -> None:
        self._notes, self._id = notes, row

    def __del__(self) -> None:
        # May run at any moment, in any thread: only append a note, which `RecordingLog.settle` processes.
        running = RUN.get()
        self._notes.append((perf_counter(), self._id, None if running is None else id(running)))


@dataclass(slots=True)
class _HeldMemory:
    """One piece of memory that saved tensors keep alive."""

    label: Label
    size: int  # bytes counted; 0 for parameters and buffers
    row: Row  # the row that is charged with it
    saves: dict[int | Key, None] = field(default_factory=dict)  # its holders now: ids of rows, and keys ("stored", ...)
    parts: list[Key] = field(default_factory=list)  # of a key ("stored", ...): the memory that it consists of now


@dataclass(slots=True)
class _LiveRow:
    """A row that is not released yet, and the keys of the memory that it holds."""

    row: Row
    info: SavedInfo
    made: OpResult | None
    keys: list[Key] = field(default_factory=list)


class RecordingLog:
    """All rows and totals of a recording. `Record` writes and reads them.

    Arguments that are times are of `perf_counter`; times in rows and spans are seconds since the start.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.start = self._last = perf_counter()
        self.rows: dict[int, Row] = {}
        self.timeline, self.totals, self.origins = Timeline(), Totals(), Provenance()
        self.spans: list[Span] = []
        self.loops: list[Span] = []  # when loops were compiled
        self.forgotten = 0
        self.notes: deque[Note] = deque()
        self.lock = RLock()
        self._live: dict[int, _LiveRow] = {}
        self._held: dict[Any, _HeldMemory] = {}
        self._fresh: list[_LiveRow] = []  # rows whose recomputation cost is not known yet
        self._parameters: set[int] = set()
        self._places: dict[Any, tuple[str, int, str]] = {}
        self._pass: int | None = None  # the backward pass of the last span
        self._passes: dict[int, int] = {}  # for each thread, how many backward passes are running, nested
        self._beyond = 0  # rows added beyond the limit since `_forget_some` ran last

    def ran(self, op: Any, values: Iterable[Any], outs: Sequence[Tensor], seconds: float) -> None:
        """Add an operation that ran. That loops were compiled in it is no part of its time."""
        self.totals.ops += 1
        begun = perf_counter() - self.start - seconds
        for span in reversed(self.loops):
            if span.start < begun:
                break
            seconds -= (span.end or span.start) - span.start
        self.origins.add(op, values, outs, max(0.0, seconds))

    def compiled(self, seconds: float, now: float) -> None:
        """Add a compilation of loops that has just ended."""
        start, end = now - self.start - seconds, now - self.start
        while self.loops and self.loops[-1].start >= start:  # on another thread, meanwhile
            self.loops.pop()
        if self.loops:
            start = max(start, self.loops[-1].end or 0.0)
        self.loops.append(Span(COMPILING, start, end))

    @property
    def seconds(self) -> float:
        """Seconds from the start to the last entry."""
        return self._last - self.start

    # --- saves ---

    def add(self, info: SavedInfo, tensor: Tensor, packed: Packed | None, now: float, running: Any) -> ReleaseMarker:
        """Add a row for a saved tensor; return the `ReleaseMarker` that its node keeps with it."""
        self.settle()
        if self._fresh and self._fresh[0].info.node is not info.node:
            self._find_costs()
        at = self._at(now)
        row = self._row(info, at, self._phase(at, None if running is None else id(running)))
        live = self._live[row.id] = _LiveRow(row, info, self.origins.of(owner_of(tensor._data), info.version))
        self.rows[row.id] = row
        totals = self.totals
        totals.saves += 1
        totals.saved_bytes += row.bytes
        hooks = MODE.get().hooks
        pack = None if hooks is None else hooks[0]
        handle = None if packed is None else packed.handle
        is_left = packed is None or type(handle) is CopyOnWrite
        if isinstance(getattr(pack, "__self__", None), Policy) and not info.policy:  # a policy may leave it as it is
            is_left = is_left or (isinstance(handle, Tensor) and handle._data is tensor._data)
        if is_left:
            self._hold(row, ("storage", row.storage), row.storage_bytes, row.id)
        else:
            row.pack_ms = info.pack_seconds * 1e3
            totals.pack_ms += row.pack_ms
            row.policy = row.policy or getattr(pack, "__qualname__", type(pack).__name__)
            self._hold_packed(live, handle)
        if row.charged:
            self._fresh.append(live)
        self._beyond += row.id >= self.limit
        return ReleaseMarker(self.notes, row.id)

    def _row(self, info: SavedInfo, at: float, phase: str) -> Row:
        where, file, line, function = info.where, "", 0, ""
        if where is not None:
            key = (where._code, where._reached)
            if key not in self._places:
                self._places[key] = where.file, where.line, where.function
            file, line, function = self._places[key]
        return Row(
            id=self.totals.saves,
            shape=tuple(info.shape),
            dtype=info.dtype.name,
            device=str(info.device),
            bytes=info.nbytes,
            storage=info.storage or 0,
            saved_at=at,
            phase=phase,
            file=file,
            line=line,
            function=function,
            name=info.name or "",
            tier=info.tier or IN_MEMORY,
            **{name: getattr(info, name) for name in _COPIED},
        )

    def _hold_packed(self, live: _LiveRow, handle: Any) -> None:
        """Count what a pack hook returned: what our policies keep; else `info.packed_bytes`, or the arrays in it."""
        row, told = live.row, live.info.packed_bytes
        handle = unwrapped(handle)
        if hasattr(handle, "held"):
            self._hold_stored(live, handle)
        elif told is not None:
            row.packed_bytes = told
            self._hold(row, ("packed", id(handle)), told, row.id)
        elif (sizes := _sizes(arrays_in(handle, _no_more))) or isinstance(handle, tuple | list):
            row.packed_bytes = sum(sizes.values())
            for number, size in sizes.items():
                self._hold(row, ("storage", number), size, row.id)

    def _hold_stored(self, live: _LiveRow, handle: Any) -> None:
        """Count what a policy has stored, once for all tensors that share it."""
        stored = getattr(handle, "record", handle)
        key = ("stored", storage_number(stored))
        row, held = live.row, self._held.get(key)
        live.keys.append(key)
        if held is None:
            held = self._held[key] = _HeldMemory((row.tier, row.kind), 0, row)
            notes, weak = self.notes, ref(stored)

            def tell(parts: Any) -> None:  # may be called on any thread
                mine = weak()
                if mine is not None:
                    sizes = _sizes(arrays_in(parts, _no_more))
                    notes.append((perf_counter(), key, (sizes, getattr(mine, "bytes_on_disk", 0))))

            sizes = _sizes(arrays_in(handle.held(tell), _no_more))
            self._keep(key, held, sizes, getattr(stored, "bytes_on_disk", 0))
        else:
            row.packed_bytes = held.row.packed_bytes
            self._share(row, held)
        held.saves[row.id] = None

    def _keep(self, key: Key, held: _HeldMemory, sizes: dict[int, int], on_disk: int) -> None:
        """Set the memory that a stored record consists of now: bytes by storage number, and bytes on disk."""
        before, held.parts = held.parts, []
        row = held.row
        row.packed_bytes = sum(sizes.values()) + on_disk
        row.charged = 0
        where = row.tier if row.tier == "cpu" else IN_MEMORY
        for number, size in sizes.items():
            held.parts.append(("storage", number))
            self._hold(row, ("storage", number), size, key, where)
        if on_disk:
            held.parts.append(("disk", key[1]))
            self._hold(row, ("disk", key[1]), on_disk, key, "disk")
        for part in before:
            self._drop(part, key)
        row.until = None

    def _hold(self, row: Row, key: Key, size: int, holder: int | Key, tier: str = "") -> None:
        """Count a piece of memory once, charged to the first row that holds it, and add a holder."""
        totals = self.totals
        if holder == row.id:
            self._live[row.id].keys.append(key)
        held = self._held.get(key)
        if held is None:
            counted = size
            if row.kind in _EXEMPT and key == ("storage", row.storage):
                counted = 0
                if row.storage not in self._parameters:
                    self._parameters.add(row.storage)
                    totals.parameter_bytes += size
            held = self._held[key] = _HeldMemory((tier or row.tier, row.kind), counted, row)
            totals.storages += 1
            totals.distinct_bytes += counted
            totals.packed_bytes += counted if row.packed_bytes is not None else 0
            row.charged += counted
            if counted:
                self._change(held, counted)
        elif holder == row.id:
            self._share(row, held)
        held.saves[holder] = None

    def _share(self, row: Row, held: _HeldMemory) -> None:
        row.shares = [other for other in held.saves if isinstance(other, int)][-_SHARES:]
        for other in row.shares:
            shares = self._live[other].row.shares
            if len(shares) < _SHARES:
                shares.append(row.id)

    def _find_costs(self) -> None:
        """Set the recomputation cost of the newest rows, now that everything that their operation saved is known."""
        for live in self._fresh:
            found = cost(live.made, lambda number: ("storage", number) in self._held)
            if found is not None:
                live.row.recompute_ms, live.row.needs = found
        self._fresh.clear()

    # --- releases ---

    def settle(self) -> None:
        """Process the notes of released tensors and of records that were stored."""
        notes = self.notes
        if notes and self._fresh:
            self._find_costs()
        while notes:
            moment, what, more = notes.popleft()
            at = self._at(moment)
            if isinstance(what, tuple):
                held = self._held.get(what)
                if held is not None:
                    self._keep(what, held, *more)
                continue
            live = self._live.pop(what)
            if more is not None:
                self._phase(at, more)
            live.row.released_at = at
            _copy_times(live)
            self.totals.unpack_ms += live.info.unpack_seconds * 1e3
            self.totals.unpacks += live.info.unpacks
            for key in live.keys:
                self._drop(key, what)
        if self._beyond > max(100, self.limit // 10):
            self._forget_some()

    def _drop(self, key: Key, holder: int | Key) -> None:
        """Remove one holder of a piece of memory; the last one frees it."""
        held = self._held[key]
        del held.saves[holder]
        if held.saves:
            return
        del self._held[key]
        at = self._last - self.start
        for part in held.parts:
            self._drop(part, key)
        held.row.until = at
        if held.size:
            self._change(held, -held.size)

    def _change(self, held: _HeldMemory, by: int) -> None:
        at = self._last - self.start
        self._last += TICK  # so that no two changes have the same time
        self.timeline.change(held.label, by, at)
        if held.label[0] not in ASIDE:
            held.row.change(at, by)

    def _forget_some(self) -> None:
        """Delete rows beyond the limit, except those of memory that is held now or was held at the peak."""
        peak = self.timeline.peak_at
        for row in [row for row in self.rows.values() if row.id >= self.limit and row.id not in self._live]:
            if not row.held_at(peak) and not (row.charged and row.until is None):
                del self.rows[row.id]
                self.forgotten += 1
        self._beyond = 0

    def look(self) -> RecordingLog:
        """Process all notes, update costs and times of all rows, and return the log."""
        with self.lock:
            self.settle()
            self._find_costs()
            for live in self._live.values():
                _copy_times(live)
        return self

    # --- time ---

    def _at(self, moment: float) -> float:
        self._last = max(self._last, moment)  # threads may leave notes out of order
        return self._last - self.start

    def backward(self, begins: bool, now: float, running: Any) -> None:
        """Note that a backward pass begins or ends. A nested pass counts as part of the outer one."""
        self.settle()
        at = self._at(now)
        if begins and not any(self._passes.values()):
            self._pass = None  # so that `_phase` begins a new span
        depth = 0 if running is None else running.depth + 1
        if begins:
            self._passes[get_ident()] = depth
        self._phase(at, id(running))
        if not begins:
            self._passes[get_ident()] = depth

    def _phase(self, at: float, running: int | None) -> str:
        """Extend or add a span, and return its name: "backward" for each backward pass, "forward" for all before."""
        name = "forward" if running is None else "backward"
        last = self.spans[-1] if self.spans else None
        same = name == "forward" or running == self._pass or (any(self._passes.values()) and self._pass is not None)
        if last is not None and last.name == name and same:
            last.end = at
        else:
            if last is not None and name == "backward" and last.name == "forward":
                last.end = at
            self.spans.append(Span(name, at, at))
        self._pass = running
        return name


def unwrapped(handle: Any) -> Any:
    """Return the innermost packed object: a combined policy wraps it to note which of its parts packed it."""
    while hasattr(handle, "packed") and hasattr(handle, "policy"):
        handle = handle.packed
    return handle


def _sizes(arrays: Iterable[Any]) -> dict[int, int]:
    """Return the bytes of the storage of each array, by storage number."""
    return {storage_number(whole): int(whole.nbytes) for whole in map(owner_of, arrays)}


def _no_more(arrays: object) -> None:
    """A `tell` callback that ignores the arrays."""


def _copy_times(live: _LiveRow) -> None:
    row, info = live.row, live.info
    row.unpacks = info.unpacks
    row.unpack_ms = info.unpack_seconds * 1e3 if info.unpacks else None
