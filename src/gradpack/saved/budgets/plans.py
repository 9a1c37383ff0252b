"""Plans as data: the ways in which each saved tensor may be kept, the cost of choosing one for each, and why.

`outcome` defines the cost; `assignment` computes the same, incrementally where one choice changes. `BudgetPlan`
explains the choice for each tensor: the reason, and the cost of the next best choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count
from typing import Any, NamedTuple

from ...base.sizes import shown

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


@dataclass
class ChoicePlan:
    """For each item the index of its choice, and the outcome.

    Attributes:
        fits: whether it is within the limits.
    """

    chosen: list[int]
    outcome: Outcome
    fits: bool = True

    @property
    def least(self) -> int:
        """The lowest peak that was found if it does not fit, else 0."""
        return 0 if self.fits else self.outcome.peak


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


@dataclass(frozen=True)
class Explained:
    """The explanation of the choice for one tensor.

    Attributes:
        label: slot, operation, module and shape.
        nbytes: the bytes of its storage.
        chosen: the name of the choice, such as "keep" or "recompute".
        seconds: the time that the choice adds to a step.
        why: the reason, as text.
        next_best: the fastest other choice that fits the limits, None if there is none.
        next_seconds: the change of the step's time with that choice; negative if the step would be faster.
    """

    label: str
    nbytes: int
    chosen: str
    seconds: float
    why: str
    next_best: str | None
    next_seconds: float


_numbers = count(1)


def _price(choice: Choice, whole: int) -> str:
    return f"{choice.seconds / max(whole - choice.nbytes, 1) * 2**20 * 1e3:.2f} ms for each MiB"


class BudgetPlan:
    """A budget's plan for steps that save the same tensors as the step that was measured.

    Attributes:
        limits: bytes allowed on the tensors' device, on disk, in host memory.
        peak, disk_peak, host_peak: the most bytes that the plan holds there.
        seconds: the estimated time that it adds to a step.
        fits: whether it is within the limits. If not, tensors are evicted during the step.
    """

    def __init__(
        self, keys: list[Any], rows: Sequence[Any], items: list[Item], plan: ChoicePlan, limits: BudgetLimits
    ) -> None:
        self.keys, self.rows, self.limits = keys, rows, limits
        found = plan.outcome
        self.fits, self.seconds = plan.fits, found.seconds
        self.peak, self.disk_peak, self.host_peak = found.peak, found.disk, found.host
        self.followed = 0  # how many steps have followed it
        self.number = self.looked = next(_numbers)  # its serial number, and the newest other plan compared with it
        self.rates: list[float] = []  # seconds per byte of packing and unpacking when it was made
        self._items, self._plan = items, plan

    def choices_among(self, items: Sequence[Item]) -> list[int]:
        """Return the indices of this plan's choices among the choices of `items`; 0, to keep, where one is missing."""
        found = []
        for number, item in enumerate(items):
            mine = self.choice(number)
            same = [n for n, c in enumerate(item.choices) if (c.name, c.stays) == (mine.name, mine.stays)]
            found.append(same[0] if same else 0)
        return found

    def is_worse(self, other: BudgetPlan) -> bool:
        """Return whether `other` is clearly better, by its own costs: over 5 % faster, or the only one that fits."""
        mine = outcome(other._items, self.choices_among(other._items))
        return other.fits and (not self.fits or not mine.fits(self.limits) or other.seconds < 0.95 * mine.seconds)

    def choice(self, number: int) -> Choice:
        return self._items[number].choices[self._plan.chosen[number]]

    def explain(self) -> list[Explained]:
        """Return one `Explained` for each storage that was saved, in the order of saving."""
        return [self._explained(number) for number in range(len(self._items))]

    def _explained(self, number: int) -> Explained:
        item, chosen = self._items[number], self._plan.chosen
        mine = item.choices[chosen[number]]
        best: tuple[float, str] | None = None
        refused: str = ""
        for n, other in enumerate(item.choices):
            if other.name == mine.name:
                continue
            changed = outcome(self._items, [*chosen[:number], n, *chosen[number + 1 :]])
            more = changed.seconds - self.seconds
            over = [has - may for has, may in zip((changed.peak, changed.disk, changed.host), self.limits, strict=True)]
            if max(over) > 0:
                where = ("", " on disk", " in host memory")[over.index(max(over))]
                refused = refused or f"{other.name!r} would hold {shown(max(over))} too much{where}"
            elif best is None or more < best[0]:
                best = more, other.name
        label, nbytes, why = self.rows[number].label, item.choices[0].nbytes, self._why(item, mine, refused)
        next_seconds, next_best = best or (0.0, None)
        return Explained(label, nbytes, mine.name, mine.seconds, why, next_best, next_seconds)

    def _why(self, item: Item, mine: Choice, refused: str) -> str:
        whole = item.choices[0].nbytes
        others = [c for c in item.choices[1:] if c.nbytes < whole]
        if not others:
            return "there is no other way to keep it"
        if mine.name != "keep":
            return f"{_price(mine, whole)} that it frees" + (f"; {refused}" if refused else "")
        if not self.seconds:
            return "everything fits as it is"
        cheapest = min(others, key=lambda c: c.seconds / (whole - c.nbytes))
        return f"there is room for it: {cheapest.name!r} would cost {_price(cheapest, whole)}"

    def _summary(self, rows: list[Explained]) -> str:
        kinds = Counter[str]()
        for row in rows:
            kinds[row.chosen] += row.nbytes
        ways = ", ".join(f"{name} {shown(size)}" for name, size in kinds.most_common())
        most = f"{shown(self.peak)} of {shown(self.limits.limit)} at most"
        return f"{most}, {1e3 * self.seconds:.1f} ms in a step: {ways}"

    def __repr__(self) -> str:
        return f"<plan: {self._summary(self.explain())}>"

    def _repr_html_(self) -> str:
        from ...base.html import framed, table

        rows = self.explain()
        cells = [
            (
                row.label, shown(row.nbytes), row.chosen, f"{1e3 * row.seconds:.2f}", row.why,
                "" if row.next_best is None else f"{row.next_best}: {1e3 * row.next_seconds:+.2f} ms",
            )
            for row in rows
        ]  # fmt: skip
        columns = ("tensor", "bytes", "way", "ms in a step", "why", "next best")
        return framed("plan", [self._summary(rows)], table(columns, cells, numbers=[1, 3]))

    def __str__(self) -> str:
        """Return a summary line, and a table of all tensors."""
        rows = self.explain()
        width = max([len(row.label) for row in rows], default=0)
        lines = [self._summary(rows)]
        for row in rows:
            other = "" if row.next_best is None else f"; next best {row.next_best}: {1e3 * row.next_seconds:+.2f} ms"
            lines.append(
                f"{row.label:{width}}  {shown(row.nbytes):>10}  {row.chosen:10} {1e3 * row.seconds:7.2f} ms  "
                f"{row.why}{other}"
            )
        return "\n".join(lines)
