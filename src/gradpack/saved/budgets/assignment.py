"""An assignment of one choice (keep, recompute, compress, ...) to each tensor, and the effect of every single change.

All is held in tables, so that all changes are evaluated at once: one entry for each tensor and each of its choices,
with the bytes held at each moment at which a limit may be exceeded. There are few such moments. Between two releases,
memory is highest after the last allocation; and a limit that all tensors together cannot exceed is not watched.
Bytes are stored as floats, which represent them exactly.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .plans import NEVER, BudgetLimits, Item

Table = Any  # a NumPy array of floats
_LOOK, _NUMBER, _CHANGE = 1e-4, 4e-9, 2e-5  # assumed seconds: of `trials`, per entry of its table, of one change


class Trials(NamedTuple):
    """The effect of changing each item to each of its choices; zero for the choice that it has.

    Attributes:
        seconds: added to a step, for each item and choice; negative where time is saved.
        more: bytes added at the moments at which a change may exceed a limit: (items, choices, moments).
        over: bytes held now at these moments, minus the limit.
        columns: the slice of the watched moments that these are.
    """

    seconds: Table
    more: Table
    over: Table
    columns: slice


class Assignment:
    """The choices made for all items. Items with more than one allowed choice are indexed by their "place".

    Attributes:
        numbers: for each place the index of its item.
        options: for each place the indices of the allowed choices.
        chosen: for each place the position in `options` of the current choice.
        seconds: the cost of all choices in a step.
        over: bytes held minus the limit, for each watched moment of each limit; negative where there is room.
        price: seconds for each place and option, with unpacking for it and for its users included; inf if not allowed.
        held: bytes that each option holds at each watched moment: (places, options, moments).
        largest: the most bytes that any option holds at any moment.
        work: estimated seconds of search so far, from the number of changes, without reading a clock.
    """

    def __init__(self, items: Sequence[Item], allowed: Sequence[Sequence[int]], limits: BudgetLimits) -> None:
        self.items = items
        self.numbers = [i for i, ns in enumerate(allowed) if len(ns) > 1]
        self.options = [list(allowed[i]) for i in self.numbers]
        place = {i: p for p, i in enumerate(self.numbers)}
        count, most = len(self.numbers), max(map(len, self.options), default=1)
        self.at = np.arange(count)
        self.work = 0.0
        moments = _moments(items)
        self._born = [bisect_left(moments, item.born) for item in items]
        self._first = [bisect_left(moments, item.first) for item in items]
        self._last = [bisect_left(moments, item.last) for item in items]
        self._never = len(moments)

        self.price = np.full((count, most), np.inf)
        self._refetch = np.zeros((count, most))  # seconds to unpack an item once more, for each recomputation from it
        self._made = [[item.choices[n].is_made_again for n in ns] for item, ns in self._each()]
        self._needs: list[tuple[int, ...]] = [()] * count
        self._users: list[list[int]] = [[] for _ in range(count)]
        for p, (item, ns) in enumerate(self._each()):
            for k, n in enumerate(ns):
                choice = item.choices[n]
                self.price[p, k] = choice.seconds
                self._refetch[p, k] = choice.fetch + NEVER * choice.rounds
                if choice.is_made_again:
                    self._needs[p] = tuple(place[i] for i in choice.needs if i in place)
        for p, needs in enumerate(self._needs):
            for q in needs:
                self._users[q].append(p)
        self._asked = [self._never] * count  # when each item is first needed to recompute others from it
        self._watch(moments, allowed, limits)
        self.chosen = np.zeros(count, np.intp)
        self.is_made = [False] * count  # is it recomputed?
        self._stirs: dict[int, Table | None] = {}  # cached results of `_stirred`
        self.seconds = float(self.price[:, 0].sum()) if count else 0.0

    def _each(self) -> list[tuple[Item, list[int]]]:
        return [(self.items[i], ns) for i, ns in zip(self.numbers, self.options, strict=True)]

    def _watch(self, moments: list[int], allowed: Sequence[Sequence[int]], limits: BudgetLimits) -> None:
        """Compute the bytes that each option holds over time; select the moments at which a limit may be exceeded."""
        count, most = self.price.shape
        kinds, whens = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]  # limit and moment of each watched column
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
        """The bytes beyond the limits, summed over all watched moments."""
        return float(np.maximum(self.over, 0.0).sum())

    def all(self) -> list[int]:
        """Return the index of the current choice of every item, those with a single choice included."""
        chosen = [0] * len(self.items)
        for i, ns, k in zip(self.numbers, self.options, self.chosen.tolist(), strict=True):
            chosen[i] = ns[k]
        return chosen

    # --- changes ---

    def set(self, chosen: Any) -> None:
        """Set the choices of all places to `chosen`."""
        for p in np.flatnonzero(self.chosen != chosen).tolist():
            self.change(p, int(chosen[p]))

    def change(self, p: int, k: int) -> None:
        """Set the choice of place `p` to `k`, and update prices, bytes and seconds."""
        self.work += _CHANGE
        before = int(self.chosen[p])
        self.seconds += float(self.price[p, k] - self.price[p, before])
        self.over += self.held[p, k] - self.held[p, before]
        self.chosen[p] = k
        more = float(self._refetch[p, k] - self._refetch[p, before])
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
                self.price[q] += sign * self._refetch[q]
            for q, asked in self._asks(p, self.is_made[p]).items():
                self._ask(q, asked)

    def _asks(self, p: int, is_made: bool) -> dict[int, int]:
        """Return the new time of first need by others, for each place where recomputing `p`, or not, changes it."""
        asked: dict[int, int] = {}
        wait = set(self._needs[p])
        while wait:
            q = max(wait)  # items are recomputed only from earlier ones: process the latest first
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
        """Set the time at which item `q` is first needed by others, and update the bytes it holds if recomputed."""
        for k, made in enumerate(self._made[q]):
            if made:
                more = self._sooner(q, k, asked)
                self.held[q, k] += more
                if self.chosen[q] == k:
                    self.over += more
        self._asked[q] = asked

    def _sooner(self, q: int, k: int, asked: int) -> Table:
        """Return the bytes added at each watched moment if recomputed item `q` is first needed by others at `asked`."""
        i = self.numbers[q]
        base = self._first[i] if self.items[i].choices[self.options[q][k]].stays else self._last[i]
        now, before = min(base, asked), min(base, self._asked[q])
        sign = 1.0 if now < before else -1.0
        return self._whole[q] * (sign * ((self._when >= min(now, before)) & (self._when < max(now, before))))

    # --- all changes at once ---

    def trials(self) -> Trials:
        """Return the effect of each single change: each item to each of its choices, all others unchanged."""
        near = np.flatnonzero(self.over > -2 * self.largest)  # at other moments no single change exceeds a limit
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
        """Return the bytes added by other items if `p` becomes recomputed, or stops being so; None if none change."""
        found = None
        for q, asked in self._asks(p, not self.is_made[p]).items():
            if self.is_made[q]:
                more = self._sooner(q, int(self.chosen[q]), asked)
                found = more if found is None else found + more
        self._stirs[p] = found
        return found

    def unpacking(self) -> Table:
        """Return the part of each change's seconds that is due to recomputing other items from the changed one."""
        asking = np.array([sum([self.is_made[user] for user in users]) for users in self._users])
        more: Table = asking[:, None] * (self._refetch - self._refetch[self.at, self.chosen][:, None])
        return more


def _moments(items: Sequence[Item]) -> list[int]:
    """Return the moments at which memory can peak: the last allocation before each release."""
    begins = {item.born for item in items}
    begins |= {i.first for i in items if i.first < i.last or any(c.needs for c in i.choices)}
    ends = sorted({item.last for item in items})
    found, order = [], sorted(begins)
    for moment, following in zip(order, [*order[1:], float("inf")], strict=True):
        at = bisect_left(ends, moment + 1)
        if at < len(ends) and ends[at] <= following:
            found.append(moment)
    return found
