"""Branch and bound: the optimal plan for a few tensors."""

from __future__ import annotations

from collections.abc import Sequence

from .choices import BudgetLimits, Item, outcome


def cheapest(
    items: Sequence[Item], allowed: Sequence[Sequence[int]], limits: BudgetLimits, known: list[int] | None, nodes: int
) -> list[int] | None:
    """Return the plan of least time within the limits that is faster than `known`; None if there is none.

    At most `nodes` partial plans are examined; if there are more, the result is the best plan among those.
    """
    return _Search(items, allowed, limits, known, nodes).found


class _Search:
    """A depth-first search over choices: items from the largest to the smallest, choices from the fastest on.

    Open items count with their smallest bytes and shortest time, which is a lower bound for all plans of a branch.
    """

    def __init__(
        self,
        items: Sequence[Item],
        allowed: Sequence[Sequence[int]],
        limits: BudgetLimits,
        known: list[int] | None,
        nodes: int,
    ) -> None:
        self.items, self.limits = items, limits
        self.found: list[int] | None = None
        self.least = float("inf") if known is None else outcome(items, known).seconds
        self.left = nodes
        self.order = sorted(range(len(items)), key=lambda i: -items[i].choices[0].nbytes)
        self.numbers = [sorted(ns, key=lambda n: items[i].choices[n].seconds) for i, ns in enumerate(allowed)]
        self.lowest = [
            tuple(min(items[i].choices[n].takes[k] for n in ns) for k in range(len(limits)))
            for i, ns in enumerate(allowed)
        ]
        self.rest = [0.0]  # rest[k]: the least seconds of the items from position k of the order on
        for i in reversed(self.order):
            self.rest.insert(0, self.rest[0] + items[i].choices[self.numbers[i][0]].seconds)
        moments = sorted({item.born for item in items})  # memory can peak only when a tensor is saved
        self.spans = [[t for t, m in enumerate(moments) if item.born <= m < item.last] for item in items]
        self.held = [[0] * len(moments) for _ in limits]
        for i, span in enumerate(self.spans):
            self._add(span, self.lowest[i], 1)
        self.chosen = [0] * len(items)
        if self._within(range(len(moments))):
            self._choose(0, 0.0)

    def _add(self, span: Sequence[int], takes: tuple[int, ...], sign: int) -> None:
        for held, size in zip(self.held, takes, strict=True):
            if size:
                for t in span:
                    held[t] += sign * size

    def _within(self, span: Sequence[int]) -> bool:
        return all(held[t] <= limit for held, limit in zip(self.held, self.limits, strict=True) for t in span)

    def _choose(self, at: int, seconds: float) -> None:  # the recursion is as deep as there are items, which are few
        if at == len(self.order):
            result = outcome(self.items, self.chosen)
            if result.seconds < self.least and result.fits(self.limits):
                self.least, self.found = result.seconds, list(self.chosen)
            return
        i = self.order[at]
        span = self.spans[i]
        for n in self.numbers[i]:
            choice = self.items[i].choices[n]
            if self.left <= 0 or seconds + choice.seconds + self.rest[at + 1] >= self.least:
                return
            self.left -= 1
            more = tuple(size - low for size, low in zip(choice.takes, self.lowest[i], strict=True))
            self._add(span, more, 1)
            if self._within(span):
                self.chosen[i] = n
                self._choose(at + 1, seconds + choice.seconds)
            self._add(span, more, -1)
