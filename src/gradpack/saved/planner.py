"""Which saved tensor to keep in which way, so that what is held stays within a limit and the least time is paid.

Plain functions on plain data: nothing here knows tensors. The plan is exact where there are few tensors and close
to it where there are many; the same question gives the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

ALL = 256  # plans that are looked at one by one, if there are no more
STEPS = 512  # parts of the limit that the exact search tells apart
EXACT = 32  # tensors for which it is made
_NEVER = 1e6  # seconds: no plan is that bad otherwise
PAIRS = 12  # tensors for which changes of two at a time are tried


@dataclass(frozen=True)
class Choice:
    """One way of keeping a tensor.

    Attributes:
        name: "keep", "recompute", or what else there is.
        nbytes: held in memory from when it is saved until it is used last.
        disk: bytes on disk meanwhile.
        seconds: what it costs in a step.
        needs: the tensors, by number, that using this one asks for. Those that are made again themselves are in
            memory from that moment on, and what is packed is unpacked once more.
        fetch: the part of `seconds` that unpacking takes.
        rounds: does it come back inexactly? Then nothing may be made again from it.
    """

    name: str
    nbytes: int
    seconds: float
    disk: int = 0
    needs: tuple[int, ...] = ()
    fetch: float = 0.0
    rounds: bool = False

    @property
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
        back: from when on tensors are in memory that were made again for others.
    """

    seconds: float
    peak: int
    when: int
    disk: int
    back: dict[int, int]


@dataclass
class Plan:
    """For each item the number of its choice, and what that comes to.

    Attributes:
        fits: is it within the limits?
        least: the fewest bytes that any plan found would hold, where none fits.
    """

    chosen: list[int]
    outcome: Outcome
    fits: bool
    least: int = field(default=0)


def outcome(items: Sequence[Item], chosen: Sequence[int]) -> Outcome:
    """What choosing `chosen[i]` for each item comes to."""
    moments: list[tuple[int, int, int]] = []  # when, bytes in memory more, bytes on disk more
    seconds = 0.0
    back: dict[int, int] = {}  # from when on items that are made again for others are in memory
    for item, number in zip(items, chosen, strict=True):
        choice = item.choices[number]
        seconds += choice.seconds
        for needed in choice.needs:
            its = items[needed].choices[chosen[needed]]
            if its.is_made_again:
                back[needed] = min(back.get(needed, item.first), item.first)
            seconds += its.fetch + _NEVER * its.rounds
        if choice.nbytes or choice.disk:
            moments.append((item.born, choice.nbytes, choice.disk))
            moments.append((item.last, -choice.nbytes, -choice.disk))
    for number, since in back.items():
        item = items[number]
        if since < item.last:
            size = item.choices[0].nbytes
            moments.append((since, size, 0))
            moments.append((item.last, -size, 0))
    moments.sort()  # at one moment, what goes comes first
    now = peak = disk = most = 0
    when = items[0].born if items else 0
    for moment, more, more_disk in moments:
        now += more
        disk += more_disk
        if now > peak:
            peak, when = now, moment
        most = max(most, disk)
    return Outcome(seconds, peak, when, most, back)


def plan(items: Sequence[Item], limit: int, disk: int = 0) -> Plan:
    """The cheapest way of keeping `items` in at most `limit` bytes of memory and `disk` bytes on disk, as far as found.

    If nothing fits, what holds the fewest bytes.
    """
    allowed = [[n for n, c in enumerate(item.choices) if c.disk <= disk] for item in items]
    chosen = _cheapest(items, allowed)
    found = outcome(items, chosen)
    if found.peak <= limit and found.disk <= disk:
        return Plan(chosen, found, True)
    if prod(map(len, allowed)) <= ALL:
        candidates = [_best_of_all(items, allowed, limit, disk)]
    else:
        candidates = [_greedy(items, allowed, limit, disk), _smallest(items, allowed, limit, disk)]
    if prod(map(len, allowed)) > ALL and len(items) <= EXACT:
        exact = _exact(items, allowed, limit, disk)
        if exact is not None:
            candidates.append(exact)
    if prod(map(len, allowed)) > ALL and len(items) <= PAIRS:
        for i, numbers in enumerate(allowed):
            for n in numbers:
                forced = [*allowed[:i], [n], *allowed[i + 1 :]]
                candidates.append(_greedy(items, forced, limit, disk))
    fitting = [c for c in candidates if _fits(outcome(items, c), limit, disk)]
    if not fitting:
        least = min(candidates, key=lambda c: outcome(items, c).peak)
        found = outcome(items, least)
        return Plan(least, found, False, found.peak)
    improved = [_improved(items, allowed, c, limit, disk) for c in fitting]
    best = min(improved, key=lambda c: outcome(items, c).seconds)
    return Plan(best, outcome(items, best), True)


