"""The ways in which each saved tensor may be kept, and the cost of choosing one for each, as plain data.

`outcome` defines the cost; `assignment` computes the same, incrementally where one choice changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

NEVER = 1e6  # seconds: the penalty of a choice that must not be made, larger than any real cost


class BudgetLimits(NamedTuple):
    """Bytes allowed: on the tensors' device (`limit`), on disk, in host memory."""

    limit: int
    disk: int = 0
    host: float = float("inf")


@dataclass(frozen=True)
class Choice:
    """One way of keeping a tensor.

    Attributes:
        name: "keep", "recompute", or the name of a `Method`, such as "disk".
        nbytes: bytes in the memory of the tensor's device, from saving to last use.
        disk: bytes on disk in that time.
        host: bytes in host memory in that time.
        seconds: the time that it adds to a step.
        needs: indices of the items that recomputing this one starts from. Those that are recomputed themselves are in
            memory from that moment on, and those that are packed are unpacked once more.
        fetch: the part of `seconds` for unpacking.
        rounds: whether it is lossy. Then no other item may be recomputed from it.
        stays: whether the unpacked tensor is held from the first use to the last. If not, each use unpacks it anew.
    """

    name: str
    nbytes: int
    seconds: float
    disk: int = 0
    needs: tuple[int, ...] = ()
    fetch: float = 0.0
    rounds: bool = False
    host: int = 0
    stays: bool = True

    @cached_property
    def takes(self) -> tuple[int, int, int]:
        """The bytes that count against each limit, in the order of `BudgetLimits`."""
        return self.nbytes, self.disk, self.host

    @property
    def anew(self) -> float:
        """Seconds for unpacking or recomputing it once more."""
        return self.seconds if self.is_made_again else self.fetch

    @cached_property
    def is_made_again(self) -> bool:
        return self.name == "recompute"


@dataclass(frozen=True)
class Item:
    """A saved tensor: the choices for it, and its lifetime. Times are integers that give the order only.

    Attributes:
        choices: the first is to keep it as it is.
        born: when it is saved.
        first: when it is used first.
        last: when it is used last, and then freed.
    """

    choices: tuple[Choice, ...]
    born: int
    first: int
    last: int


@dataclass
class Outcome:
    """The cost of a plan.

    Attributes:
        seconds: added to a step.
        peak: most bytes in the tensors' memory.
        when: the time of that peak.
        disk: most bytes on disk.
        host: most bytes in host memory.
        back: for items that were not kept, the time from which they are in memory again until their last use.
    """

    seconds: float
    peak: int
    when: int
    disk: int
    host: int
    back: dict[int, int]

    def fits(self, limits: BudgetLimits) -> bool:
        return self.peak <= limits.limit and self.disk <= limits.disk and self.host <= limits.host


def outcome(items: Sequence[Item], chosen: Sequence[int]) -> Outcome:
    """Return the cost of choosing `items[i].choices[chosen[i]]` for each item."""
    moments: list[tuple[int, int, int, int]] = []  # (time, bytes added in memory, on disk, in host memory)
    seconds = 0.0
    asked: dict[int, int] = {}  # when items are first needed to recompute others
    back: dict[int, int] = {}
    for i in range(len(items) - 1, -1, -1):  # an item is needed by later ones only
        item = items[i]
        choice = item.choices[chosen[i]]
        seconds += choice.seconds
        if any(choice.takes):
            moments += _span(item.born, item.last, choice)
        since = item.first if chosen[i] and choice.stays else item.last
        made = min(item.first, asked.get(i, item.first))
        if choice.is_made_again:
            since = min(since, asked.get(i, since))
        if since < item.last:
            back[i] = since
            moments += _span(since, item.last, item.choices[0])
        for needed in choice.needs:
            its = items[needed].choices[chosen[needed]]
            asked[needed] = min(asked.get(needed, made), made)
            seconds += its.fetch + NEVER * its.rounds
    moments.sort()  # at equal times, bytes are freed before others are added
    times, *changes = zip((items[0].born if items else 0, 0, 0, 0), *moments, strict=True)
    memory, disk, host = (list(accumulate(change)) for change in changes)
    peak = max(memory)
    return Outcome(seconds, peak, times[memory.index(peak)], max(disk), max(host), back)


def _span(start: int, stop: int, choice: Choice) -> list[tuple[int, int, int, int]]:
    nbytes, disk, host = choice.takes
    return [(start, nbytes, disk, host), (stop, -nbytes, -disk, -host)]
