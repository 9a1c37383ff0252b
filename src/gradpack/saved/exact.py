"""The cheapest plan there is for a few tensors, by looking at all that may be cheaper than the best one so far."""

from __future__ import annotations

from collections.abc import Sequence

from .choices import Item, Limits, outcome


def cheapest(
    items: Sequence[Item], allowed: Sequence[Sequence[int]], limits: Limits, known: list[int] | None, nodes: int
) -> list[int] | None:
    """A plan within limits that takes less time than `known`; None if there is none.

    At most `nodes` partial plans are looked at: where there would be more, it is the best of those.
    """
    return _Search(items, allowed, limits, known, nodes).found


class _Search:
    """Choices are made for one item after the other, the largest first, the quickest choice first.

    What is left open counts with the least of its bytes and of its time: no plan that begins like this is better.
    """

    def __init__(
        self,
        items: Sequence[Item],
        allowed: Sequence[Sequence[int]],
        limits: Limits,
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
        self.rest = [0.0]  # what the last items of the order cost at least
        for i in reversed(self.order):
            self.rest.insert(0, self.rest[0] + items[i].choices[self.numbers[i][0]].seconds)
        moments = sorted({item.born for item in items})  # when what is held may be most
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

    def _choose(self, at: int, seconds: float) -> None:  # as deep as there are items, which are few
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