def _fits(found: Outcome, limit: int, disk: int) -> bool:
    return found.peak <= limit and found.disk <= disk


def _cheapest(items: Sequence[Item], allowed: list[list[int]]) -> list[int]:
    """For each item the choice that takes the least time."""
    return [min(ns, key=lambda n: (item.choices[n].seconds, n)) for item, ns in zip(items, allowed, strict=True)]


def _greedy(items: Sequence[Item], allowed: list[list[int]], limit: int, disk: int) -> list[int]:
    """Again and again takes the step that costs the least time per byte, among what is held at the peak."""
    chosen = _cheapest(items, allowed)
    tried = {(i, n) for i, n in enumerate(chosen)}
    while True:
        found = outcome(items, chosen)
        if _fits(found, limit, disk):
            return chosen
        best = None
        for i, item in enumerate(items):
            now = item.choices[chosen[i]]
            held = now.nbytes if item.born <= found.when < item.last else 0
            if i in found.back and found.back[i] <= found.when < item.last:
                held += item.choices[0].nbytes
            for n in allowed[i]:
                other = item.choices[n]
                if (i, n) in tried or (found.disk > disk and other.disk > now.disk):
                    continue
                less = held - other.nbytes
                if found.disk > disk and other.disk < now.disk:
                    less = max(less, 1)
                if less <= 0:
                    continue
                useful = min(less, max(found.peak - limit, 1))
                price = (max(other.seconds - now.seconds, 0.0) + 1e-12) / useful
                if best is None or price < best[0]:
                    best = (price, i, n)
        if best is None:
            return chosen
        _, i, n = best
        tried.add((i, n))
        before, chosen[i] = chosen[i], n
        after = outcome(items, chosen)
        if (after.disk > disk >= found.disk) or (after.peak >= found.peak and after.disk >= found.disk):
            if after.peak == found.peak and after.when != found.when:
                continue  # one of several peaks is gone
            chosen[i] = before


def _best_of_all(items: Sequence[Item], allowed: list[list[int]], limit: int, disk: int) -> list[int]:
    best: tuple[Any, list[int]] | None = None
    for numbers in product(*allowed):
        chosen = list(numbers)
        found = outcome(items, chosen)
        fits = _fits(found, limit, disk)
        rank = (not fits, found.disk > disk, 0 if fits else found.peak, found.seconds)
        if best is None or rank < best[0]:
            best = rank, chosen
    assert best is not None
    return best[1]


def _smallest(items: Sequence[Item], allowed: list[list[int]], limit: int, disk: int) -> list[int]:
    """What holds the fewest bytes in memory, then moved from disk where that is too full, the least bytes first."""
    chosen = [
        min(ns, key=lambda n: (item.choices[n].nbytes, item.choices[n].disk, item.choices[n].seconds))
        for item, ns in zip(items, allowed, strict=True)
    ]
    for i, item in enumerate(items):  # being made again may mean being in memory for others
        for n in allowed[i]:
            other = item.choices[n]
            if item.choices[chosen[i]].is_made_again and not other.nbytes and not other.is_made_again:
                chosen[i] = n
    while outcome(items, chosen).disk > disk:
        moves = [
            (outcome(items, [*chosen[:i], n, *chosen[i + 1 :]]).peak, -item.choices[chosen[i]].disk, i, n)
            for i, item in enumerate(items)
            for n in allowed[i]
            if item.choices[n].disk < item.choices[chosen[i]].disk
        ]
        if not moves:
            break
        _, _, i, n = min(moves)
        chosen[i] = n
    return chosen


