"""Which saved tensor to keep in which way, so that what is held stays within limits and the least time is paid.

Plain functions on plain data: nothing here knows tensors. The plan is exact where there are few tensors and close
to it where there are many; the same question gives the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .assignment import Assignment
from .choices import Item, Limits, Outcome, outcome
from .exact import cheapest
from .knapsack import knapsack
from .search import descend, improve

EFFORT = 0.03  # seconds that planning may take, about
FEW = 10  # tensors for which all plans are looked at, as far as they may be cheaper
_NODE = 1e-5  # seconds that looking at a part of a plan takes
_NODES = 500  # that are looked at in any case
_ROUNDS = 8  # of looking at one moment only
_MOVE = 1.6e-5  # seconds that trying a change takes


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


def plan(items: Sequence[Item], limit: int, disk: int = 0, host: float = float("inf"), effort: float = EFFORT) -> Plan:
    """The cheapest way of keeping `items` within limits in bytes, as far as found.

    If nothing fits, what holds the fewest bytes.

    Args:
        limit: where tensors live.
        disk: on disk.
        host: in host memory.
        effort: seconds that planning is worth. No clock is looked at: it is so many changes that are tried.
    """
    limits = Limits(limit, disk, host)
    allowed = [_worthwhile(item, limits) for item in items]
    it = Assignment(items, allowed, limits)
    if it.fits:
        return _made(items, it.chosen)
    smallest = _smallest(items, allowed, limits)
    least = list(smallest.chosen)
    moves = int(effort / _MOVE) // 2
    found = [it.chosen] if descend(it) else []
    if (not found or it.moves < moves) and descend(smallest):
        found.append(smallest.chosen)
    if len(items) <= FEW:
        found.append(cheapest(items, allowed, limits, _best(items, found), max(int(effort / _NODE), _NODES)) or [])
    else:
        for start in (it, smallest):
            if start.fits and start.moves < moves:
                improve_at_peak(start, limit, moves)
                improve(start, moves)
    best = _best(items, [chosen for chosen in found if chosen])
    return _made(items, best) if best is not None else _made(items, least, False)


def _made(items: Sequence[Item], chosen: list[int], fits: bool = True) -> Plan:
    result = outcome(items, chosen)
    return Plan(chosen, result, fits, 0 if fits else result.peak)


def _best(items: Sequence[Item], plans: Sequence[list[int]]) -> list[int] | None:
    return min(plans, key=lambda chosen: outcome(items, chosen).seconds, default=None)


def improve_at_peak(it: Assignment, limit: int, moves: int) -> None:
    """Again and again takes the best choices for the moment when most is held, and makes good what that forgets."""
    best, room = (it.seconds, list(it.chosen)), limit
    for _ in range(_ROUNDS):
        if it.moves >= moves or not it.set(_at_the_peak(it, room)):
            break
        over = outcome(it.items, it.chosen).peak - limit
        room -= max(over, 0)
        if not descend(it):
            it.set(best[1])
        elif it.seconds < best[0] - 1e-12:
            best = it.seconds, list(it.chosen)
        elif over <= 0:
            break
    it.set(best[1])


def _at_the_peak(it: Assignment, limit: int) -> list[int] | None:
    """The best choices if only one moment counted, and what items need of each other stayed as it is."""
    items = it.items
    when = outcome(items, [0] * len(items)).when
    within = [i for i, item in enumerate(items) if item.born <= when < item.last]
    now = outcome(items, it.chosen)
    back = sum(items[i].choices[0].nbytes for i, since in now.back.items() if since <= when < items[i].last)
    ways = [[(items[i].choices[n].nbytes, it.price(i, n)) for n in it.allowed[i]] for i in within]
    numbers = knapsack(ways, limit - back)
    if numbers is None:
        return None
    chosen = [min(ns, key=lambda n: (it.price(i, n), n)) for i, ns in enumerate(it.allowed)]
    for i, n in zip(within, numbers, strict=True):
        chosen[i] = it.allowed[i][n]
    return chosen


def _worthwhile(item: Item, limits: Limits) -> list[int]:
    """The choices of an item that may be of use, whatever the others are; the first is always one."""
    fitting = [
        n for n, c in enumerate(item.choices) if not n or all(t <= l for t, l in zip(c.takes, limits, strict=True))
    ]
    return [n for n in fitting if not any(_beats(item, m, n) for m in fitting)]


def _beats(item: Item, m: int, n: int) -> bool:
    """Whether one choice is as good as another in every way, and better or named first."""
    a, b = item.choices[m], item.choices[n]
    if not n or a.needs or a.is_made_again or (a.rounds and not b.rounds) or (a.stays and not b.stays):
        return False
    ours, theirs = (a.seconds, a.fetch, *a.takes), (b.seconds, b.fetch, *b.takes)
    return all(x <= y for x, y in zip(ours, theirs, strict=True)) and (ours != theirs or m < n)


def _smallest(items: Sequence[Item], allowed: list[list[int]], limits: Limits) -> Assignment:
    """What holds the fewest bytes in memory, of what leaves nothing in memory early for others if there is any."""
    it = Assignment(items, allowed, limits)
    for i, item in enumerate(items):
        smallest = min(
            allowed[i], key=lambda n: (item.choices[n].nbytes, item.choices[n].is_made_again, item.choices[n].seconds)
        )
        if smallest != it.chosen[i]:
            it.change(i, smallest)
    return it
