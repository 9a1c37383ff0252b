"""The data of a recording: `Row`, for one saved tensor, and `Timeline`, the bytes held over time by tier and kind."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter


@dataclass(slots=True)
class Row:
    """One tensor saved by one operation. Times are seconds since the recording began."""

    id: int
    op: str  # the operation that saved it
    slot: str  # the name under which its node saves it: an argument, `out`, or a name of the operation's own
    kind: str  # one of `info.KINDS`
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None  # in elements; None where the array library has none
    device: str
    bytes: int  # of its distinct elements
    storage: int  # the number of its storage: rows with the same number share it
    storage_bytes: int  # of the whole storage
    saved_at: float
    phase: str  # "forward" or "backward"; saves under create_graph=True are "backward"
    module: str = ""  # the path of the module whose forward was running, "" outside of modules
    file: str = ""
    line: int = 0
    function: str = ""
    policy: str = ""  # the policy or hook that packed it, "" for none
    tier: str = "memory"  # where the packed bytes are
    packed_bytes: int | None = None  # of the packed form, None if it is not packed or not known
    charged: int = 0  # bytes charged to this row: 0 if another row held the memory first
    pack_ms: float | None = None
    unpack_ms: float | None = None  # of all unpacks together
    unpacks: int = 0
    released_at: float | None = None  # None while it is held
    changes: list[tuple[float, int]] = field(default_factory=list)  # (time, bytes in memory charged to it since then)
    until: float | None = None  # when the memory charged to it was freed; None while it is held
    name: str = ""  # given by `saved.name`
    exact: bool = False  # whether a loss or statistics depend on it, so that it must not be rounded
    recompute_ms: float | None = None  # None if it cannot be recomputed from what else is held
    needs: list[int] = field(default_factory=list)  # the storages that it would be recomputed from
    shares: list[int] = field(default_factory=list)  # ids of some other rows that share the memory

    def held_at(self, moment: float) -> int:
        """Return the bytes in memory that were charged to this row at a moment."""
        at = bisect_right(self.changes, moment, key=itemgetter(0))
        return self.changes[at - 1][1] if at else 0

    def change(self, at: float, by: int) -> None:
        """Add `by` bytes to what is charged to this row from time `at` on."""
        now = by + (self.changes[-1][1] if self.changes else 0)
        self.changes.append((at, now))


Label = tuple[str, str]  # (tier, kind): the tier is "memory", "cpu" or "disk"
IN_MEMORY = "memory"
TICK = 2e-9  # seconds: the least time between two changes
ASIDE = frozenset({"cpu", "disk"})  # tiers of offloaded bytes, which do not count as memory of the tensors' device


class Timeline:
    """The changes of the bytes held, 18 bytes for each.

    The peak is the most bytes in memory at once, without the tiers in `ASIDE`.
    """

    labels: list[Label]
    now: dict[Label, int]
    peak: int
    peak_at: float

    def __init__(self) -> None:
        self._times, self._labels, self._sizes = array("d"), array("H"), array("q")
        self._numbers: dict[Label, int] = {}
        self.labels, self.now = [], {}
        self.peak, self.peak_at = 0, 0.0

    def __len__(self) -> int:
        return len(self._times)

    def change(self, label: Label, by: int, at: float) -> bool:
        """Add a change of `by` bytes at a time not before the last one; return whether this is a new peak."""
        number = self._numbers.get(label)
        if number is None:
            number = self._numbers[label] = len(self.labels)
            self.labels.append(label)
            self.now[label] = 0
        self._times.append(at)
        self._labels.append(number)
        self._sizes.append(by)
        self.now[label] += by
        memory = self.in_memory
        if memory <= self.peak:
            return False
        self.peak, self.peak_at = memory, at
        return True

    @property
    def in_memory(self) -> int:
        """Bytes held now, without the tiers in `ASIDE`."""
        return sum(size for (tier, _), size in self.now.items() if tier not in ASIDE)

    def curve(self) -> list[tuple[float, int]]:
        """Return (seconds, bytes in memory) after each change."""
        aside = {number for label, number in self._numbers.items() if label[0] in ASIDE}
        changes = zip(self._times, self._labels, self._heights(), strict=True)
        return [(at, held) for at, number, held in changes if number not in aside]

    def bands(self, count: int = 1000) -> tuple[list[float], list[list[int]]]:
        """Return at most about `count` moments, and for each label the bytes held from each moment to the next.

        Of many changes close to each other, those with the most and the fewest bytes in memory are
        included, so that no peak is lost.
        """
        picked = self._pick(count)
        times: list[float] = []
        series: list[list[int]] = [[] for _ in self.labels]
        held = [0] * len(self.labels)
        for i, (at, number, by) in enumerate(zip(self._times, self._labels, self._sizes, strict=True)):
            held[number] += by
            if i in picked:
                times.append(at)
                for values, value in zip(series, held, strict=True):
                    values.append(value)
        return times, series

    def _pick(self, count: int) -> set[int] | range:
        """Return the indices of the changes to show: all, or first, last, highest and lowest of each interval."""
        total = len(self._times)
        if total <= count:
            return range(total)
        heights = self._heights()
        start, end = self._times[0], self._times[-1]
        stretches = max(1, count // 4)
        width = (end - start) / stretches or 1.0
        picked: set[int] = set()
        first = 0
        for i in range(1, total + 1):
            if i == total or int((self._times[i] - start) / width) != int((self._times[first] - start) / width):
                members = range(first, i)
                picked |= {first, i - 1, max(members, key=heights.__getitem__), min(members, key=heights.__getitem__)}
                first = i
        return picked

    def _heights(self) -> Sequence[int]:
        aside = {number for label, number in self._numbers.items() if label[0] in ASIDE}
        heights, held = array("q"), 0
        for number, by in zip(self._labels, self._sizes, strict=True):
            held += 0 if number in aside else by
            heights.append(held)
        return heights
