"""Packed data of policies: one record for each storage and version, one handle for each saved tensor.

The order in which saved tensors are unpacked is predicted from earlier steps, for prefetching. A round is all records
packed from a moment when none was alive until none is alive again. Rounds that pack the same sizes for the same
operations in the same order are expected to unpack in the same order; for the first of its kind, the reverse order of
packing is assumed. A wrong prediction costs time only.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from copy import copy
from itertools import islice
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from ..storage import tensor_like, undense, weakly
from .background import Job, JobQueue
from .codec import CopyLimits, Stage
from .transfers import Transfers


class PackingPlan(NamedTuple):
    """How a storage is to be packed.

    Attributes:
        steps: the stages that it goes through.
        workers: the queue that packs it in the background; None to pack it at once.
        order: the order in which records are prefetched.
        row: the size of the array's last dimension, 1 if not known.
        known: whether the operation that saves it is known.
        sign: identifies the record in the order, together with its size.
        limits: the limits of copies from and to a device.
        stats: the counts to which such copies are added.
    """

    steps: tuple[Stage, ...]
    workers: JobQueue | None
    order: PrefetchOrder
    row: int
    known: bool
    sign: Any
    limits: CopyLimits
    stats: Transfers


class PackedStorage:
    """The packed data of one storage at one version.

    Args:
        flat: its elements in host memory, 1-D; None if they never come there.
        layout: the layout for `undense` if only a tensor's distinct elements are packed, None for a whole storage.
        alive: a function that returns None once the original storage is freed.
        size: bytes of the elements.
    """

    _error: BaseException | None = None

    def __init__(self, flat: Any, layout: Any, how: PackingPlan, alive: Callable[[], Any], size: int) -> None:
        self._workers = how.workers
        self.told: tuple[Any, ...] = ()  # callbacks, called with the arrays that it consists of once it is stored
        self._source: Any = flat
        self.layout, self.steps, self.alive, self._order = layout, how.steps, alive, how.order
        self._parts: Any = None
        self._extras: list[Any] = []
        self._lock = threading.Lock()
        self._unpacked: ref[Any] | None = None  # the array that was unpacked last, weakly
        self._held: Any = None  # the same, while further uses in the pass are expected
        self.handles = 0
        self.asked = self.uses = 0  # how often it was unpacked in all, and how often it will be in one backward pass
        self.nbytes = self.size = size  # bytes after packing (set in `encode`), and before
        self.job: Job | None = None
        self._ahead: Job | None = None
        self.counter = [0]  # the version counter of the unpacked array
        self._drawn = tuple([stage.draw(how.row, how.known) for stage in how.steps])
        self._place = how.order.packed(self, how.sign)

    @property
    def tier(self) -> str:
        return next((stage.tier for stage in reversed(self.steps) if stage.tier), "memory")

    @property
    def bytes_on_disk(self) -> int:
        """The bytes of this record in a file."""
        pieces = [piece for extra in self._extras if isinstance(extra, list) for piece in extra]
        return sum(piece.size for piece in pieces if hasattr(piece, "file"))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays of this record in memory: the source before it is packed, the packed arrays after."""
        return (self._source,) if self._parts is None else self._parts

    @property
    def error(self) -> BaseException | None:
        """The exception that packing raised, or None."""
        return self._error if self.job is None or self.job.error is None else self.job.error

    @property
    def holding(self) -> Any:
        """The unpacked array that is held for further uses; None if none is."""
        return self._held

    def encode(self) -> None:
        """Run all stages on the source. Called on the program's thread or on a background thread."""
        parts: tuple[Any, ...] = (self._source,)
        extras = []
        for stage, drawn in zip(self.steps, self._drawn, strict=True):
            parts, extra = stage.encode(parts, drawn)
            extras.append(extra)
        self.nbytes = sum([part.nbytes for part in parts])
        self._extras = extras
        self._parts = parts
        self._source = None
        for tell in self.told:
            tell(parts)

    def settle(self) -> None:
        """Wait until it is packed. An error is raised when it is unpacked."""
        if self.job is not None and self._workers is not None:
            self._workers.finish(self.job)

    def before_write(self, _: Any) -> None:
        """Wait until it is packed: its source is about to be written to."""
        self.settle()

    def flat(self) -> Any:
        """Unpack the elements as a 1-D array. Tensors that are in use at the same time share it."""
        self._finish_ahead()
        self.asked += 1
        array = self._forwarded()
        if array is None:
            self.settle()
            with self._lock:
                array = self._held
                if array is None or self.counter[0]:
                    array = self._decoded()
                is_last = self.is_last
                self._held = None if is_last else array
            if not is_last:
                self._order.holds(self)
        self._tell_order()
        return array

    def _finish_ahead(self) -> None:
        """Wait for the prefetch in flight. If it failed, unpacking is tried again, and raises there."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and self._workers is not None:
            self._workers.finish(ahead)

    def _forwarded(self) -> Any:
        """Return the source, read-only, if it is not packed yet and all stages are lossless; else None."""
        source = self._source
        job = self.job
        if source is None or job is None or job.done or not all(stage.lossless for stage in self.steps):
            return None
        shown = source.view()
        shown.flags.writeable = False
        return shown

    def _decoded(self) -> Any:
        array = None if self._unpacked is None or self.counter[0] else self._unpacked()
        if array is None:
            array = self._decoded_anew()
            self._unpacked, self.counter = ref(array), [0]
        return array

    def _decoded_anew(self) -> Any:
        if self.error is not None:
            raise afresh(self.error) from None
        parts = self._parts
        for stage, extra in zip(reversed(self.steps), reversed(self._extras), strict=True):
            parts = stage.decode(parts, extra)
        (array,) = parts
        return array

    def fetch(self) -> None:
        """Prefetch: unpack it in the background before it is needed."""
        workers = self._workers
        if workers is None or self._ahead is not None or self._held is not None or self._parts is None:
            return
        self._ahead = workers.add(weakly(self._fetched), 0)

    def _fetched(self) -> None:
        with self._lock:
            if self._held is None:
                self._held = self._decoded()

    @property
    def is_last(self) -> bool:
        """Whether the current use is the last one expected in this backward pass."""
        return self.handles < 2 or self.asked % self.uses == 0

    def _tell_order(self) -> None:
        """Note in the order that it was unpacked, which prefetches the next records."""
        self._order.unpacked(self._place, -(-self.asked // max(self.uses, 1)))

    @property
    def can_wait(self) -> bool:
        """Whether it can be prefetched."""
        return self._workers is not None

    @property
    def is_waiting(self) -> bool:
        """Whether it was prefetched and not used yet."""
        return self._ahead is not None

    def release(self) -> None:
        """Drop the unpacked or prefetched array that is held."""
        self._held = self._ahead = None

    def tensor(self, recipe: Any, like: Any) -> Any:
        """Unpack one tensor. `recipe` is (shape, dtype, byte offset, strides) in the storage; None for all of it."""
        flat = self.flat()
        if type(like) is not tuple and not flat.flags.writeable:
            flat = flat.copy()  # torch has no read-only tensors
        if recipe is None:
            array = undense(flat, self.layout)
        else:
            shape, dtype, offset, strides = recipe
            array = np.ndarray(shape, dtype, flat, offset, strides)
        return tensor_like(array, like, self.counter)


def afresh(error: BaseException) -> BaseException:
    """Return a copy, without traceback, of an exception from another thread, to be raised here.

    A new copy each time: a raised exception refers to the raising frames, and would keep the record alive in a cycle.
    """
    try:
        new = copy(error)
    except Exception:  # its class cannot be copied from its `args`
        new = RuntimeError(f"{type(error).__name__}: {error}")
    new.__traceback__ = None
    if hasattr(new, "__notes__"):
        new.__notes__ = list(new.__notes__)
    return new


class PackedTensor:
    """The packed form of one saved tensor: a record, and the place of the tensor in its storage."""

    def __init__(self, record: PackedStorage, recipe: Any, like: Any) -> None:
        self.record, self.recipe, self.like = record, recipe, like
        record.handles += 1
        record.uses += 1

    def __del__(self) -> None:
        record = getattr(self, "record", None)  # missing if `__init__` was interrupted
        if record is not None:
            record.handles -= 1

    @property
    def nbytes(self) -> int:
        return self.record.nbytes

    def held(self, tell: Callable[[Any], None]) -> Any:
        """Return the arrays that this keeps in memory; `tell` is called with those that replace them once packed."""
        if tell not in self.record.told:
            self.record.told += (tell,)
        return self.record.arrays

    def tensor(self) -> Any:
        return self.record.tensor(self.recipe, self.like)


AHEAD = 4  # most records to prefetch
HELD = 3  # most unpacked records to hold for further uses
ON_DEVICE = 64  # the same for both on a device, where bytes are limited, too
LONGEST = 1 << 16  # most records of a round, where graphs overlap so that some are always alive
REMEMBERED = 8  # kinds of rounds to remember


class PrefetchRound:
    """The records packed since the last time that none was alive."""

    def __init__(self) -> None:
        self.records: list[ref[Any]] = []
        self.unpacked: list[int] = []
        self.kind = 0  # a hash of the sizes and signs so far
        self.at = 0  # the position in the order of the last round of this kind
        self.can_wait = False  # whether any record can be prefetched
        self.passes = 1  # backward passes begun, judged by how often records were unpacked


class PrefetchOrder:
    """The order of one policy's records; prefetches them, within a window of bytes.

    Attributes:
        window: bytes that may be prefetched and not used yet; on a device, also bytes held for further uses.
        is_on_device: whether records are on a device: then bytes are the limit, rather than `AHEAD` and `HELD`.
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self.is_on_device = False
        self._fetched: deque[ref[Any]] = deque()  # prefetched records, some of them not used yet
        self._now = PrefetchRound()
        self._seen: OrderedDict[int, list[int]] = OrderedDict()  # kind of round -> indices of records as unpacked
        self._held: deque[ref[Any]] = deque()

    def on_device(self, window: int) -> None:
        """Switch to the limits for records of a device."""
        self.window, self.is_on_device = window, True

    def packed(self, record: Any, sign: Any) -> tuple[PrefetchRound, int]:
        """Note that a record was packed; return its place. Rounds with equal sizes and signs are of one kind."""
        now = self._now
        is_over = len(now.records) >= LONGEST or all(found() is None for found in reversed(now.records))
        if now.records and is_over:
            self._learn(now)
            now = self._now = PrefetchRound()
        now.records.append(ref(record))
        now.can_wait = now.can_wait or record.can_wait
        now.kind = hash((now.kind, record.size, sign))
        return now, len(now.records) - 1

    def unpacked(self, place: tuple[PrefetchRound, int], passes: int) -> None:
        """Note that a record was unpacked, in its `passes`-th backward pass, and prefetch the next ones."""
        round_, index = place
        round_.passes = max(round_.passes, passes)
        if len(round_.unpacked) < 4 * len(round_.records):
            round_.unpacked.append(index)
        if not self.window or not round_.can_wait:
            return
        size, met, records = 0, {index}, round_.records
        most = ON_DEVICE if self.is_on_device else AHEAD
        for one in islice(self._following(round_, index), 4 * most):
            record = None if one in met else records[one]()
            if record is None:
                continue
            met.add(one)
            if record.asked < record.uses * round_.passes:  # it will be used again in this pass
                size += record.size
                if size > self.window and (self.is_on_device or size > record.size):
                    return
                if record.can_wait and not record.is_waiting:
                    self._fetch(record)
            if len(met) > most:
                return

    def _following(self, round_: PrefetchRound, index: int) -> Iterable[int]:
        """Return the indices expected after a record, from the last round of this kind, or in reverse of packing."""
        last = self._seen.get(round_.kind)
        if last is None:
            return range(index - 1, -1, -1)
        for start in (round_.at, 0):  # search from the current position on, then from the start
            try:
                round_.at = last.index(index, start) + 1
                break
            except ValueError:
                continue
        return islice(last, round_.at, None)

    def _fetch(self, record: Any) -> None:
        """Prefetch a record; first drop older prefetched records that are not used yet if the window is full."""
        waiting = [found for known in self._fetched if (found := known()) is not None and found.is_waiting]
        size = record.size + sum([found.size for found in waiting])
        for found in waiting:
            if size <= self.window:
                break
            found.release()
            size -= found.size
        self._fetched = deque([ref(found) for found in waiting if found.is_waiting])
        record.fetch()
        if record.is_waiting:
            self._fetched.append(ref(record))

    def holds(self, record: Any) -> None:
        """Note that a record holds its unpacked array for further uses, and release the oldest if too many do."""
        self._held.append(ref(record))
        while self._held and self._is_too_much():
            oldest = self._held.popleft()()
            if oldest is not None and (self.is_on_device or oldest is not record):
                oldest.release()

    def _is_too_much(self) -> bool:
        if not self.is_on_device:
            return len(self._held) > HELD
        records = {id(record): record for known in self._held if (record := known()) is not None}
        held = sum([record.size for record in records.values() if record.holding is not None])
        return len(self._held) > ON_DEVICE or held > self.window

    def _learn(self, done: PrefetchRound) -> None:
        if done.unpacked:
            self._seen[done.kind] = done.unpacked
            while len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
