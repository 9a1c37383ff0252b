"""The ways in which each of many tensors may be kept, and what choosing one for each comes to. Plain data.

`outcome` is the definition; `assignment` comes to the same, and is quick where one choice changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

NEVER = 1e6  # seconds: no plan is that bad otherwise


class Limits(NamedTuple):
    """Bytes that are allowed: where tensors lie, on disk, in host memory."""

    limit: int
    disk: int = 0
    host: float = float("inf")


@dataclass(frozen=True)
class Choice:
    """One way of keeping a tensor.

    Attributes:
        name: "keep", "recompute", or what else there is.
        nbytes: held in memory from when it is saved until it is used last: that of the device where the tensor lives.
        disk: bytes on disk meanwhile.
        host: bytes in host memory meanwhile, as far as they are limited.
        seconds: what it costs in a step.
        needs: the tensors, by number, that using this one asks for. Those that are made again themselves are in
            memory from that moment on, and what is packed is unpacked once more.
        fetch: the part of `seconds` that unpacking takes.
        rounds: does it come back inexactly? Then nothing may be made again from it.
        stays: is it in memory from its first use to the last? If not, it is had anew for each.
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
        """What it takes of each limit."""
        return self.nbytes, self.disk, self.host

    @property
    def anew(self) -> float:
        """What having it once more costs."""
        return self.seconds if self.is_made_again else self.fetch

    @cached_property
    def is_made_again(self) -> bool:
        return self.name == "recompute"


@dataclass(frozen=True)
class Item:
    """A saved tensor: how it may be kept, and from when until when.

    Attributes:
        choices: the first is to keep it as it is.
        born: when it was saved; any numbers that tell the order.
        first: when it is used first.
        last: when it is used last, and then let go of.
    """

    choices: tuple[Choice, ...]
    born: int
    first: int
    last: int


@dataclass
class Outcome:
    """What a plan comes to.

    Attributes:
        seconds: paid in a step.
        peak: bytes in memory at most, and `when`.
        disk: bytes on disk at most.
        host: limited bytes in host memory at most.
        back: from when on tensors are in memory again that were not kept, for others or for another use.
    """

    seconds: float
    peak: int
    when: int
    disk: int
    host: int
    back: dict[int, int]

    def fits(self, limits: Limits) -> bool:
        return self.peak <= limits.limit and self.disk <= limits.disk and self.host <= limits.host


def outcome(items: Sequence[Item], chosen: Sequence[int]) -> Outcome:
    """What choosing `chosen[i]` for each item comes to."""
    moments: list[tuple[int, int, int, int]] = []  # when, and how many bytes more of each kind
    seconds = 0.0
    asked: dict[int, int] = {}  # when items that are made again are needed first, for others
    back: dict[int, int] = {}
    for i in range(len(items) - 1, -1, -1):  # what needs an item comes after it
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
    moments.sort()  # at one moment, what goes comes first
    now = peak = disk = most_disk = host = most_host = 0
    when = items[0].born if items else 0
    for moment, more, more_disk, more_host in moments:
        now += more
        disk += more_disk
        host += more_host
        if now > peak:
            peak, when = now, moment
        most_disk, most_host = max(most_disk, disk), max(most_host, host)
    return Outcome(seconds, peak, when, most_disk, most_host, back)


def _span(start: int, stop: int, choice: Choice) -> list[tuple[int, int, int, int]]:
    nbytes, disk, host = choice.takes
    return [(start, nbytes, disk, host), (stop, -nbytes, -disk, -host)]
