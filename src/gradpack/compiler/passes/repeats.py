"""Cheap steps of one loop, computed once more by later loops, in place of results that memory would pass on.

A loop of a forward pass writes what the loop of its backward pass reads. Where that is a sum or product of arrays that
the later loop reads anyway, it is computed there again: that takes no time beside the memory.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from ..program import Instruction, Variable, mapped, variables

Group = list[tuple[Instruction, Instruction]]  # steps of a loop, each with the instruction that it is part of

_CHEAP = frozenset({"np.add", "np.subtract", "np.multiply", "np.negative"})
_MOST = 4  # steps for one result


def repeated(segments: list[Group | Instruction], outputs: list[Variable]) -> list[Group | Instruction]:
    """Return instructions and groups in which no group writes what all that read it can compute.

    Args:
        outputs: variables that are wanted.
    """
    loops, wanted = _Loops(segments), set(outputs)
    for i, group in loops.groups.items():
        for step, _ in group:
            others = loops.uses.get(step.results, set()) - {i}
            if others and step.results not in wanted and all(j in loops.groups for j in others):
                chains = {j: loops.chain(step, j) for j in others}
                if all(0 < len(chain) <= _MOST for chain in chains.values()):
                    for j, chain in chains.items():
                        loops.repeat(chain, j)
    if not loops.added:
        return segments
    changed = loops.changed()
    gone = {v for added in loops.added.values() for v in added}
    return _without_unused([changed.get(i, segment) for i, segment in enumerate(segments)], gone, outputs)


class _Loops:
    """The groups, what makes each variable, and what is to be added to each group."""

    def __init__(self, segments: list[Group | Instruction]) -> None:
        self.groups = {i: segment for i, segment in enumerate(segments) if isinstance(segment, list)}
        self.makers: dict[Variable, Instruction] = {}
        self.uses: dict[Variable, set[int]] = {}
        self.written: set[Any] = set()  # memory
        self.added: dict[int, dict[Variable, Instruction]] = {}  # by the group, and what they compute once more
        self._known: dict[int, set[Variable]] = {}  # arrays that a group reads
        numbers = []
        for i, segment in enumerate(segments):
            steps = [step for step, _ in segment] if isinstance(segment, list) else [segment]
            read = {v for each in steps for v in variables((each.args, each.kwargs))}
            made = {v for each in steps for v in variables(each.results)}
            numbers += [v.number for v in (*read, *made)]
            self.written |= {v.memory for each in steps for v in each.writes}
            self._known[i] = read - made
            for v in read:
                self.uses.setdefault(v, set()).add(i)
            if isinstance(segment, list):
                self.makers |= {step.results: step for step in steps}
        self._numbers = count(max(numbers, default=0) + 1)

    def chain(self, step: Instruction, group: int, depth: int = _MOST) -> list[Instruction]:
        """Return the steps that compute a result from what a group reads; [] if there are none, or they take long."""
        like: Any = next((s.results for s, _ in self.groups[group] if s.results.dtype.char != "?"), None)
        made = step.results
        if step.name not in _CHEAP or like is None or (made.shape, made.dtype) != (like.shape, like.dtype):
            return []
        found: dict[Variable, Instruction] = {}
        for v in {made: None, **dict.fromkeys(variables(step.args))}:
            if v.memory in self.written:
                return []
            is_there = v in self._known[group] or v in self.added.get(group, ()) or v.value is not None
            if v is made or is_there or not v.shape:
                continue
            steps = self.chain(self.makers[v], group, depth - 1) if depth > 1 and v in self.makers else []
            if not steps:
                return []
            found |= {each.results: each for each in steps}
        return [*found.values(), step]

    def repeat(self, chain: list[Instruction], group: int) -> None:
        """Let a group compute some results once more."""
        added = self.added.setdefault(group, {})
        for step in chain:
            if step.results not in added:
                made = step.results
                number = next(self._numbers)
                new = Variable(number, -number, made, made.hint)
                added[made] = step._replace(args=mapped(self._new(added), step.args), results=new)
        self._known[group].discard(chain[-1].results)

    @staticmethod
    def _new(added: dict[Variable, Instruction]) -> Any:
        return lambda v: added[v].results if v in added else v

    def changed(self) -> dict[int, Group]:
        """Return the groups to which steps are added."""
        found = {}
        for i, added in self.added.items():
            steps = list(added.values())
            steps += [s._replace(args=mapped(self._new(added), s.args)) for s, _ in self.groups[i]]
            found[i] = [(step, step) for step in steps]
        return found


def _without_unused(
    segments: list[Group | Instruction], gone: set[Variable], outputs: list[Variable]
) -> list[Group | Instruction]:
    """Return instructions and groups without the steps of these results that nothing reads any more."""
    used, found = set(outputs), list[Group | Instruction]()
    for segment in reversed(segments):
        if not isinstance(segment, list):
            found.append(segment)
            used |= set(variables((segment.args, segment.kwargs)))
            continue
        kept: Group = []
        for step, owner in reversed(segment):
            if step.results in used or step.results not in gone:
                kept.append((step, owner))
                used |= set(variables(step.args))
        if len(kept) < len(segment):
            kept = [(step, step) for step, _ in kept]
        if kept:
            found.append(kept[::-1])
    return found[::-1]
