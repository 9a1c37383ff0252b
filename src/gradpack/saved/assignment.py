"""A way of keeping for each of many tensors, and what it and every single change of it come to.

All is held in tables, so that all changes are tried at once: one entry for each tensor and each of its ways, with one
number for each moment at which a limit may be passed. Few moments are such. Between two at which something ends,
no more is held than at the last one at which something begins; and where all tensors together stay below, nothing
has to be watched. The numbers are bytes, and floats, which hold them exactly.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .choices import NEVER, Item, Limits

Table = Any  # of floats
_LOOK, _NUMBER, _CHANGE = 1e-4, 4e-9, 2e-5  # seconds: looking at all changes, for each number, and making one


class Trials(NamedTuple):
    """What changes come to, for each way of each item; those to what is chosen already come to nothing.

    Attributes:
        seconds: that it takes more.
        more: that is held more, at the moments at which a change may pass a limit.
        over: what is held beyond limits at these moments now.
        columns: which of the moments that are watched these are.
    """

    seconds: Table
    more: Table
    over: Table
    columns: slice


class Assignment:
    """For each item that has a choice the place of the one that it has.

    Attributes:
        numbers: the items, as `places` are numbered: those with more than one choice.
        ways: for each place the numbers of the choices that are allowed.
        chosen: for each place which of them it is.
        seconds: what all choices cost in a step.
        over: what is held beyond a limit, for each moment that is watched of each limit. Below, it is less than 0.
        price: what each way costs, with what is unpacked once more for it, and of it for others. Infinite: no way.
        held: what each way holds, at each of those moments.
        largest: the most that a way holds at a moment.
        work: seconds that looking at changes may have taken. No clock is looked at: it goes by their number.
    """

    def __init__(self, items: Sequence[Item], allowed: Sequence[Sequence[int]], limits: Limits) -> None:
        self.items = items
        self.numbers = [i for i, ns in enumerate(allowed) if len(ns) > 1]
        self.ways = [list(allowed[i]) for i in self.numbers]
        place = {i: p for p, i in enumerate(self.numbers)}
        count, most = len(self.numbers), max(map(len, self.ways), default=1)
        self.at = np.arange(count)
        self.work = 0.0
        moments = _moments(items)
        self._born = [bisect_left(moments, item.born) for item in items]
        self._first = [bisect_left(moments, item.first) for item in items]
        self._last = [bisect_left(moments, item.last) for item in items]
        self._never = len(moments)

        self.price = np.full((count, most), np.inf)
        self._again = np.zeros((count, most))  # what having an item once more costs, for each that is made of it
        self._made = [[item.choices[n].is_made_again for n in ns] for item, ns in self._each()]
        self._needs: list[tuple[int, ...]] = [()] * count
        self._users: list[list[int]] = [[] for _ in range(count)]
        for p, (item, ns) in enumerate(self._each()):
            for k, n in enumerate(ns):
                choice = item.choices[n]
                self.price[p, k] = choice.seconds
                self._again[p, k] = choice.fetch + NEVER * choice.rounds
                if choice.is_made_again:
                    self._needs[p] = tuple(place[i] for i in choice.needs if i in place)
        for p, needs in enumerate(self._needs):
            for q in needs:
                self._users[q].append(p)
        self._asked = [self._never] * count  # when items are needed first, for others that are made of them
        self._watch(moments, allowed, limits)
        self.chosen = np.zeros(count, np.intp)
        self.is_made = [False] * count  # is it made again?
        self._stirs: dict[int, Table | None] = {}  # what was found out for `trials`
        self.seconds = float(self.price[:, 0].sum()) if count else 0.0

    def _each(self) -> list[tuple[Item, list[int]]]:
        return [(self.items[i], ns) for i, ns in zip(self.numbers, self.ways, strict=True)]

    def _watch(self, moments: list[int], allowed: Sequence[Sequence[int]], limits: Limits) -> None:
        """Finds what each way holds when, and at which moments that may be too much."""
        count, most = self.price.shape
        kinds, whens = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]  # of what is watched
        held, over = [np.zeros((count, most, 0))], [np.zeros(0)]
        for k, limit in enumerate(limits):
            if limit >= sum([2 * max(c.takes[k] for c in item.choices) for item in self.items]):
                continue
            table = np.zeros((count, most, len(moments)))
            rest = np.zeros(len(moments))
            place = 0
            for i, ns in enumerate(allowed):
                rows = rest[None] if len(ns) == 1 else table[place]
                place += len(ns) > 1
                for row, n in zip(rows, ns, strict=False):
                    choice = self.items[i].choices[n]
                    row[self._born[i] : self._last[i]] += choice.takes[k]
                    if n:
                        since = self._first[i] if choice.stays else self._last[i]
                        row[since : self._last[i]] += self.items[i].choices[0].takes[k]
            watched = np.flatnonzero(rest + table.max(1, initial=0.0).sum(0) > limit)
            held.append(table[:, :, watched])
            over.append(rest[watched] - limit)
            whens.append(watched)
            kinds.append(np.full(len(watched), k))
        kind, self._when = np.concatenate(kinds), np.concatenate(whens)
        self.held = np.concatenate(held, axis=2)
        self._whole = np.array([self.items[i].choices[0].takes for i in self.numbers], float).reshape(-1, 3)[:, kind]
        self.over = np.concatenate(over) + self.held[:, 0].sum(0)
        self.largest = float(max(self._whole.max(initial=0.0), self.held.max(initial=0.0)))

    @property
    def fits(self) -> bool:
        return not (self.over > 0).any()

    @property
    def excess(self) -> float:
        """How far limits are passed: bytes beyond one, at every moment that is watched."""
        return float(np.maximum(self.over, 0.0).sum())

    def all(self) -> list[int]:
        """The numbers of the choices of all items."""
        chosen = [0] * len(self.items)
        for i, ns, k in zip(self.numbers, self.ways, self.chosen.tolist(), strict=True):
            chosen[i] = ns[k]
        return chosen

    # --- changes ---

    def set(self, chosen: Any) -> None:
        """Changes to these choices."""
        for p in np.flatnonzero(self.chosen != chosen).tolist():
            self.change(p, int(chosen[p]))

    def change(self, p: int, k: int) -> None:
        """Gives an item another choice."""
        self.work += _CHANGE
        before = int(self.chosen[p])
        self.seconds += float(self.price[p, k] - self.price[p, before])
        self.over += self.held[p, k] - self.held[p, before]
        self.chosen[p] = k
        more = float(self._again[p, k] - self._again[p, before])
        if more:
            for user in self._users[p]:
                for nr, made in enumerate(self._made[user]):
                    if made:
                        self.price[user, nr] += more
        if self._made[p][k] or self.is_made[p]:
            self._stirs.clear()
        if self._made[p][k] != self.is_made[p]:
            self.is_made[p] = not self.is_made[p]
            sign = 1 if self.is_made[p] else -1
            for q in self._needs[p]:
                self.price[q] += sign * self._again[q]
            for q, asked in self._asks(p, self.is_made[p]).items():
                self._ask(q, asked)

    def _asks(self, p: int, is_made: bool) -> dict[int, int]:
        """What is needed first for others at another moment than so far, if an item is made again, or is not."""
        asked: dict[int, int] = {}
        wait = set(self._needs[p])
        while wait:
            q = max(wait)  # what needs an item comes after it
            wait.remove(q)
            now = self._never
            for user in self._users[q]:
                if is_made if user == p else self.is_made[user]:
                    now = min(now, self._first[self.numbers[user]], asked.get(user, self._asked[user]))
            if now != self._asked[q]:
                asked[q] = now
                if self.is_made[q]:
                    wait.update(self._needs[q])
        return asked

    def _ask(self, q: int, asked: int) -> None:
        """From another moment on an item is needed for others."""
        for k, made in enumerate(self._made[q]):
            if made:
                more = self._sooner(q, k, asked)
                self.held[q, k] += more
                if self.chosen[q] == k:
                    self.over += more
        self._asked[q] = asked

    def _sooner(self, q: int, k: int, asked: int) -> Table:
        """What it holds more if an item that is made again is needed first for others at another moment."""
        i = self.numbers[q]
        base = self._first[i] if self.items[i].choices[self.ways[q][k]].stays else self._last[i]
        now, before = min(base, asked), min(base, self._asked[q])
        sign = 1.0 if now < before else -1.0
        return self._whole[q] * (sign * ((self._when >= min(now, before)) & (self._when < max(now, before))))

    # --- all changes at once ---

    def trials(self) -> Trials:
        """What changing to each way would come to, each by itself."""
        near = np.flatnonzero(self.over > -2 * self.largest)  # at other moments no change passes a limit
        columns = slice(near[0], near[-1] + 1) if near.size else slice(0, 0)
        held = self.held[:, :, columns]
        more = held - held[self.at, self.chosen][:, None]
        for p, needs in enumerate(self._needs):
            if any(self.is_made[q] for q in needs):
                stirred = self._stirs[p] if p in self._stirs else self._stirred(p)
                if stirred is not None:
                    for k, made in enumerate(self._made[p]):
                        if made != self.is_made[p]:
                            more[p, k] += stirred[columns]
        self.work += _LOOK + _NUMBER * more.size
        return Trials(self.price - self.price[self.at, self.chosen][:, None], more, self.over[columns], columns)

    def _stirred(self, p: int) -> Table | None:
        """What other items hold more once an item is made again, or is so no more."""
        found = None
        for q, asked in self._asks(p, not self.is_made[p]).items():
            if self.is_made[q]:
                more = self._sooner(q, int(self.chosen[q]), asked)
                found = more if found is None else found + more
        self._stirs[p] = found
        return found

    def unpacking(self) -> Table:
        """The part of the seconds of each change that others pay who are made of the item, as long as they are."""
        asking = np.array([sum([self.is_made[user] for user in users]) for users in self._users])
        more: Table = asking[:, None] * (self._again - self._again[self.at, self.chosen][:, None])
        return more


def _moments(items: Sequence[Item]) -> list[int]:
    """When something may be held most: the last moments at which something begins before something ends."""
    begins = {item.born for item in items}
    begins |= {i.first for i in items if i.first < i.last or any(c.needs for c in i.choices)}
    ends = sorted({item.last for item in items})
    found, order = [], sorted(begins)
    for moment, following in zip(order, [*order[1:], float("inf")], strict=True):
        at = bisect_left(ends, moment + 1)
        if at < len(ends) and ends[at] <= following:
            found.append(moment)
    return found