def _exact(items: Sequence[Item], allowed: list[list[int]], limit: int, disk: int) -> list[int] | None:
    """By dynamic programming over bytes at the moment when most is held, rounded up to a part of the limit.

    What items need of each other, other moments and the disk are looked at afterwards, with a tighter limit if need be.
    """
    keep = outcome(items, [0] * len(items))
    within = [i for i, item in enumerate(items) if item.born <= keep.when < item.last]
    base = _cheapest(items, allowed)
    room = limit
    for _ in range(4):
        if room <= 0:
            return None
        chosen = _knapsack(items, allowed, within, base, room)
        if chosen is None:
            return None
        found = outcome(items, chosen)
        if _fits(found, limit, disk):
            return chosen
        if found.disk > disk:
            return None
        room -= found.peak - limit
    return None


def _knapsack(
    items: Sequence[Item], allowed: list[list[int]], within: list[int], base: list[int], room: int
) -> list[int] | None:
    unit = max(1, -(-room // STEPS))
    width = room // unit + 1
    costs = [0.0] * width  # the least time, for each number of units that may be used
    taken: list[list[int]] = []
    never = float("inf")
    for i in within:
        choices = _frontier(items[i], allowed[i])
        after = [never] * width
        numbers = [-1] * width
        for n in choices:
            choice = items[i].choices[n]
            units = -(-choice.nbytes // unit)
            if units >= width:
                continue
            price = choice.seconds
            for place, cost in enumerate(costs[: width - units], units):
                total = cost + price
                if total < after[place]:
                    after[place] = total
                    numbers[place] = n
        taken.append(numbers)
        costs = after
    if costs[-1] == never:
        return None
    chosen = list(base)
    place = width - 1
    for i, numbers in zip(reversed(within), reversed(taken), strict=True):
        n = numbers[place]
        chosen[i] = n
        place -= -(-items[i].choices[n].nbytes // unit)
    return chosen


def _frontier(item: Item, allowed: list[int]) -> list[int]:
    """The choices that no other one beats in both bytes and time."""
    found: list[int] = []
    for n in sorted(allowed, key=lambda n: (item.choices[n].nbytes, item.choices[n].seconds)):
        if not found or item.choices[n].seconds < item.choices[found[-1]].seconds:
            found.append(n)
    return found


def _improved(items: Sequence[Item], allowed: list[list[int]], chosen: list[int], limit: int, disk: int) -> list[int]:
    """Uses what room is left: single changes that save time and still fit, the best first; for few items also pairs."""
    chosen = list(chosen)
    changed = True
    while changed:
        changed = False
        gains = sorted(
            (items[i].choices[n].seconds - items[i].choices[chosen[i]].seconds, i, n)
            for i in range(len(items))
            for n in allowed[i]
            if items[i].choices[n].seconds < items[i].choices[chosen[i]].seconds
        )
        now = outcome(items, chosen)
        for _, i, n in gains:
            item = items[i]
            more = item.choices[n].nbytes - item.choices[chosen[i]].nbytes
            if item.born <= now.when < item.last and i not in now.back and more > limit - now.peak:
                continue
            if _takes(items, chosen, {i: n}, limit, disk):
                changed = True
                break
        if not changed and len(items) <= PAIRS:
            changed = _swapped(items, allowed, chosen, limit, disk)
    return chosen


def _takes(items: Sequence[Item], chosen: list[int], changes: dict[int, int], limit: int, disk: int) -> bool:
    """Makes changes if they fit and save time; says whether it did."""
    other = list(chosen)
    for i, n in changes.items():
        other[i] = n
    found = outcome(items, other)
    if not _fits(found, limit, disk) or found.seconds >= outcome(items, chosen).seconds - 1e-15:
        return False
    chosen[:] = other
    return True


def _swapped(items: Sequence[Item], allowed: list[list[int]], chosen: list[int], limit: int, disk: int) -> bool:
    for i in range(len(items)):
        for j in range(i):
            for n in allowed[i]:
                for m in allowed[j]:
                    if (n != chosen[i] or m != chosen[j]) and _takes(items, chosen, {i: n, j: m}, limit, disk):
                        return True
    return False
