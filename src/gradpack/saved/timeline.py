"""Bytes held over time, told apart by labels."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

Label = tuple[str, str]  # a tier ("memory", "cpu", "disk"), and what it is that lies there
IN_MEMORY = "memory"
TICK = 2e-9  # seconds: between two changes there is this much at least
ASIDE = frozenset({"cpu", "disk"})  # not the memory where tensors are: on the host what comes from a device, in a file


class Timeline:
    """What was held when: one entry for each change, 18 bytes each.

    The peak is that of all tiers that are not aside: what must fit into memory at once.
    """

    __slots__ = ("_labels", "_numbers", "_sizes", "_times", "labels", "now", "peak", "peak_at")

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
        """Add a change of `by` bytes, not before the last one. Says whether this is a new peak."""
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
        """Bytes held now, without those that are aside."""
        return sum(size for (tier, _), size in self.now.items() if tier not in ASIDE)

    def curve(self) -> list[tuple[float, int]]:
        """The bytes in memory after each change, with its time."""
        aside = {number for label, number in self._numbers.items() if label[0] in ASIDE}
        held, found = 0, []
        for at, number, by in zip(self._times, self._labels, self._sizes, strict=True):
            if number not in aside:
                held += by
                found.append((at, held))
        return found

    def bands(self, count: int = 1000) -> tuple[list[float], list[list[int]]]:
        """At most about `count` moments, and for each label the bytes at these moments.

        Of many changes close to each other, those with the most and the fewest bytes in memory are
        shown, so that no peak is lost. The bytes hold from their moment on to the next.
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
        """Which changes to show: all, or of each stretch of time the first, last, highest and lowest."""
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
