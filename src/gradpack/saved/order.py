"""In which order saved tensors are unpacked: as it was the last time, so that they can be fetched before.

A round is everything that was packed since nothing was left of the last. Rounds that pack the same
sizes in the same order are taken to unpack in the same order; where there is none to compare with, the
last packed comes first. A wrong guess costs time only.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from itertools import pairwise
from typing import Any
from weakref import ref

AHEAD = 4  # how many to fetch, at most, before they are asked for
HELD = 3  # how many to hold, at most, because they will be asked for again
LONGEST = 1 << 16  # a round, where graphs overlap so that there is always something left
REMEMBERED = 8  # how many kinds of rounds


class Round:
    """What was packed since the last time that nothing was left."""

    __slots__ = ("kind", "records", "unpacked")

    def __init__(self) -> None:
        self.records: list[ref[Any]] = []
        self.unpacked: list[int] = []
        self.kind = 0  # of the sizes so far


class Order:
    """The order of one policy. Fetches ahead, up to the window of its workers."""

    def __init__(self, workers: Any) -> None:
        self._window = 0 if workers is None else workers.window
        self._now = Round()
        self._seen: OrderedDict[int, dict[int, int]] = OrderedDict()  # kind of round -> place -> the one after
        self._held: deque[ref[Any]] = deque()

    def packed(self, record: Any) -> tuple[Round, int]:
        """Note that a record was packed; its place."""
        now = self._now
        is_over = len(now.records) >= LONGEST or all(found() is None for found in reversed(now.records))
        if now.records and is_over:
            self._learn(now)
            now = self._now = Round()
        now.records.append(ref(record))
        now.kind = hash((now.kind, record.size))
        return now, len(now.records) - 1

    def unpacked(self, place: tuple[Round, int]) -> None:
        """Note that a record was unpacked, and fetch the next ones."""
        round_, index = place
        if len(round_.unpacked) < 2 * len(round_.records):
            round_.unpacked.append(index)
        if not self._window:
            return
        after = self._seen.get(round_.kind)
        size = 0
        for _ in range(AHEAD):
            index = index - 1 if after is None else after.get(index, -1)
            if index < 0:
                return
            record = round_.records[index]()
            if record is not None:
                size += record.size
                if size > self._window and size > record.size:
                    return
                record.fetch()

    def holds(self, record: Any) -> None:
        """Note that a record holds what was unpacked of it: few do at a time."""
        self._held.append(ref(record))
        if len(self._held) > HELD:
            oldest = self._held.popleft()()
            if oldest is not None and oldest is not record:
                oldest.release()

    def _learn(self, done: Round) -> None:
        first = list(dict.fromkeys(done.unpacked))
        if first:
            self._seen[done.kind] = dict(pairwise(first))
            while len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
