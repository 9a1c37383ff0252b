"""A way of keeping for each of many tensors, and what it comes to, kept up to date as single ways change.

Between two moments at which something is saved or comes back, no more is held than at the first of them. So a list
with one number for each such moment says all; a change of one tensor touches a slice of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from .choices import NEVER, Choice, Item, Limits


class Assignment:
    """For each item the number of its choice.

    Attributes:
        chosen: the numbers.
        seconds: what they cost in a step.
        excess: how far limits are passed: bytes beyond one, at every moment.
        moves: how many changes were made or tried, which is what planning takes its time for.
    """

    def __init__(self, items: Sequence[Item], allowed: Sequence[Sequence[int]], limits: Limits) -> None:
        self.items, self.allowed = items, allowed
        # What is held grows only when something is saved, or comes back for what is made of it.
        returns = {i.first for i in items if i.first < i.last or any(c.needs for c in i.choices)}
        moments = sorted({item.born for item in items} | returns)
        self._born = [bisect_left(moments, item.born) for item in items]
        self._first = [bisect_left(moments, item.first) for item in items]
        self._last = [bisect_left(moments, item.last) for item in items]
        self._users: list[list[int]] = [[] for _ in items]  # who may ask for an item when it is made again
        for i, item in enumerate(items):
            for n in allowed[i]:
                for needed in item.choices[n].needs:
                    if i not in self._users[needed]:
                        self._users[needed].append(i)
        # Only limits that can be passed at all are watched: most often that is one.
        most = [sum(2 * max(c.takes[k] for c in item.choices) for item in items) for k in range(len(limits))]
        self._watched = [k for k, limit in enumerate(limits) if limit < most[k]]
        self._over = [np.full(len(moments), -limits[k], np.int64) for k in self._watched]  # what is held beyond
        self._sums = [0] * len(self._watched)
        self._never = len(moments)
        self._asked = [self._never] * len(items)  # when items are needed first, for others that are made of them
        self.seconds = 0.0
        self.moves = 0
        self.chosen = [
            min(ns, key=lambda n: (item.choices[n].seconds, n)) for item, ns in zip(items, allowed, strict=True)
        ]
        for i in range(len(items)):
            self._hold(i, 1)
            self.seconds += self._price(i, self.chosen[i])
        for i in range(len(items) - 1, -1, -1):  # what needs an item comes after it
            self._ask(i)

    @property
    def excess(self) -> int:
        return sum(self._sums)

    @property
    def fits(self) -> bool:
        return not any(self._sums)

    def _since(self, i: int) -> int:
        """From when on an item that is not kept is in memory again; when it is used last, that is for a moment."""
        choice = self.items[i].choices[self.chosen[i]]
        since = self._first[i] if choice.stays else self._last[i]
        return min(since, self._asked[i]) if choice.is_made_again else since

    def _ask(self, i: int) -> None:
        """Finds out when an item is needed first for others, and what that means for what it is made of."""
        wait = [i]
        while wait:
            i = wait.pop()
            asked = self._never
            for user in self._users[i]:
                if i in self.items[user].choices[self.chosen[user]].needs:
                    asked = min(asked, self._first[user], self._asked[user])
            if asked == self._asked[i]:
                continue
            choice = self.items[i].choices[self.chosen[i]]
            if choice.is_made_again:
                self._hold(i, -1)
            self._asked[i] = asked
            if choice.is_made_again:
                self._hold(i, 1)
                wait.extend(choice.needs)

    def _hold(self, i: int, sign: int) -> None:
        """Adds what an item holds, or takes it away."""
        item = self.items[i]
        self._add(item.choices[self.chosen[i]].takes, self._born[i], self._last[i], sign)
        if self.chosen[i]:
            self._add(item.choices[0].takes, self._since(i), self._last[i], sign)

    def _add(self, takes: tuple[int, ...], start: int, stop: int, sign: int) -> None:
        if start >= stop:
            return
        for k, resource in enumerate(self._watched):
            size = sign * takes[resource]
            if not size:
                continue
            over = self._over[k][start:stop]
            self._sums[k] -= _beyond(over)
            over += size
            self._sums[k] += _beyond(over)

    def price(self, i: int, n: int) -> float:
        """What a choice for an item costs, with what is unpacked once more for it, and of it for others."""
        choice = self.items[i].choices[n]
        again = choice.fetch + NEVER * choice.rounds
        return self._price(i, n) + (again * self._asking(i) if again else 0.0)

    def _asking(self, i: int) -> int:
        """How many items are made again from an item."""
        return sum([i in self.items[u].choices[self.chosen[u]].needs for u in self._users[i]])

    def set(self, chosen: Sequence[int] | None) -> bool:
        """Changes to these choices; False if there are none."""
        for i, n in enumerate(chosen or ()):
            if n != self.chosen[i]:
                self.change(i, n)
        return chosen is not None

    def _price(self, i: int, n: int) -> float:
        choice = self.items[i].choices[n]
        seconds = choice.seconds
        for needed in choice.needs:
            its = self.items[needed].choices[self.chosen[needed]]
            seconds += its.fetch + NEVER * its.rounds
        return seconds

    def change(self, i: int, n: int) -> None:
        """Gives an item another choice."""
        self.moves += 1
        item, chosen = self.items[i], self.chosen
        old, new = item.choices[chosen[i]], item.choices[n]
        self.seconds += self._price(i, n) - self._price(i, chosen[i])
        more = new.fetch - old.fetch + NEVER * (new.rounds - old.rounds)
        if more:
            self.seconds += more * self._asking(i)
        self._hold(i, -1)
        chosen[i] = n
        self._hold(i, 1)
        if old.is_made_again != new.is_made_again:
            for needed in {*old.needs, *new.needs}:
                self._ask(needed)

    def trial(self, i: int, n: int) -> tuple[float, int]:
        """How much time a change costs, and how much of the excess it takes away."""
        before, seconds, excess = self.chosen[i], self.seconds, self.excess
        item = self.items[i]
        old, new = item.choices[before], item.choices[n]
        if not self._stirs(i, old, new):
            self.moves += 1
            freed = 0
            for k, resource in enumerate(self._watched):
                size = new.takes[resource] - old.takes[resource]
                if size:
                    over = self._over[k][self._born[i] : self._last[i]]
                    freed += _beyond(over) - _beyond(over + size)
            return self.price(i, n) - self.price(i, before), freed
        self.change(i, n)
        found = self.seconds - seconds, excess - self.excess
        self.change(i, before)
        self.seconds = seconds
        return found

    def _stirs(self, i: int, old: Choice, new: Choice) -> bool:
        """Whether a change may bring other items back earlier or later, or this one."""
        if self.items[i].first < self.items[i].last:
            return True
        if old.is_made_again == new.is_made_again:
            return old.is_made_again
        if self._asked[i] < self._never:
            return True
        needs = old.needs or new.needs
        return any(self.items[j].choices[self.chosen[j]].is_made_again for j in needs)


def _beyond(over: Any) -> int:
    return int(np.maximum(over, 0).sum())
