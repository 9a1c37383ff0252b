"""In which order saved tensors are unpacked: as it was the last time, so that they can be fetched before.

A round is everything that was packed since nothing was left of the last. Rounds that pack the same
sizes for the same operations in the same order are taken to unpack in the same order; where there is
none to compare with, the last packed comes first. A wrong guess costs time only.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from itertools import islice
from typing import Any
from weakref import ref

AHEAD = 4  # how many to fetch, at most, before they are asked for
HELD = 3  # how many to hold, at most, because they will be asked for again
ON_DEVICE = 64  # how many at most of either where bytes are counted instead
LONGEST = 1 << 16  # a round, where graphs overlap so that there is always something left
REMEMBERED = 8  # how many kinds of rounds


class Round:
    """What was packed since the last time that nothing was left."""

    __slots__ = ("at", "can_wait", "kind", "passes", "records", "unpacked")

    def __init__(self) -> None:
        self.records: list[ref[Any]] = []
        self.unpacked: list[int] = []
        self.kind = 0  # of the sizes so far
        self.at = 0  # how far the order of the last one is through
        self.can_wait = False  # whether there is a record that can be fetched ahead
        self.passes = 1  # of backward that have begun, as far as unpacking shows


class Order:
    """The order of one policy. Fetches ahead, up to so many bytes.

    Attributes:
        window: bytes that may be fetched and not asked for yet. On a device also those that are held.
        is_on_device: are there no limits but bytes?
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self.is_on_device = False
        self._fetched: deque[ref[Any]] = deque()  # and perhaps not asked for yet
        self._now = Round()
        self._seen: OrderedDict[int, list[int]] = OrderedDict()  # kind of round -> what was unpacked, in order
        self._held: deque[ref[Any]] = deque()

    def on_device(self, window: int) -> None:
        """From now on there are records of a device."""
        self.window, self.is_on_device = window, True

    def packed(self, record: Any, sign: Any) -> tuple[Round, int]:
        """Note that a record was packed; its place. Rounds are of one kind whose records have the same signs."""
        now = self._now
        is_over = len(now.records) >= LONGEST or all(found() is None for found in reversed(now.records))
        if now.records and is_over:
            self._learn(now)
            now = self._now = Round()
        now.records.append(ref(record))
        now.can_wait = now.can_wait or record.can_wait
        now.kind = hash((now.kind, record.size, sign))
        return now, len(now.records) - 1

    def unpacked(self, place: tuple[Round, int], passes: int) -> None:
        """Note that a record was unpacked, and in how many passes so far, and fetch the next ones."""
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
            if record.asked < record.uses * round_.passes:  # somebody is to ask for it still
                size += record.size
                if size > self.window and (self.is_on_device or size > record.size):
                    return
                if record.can_wait and not record.is_waiting:
                    self._fetch(record)
            if len(met) > most:
                return

    def _following(self, round_: Round, index: int) -> Iterable[int]:
        """What is to be unpacked after a record, as the last round of this kind went, or by the order of packing."""
        last = self._seen.get(round_.kind)
        if last is None:
            return range(index - 1, -1, -1)
        for start in (round_.at, 0):  # from where it was, or else from anywhere
            try:
                round_.at = last.index(index, start) + 1
                break
            except ValueError:
                continue
        return islice(last, round_.at, None)

    def _fetch(self, record: Any) -> None:
        """Fetch a record, unless what was fetched before and not asked for fills the window: then that goes first."""
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
        """Note that a record holds what was unpacked of it: few do at a time."""
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

    def _learn(self, done: Round) -> None:
        if done.unpacked:
            self._seen[done.kind] = done.unpacked
            while len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
