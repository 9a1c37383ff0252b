"""The bytes held over time, for each label of tier and kind."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

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
