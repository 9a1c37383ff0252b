"""The order in which saved tensors are unpacked, predicted from earlier steps, for prefetching.

A round is all records packed from a moment when none was alive until none is alive again. Rounds that
pack the same sizes for the same operations in the same order are expected to unpack in the same order;
for the first of its kind, the reverse order of packing is assumed. A wrong prediction costs time only.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from itertools import islice
from typing import Any
from weakref import ref

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
