"""One step as a budget sees it: what was saved and unpacked in which order; and plans for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any
from weakref import ref

from ..info import SavedInfo
from .accounting import Method
from .costs import CallTime
from .planner import plan
from .plans import NEVER, BudgetLimits, BudgetPlan, Choice, ChoicePlan, Item, outcome

Key = tuple[Any, ...]
_KINDS = 1000  # kinds of steps; beyond it, those without living plans are forgotten
_CHANGED = 0.75  # a cost has changed if it is less than this part of the old one, or the other way round


class ProfileRow:
    """One storage in a step: when it was saved and used, and how it may be kept.

    Attributes:
        key: node, slot, shape and dtype of the first tensor saved of it, and its bytes.
        born, first, last: when it was saved, used first and used last; -1 before it is used.
        took: the times of the operations that recomputing it would run, None if it cannot be recomputed.
        needs: the numbers of the rows that recomputing would start from.
        fixed: whether it must be kept as it is.
        away: whether it is on a device other than the CPU.
        exact: whether lossy methods must not be used.
    """

    def __init__(self, number: int, key: Key, nbytes: int, born: int, away: bool) -> None:
        self.number, self.key, self.nbytes, self.born, self.away = number, key, nbytes, born, away
        self.first = self.last = -1
        self.took: list[CallTime] | None = None
        self.needs: tuple[int, ...] = ()
        self.fixed = False
        self.exact = False
        self._info: Any = None

    def describe(self, info: SavedInfo) -> None:
        """Set the metadata of a row that is in no plan."""
        self._info = info
        self.exact = info.exact or info.kind in ("stat", "mask", "index")

    @property
    def label(self) -> str:
        """A readable name of the tensor: slot, operation, module, shape."""
        info = self._info
        return f"{info.slot!r} of {info.op}{f' in {info.module}' if info.module else ''} {list(info.shape)}"

    @property
    def seconds(self) -> float | None:
        """Seconds to recompute it, None if it cannot be recomputed."""
        return None if self.took is None else sum([took.seconds for took in self.took])

    def learn(self, other: ProfileRow) -> None:
        """Copy recomputation costs and metadata from the same row of an earlier step."""
        self.took, self.needs = other.took, other.needs
        self.exact, self._info = other.exact, other._info

    def used(self, now: int) -> None:
        if self.first < 0:
            self.first = now
        self.last = now


class StepProfile:
    """The storages saved since the last step ended, and the plan that they match so far.

    Attributes:
        choice: the plan's choice for the last row; None once the step matches no plan.
        uses: how often a tensor was unpacked.
        began: the total seconds of operations when it began.
    """

    def __init__(self, began: float = 0.0) -> None:
        self.began = began
        self._asked: Any = None
        self.rows: list[ProfileRow] = []
        self.keys: list[Key] = []
        self.clock = self.uses = 0
        self.planned: BudgetPlan | None = None
        self.choice: Choice | None = None

    def tick(self, node: Any = None) -> int:
        """Advance the logical clock and return it; consecutive calls for one node get the same time."""
        asking = None if node is None else ref(node)
        if asking is None or asking is not self._asked:
            self.clock += 1
        self._asked = asking
        return self.clock

    def add(self, row: ProfileRow, plans: Sequence[BudgetPlan]) -> None:
        at = len(self.keys)
        self.rows.append(row)
        self.keys.append(row.key)
        planned = self.planned
        if planned is None or at >= len(planned.keys) or planned.keys[at] != row.key:
            if at and planned is None:
                return  # the step has already left all plans
            planned = self.planned = next((p for p in plans if p.keys[: at + 1] == self.keys), None)
        self.choice = None if planned is None else planned.choice(at)
        if planned is not None:
            row.learn(planned.rows[at])

    def has(self, row: ProfileRow) -> bool:
        """Return whether a row is of this step."""
        return row.number < len(self.rows) and self.rows[row.number] is row

    def withdraw(self) -> None:
        """Forget the last row."""
        self.rows.pop()
        self.keys.pop()


def planned(
    profile: StepProfile,
    methods: Sequence[Method],
    limits: BudgetLimits,
    effort: float,
    others: Sequence[BudgetPlan] = (),
) -> BudgetPlan:
    """Make a plan for steps like this one, with about `effort` seconds of search.

    It is no slower than those of `others`, as far as these fit within the limits.
    """
    items = _items(profile, methods)
    start = _best_of(others, items, limits)
    return _made(profile, methods, items, plan(items, *limits, effort=effort, start=start), limits)


def _items(profile: StepProfile, methods: Sequence[Method]) -> list[Item]:
    return [_item(row, methods, profile.clock + 1) for row in profile.rows]


def _made(
    profile: StepProfile, methods: Sequence[Method], items: list[Item], plan: ChoicePlan, limits: BudgetLimits
) -> BudgetPlan:
    made = BudgetPlan(profile.keys, profile.rows, items, plan, limits)
    made.rates = [rate for m in methods for rate in m.rates]
    return made


def _best_of(plans: Sequence[BudgetPlan], items: Sequence[Item], limits: BudgetLimits) -> list[int] | None:
    """Return the choices of the fastest plan that fits, by current costs; None if none fits."""
    tried = [known.choices_among(items) for known in plans]
    fitting = [(found.seconds, chosen) for chosen in tried if (found := outcome(items, chosen)).fits(limits)]
    return min(fitting, key=itemgetter(0))[1] if fitting else None


def is_due(plan: BudgetPlan, methods: Sequence[Method]) -> bool:
    """Return whether to make a plan again: after its first step, and when measured rates have changed."""
    now = [rate for m in methods for rate in m.rates]
    pairs = zip(now, plan.rates, strict=False)
    return plan.followed == 1 or any(not _CHANGED * a < b < a / _CHANGED for a, b in pairs)


def better(
    profile: StepProfile, methods: Sequence[Method], effort: float, others: Sequence[BudgetPlan] = ()
) -> BudgetPlan:
    """Return the plan that a step has followed, or a new one if that is clearly better by current costs."""
    old = profile.planned
    assert old is not None
    new = planned(profile, methods, old.limits, effort, [old, *others])
    old.rates = new.rates
    return _in_place_of(old, new)


def adopted(profile: StepProfile, methods: Sequence[Method], others: Sequence[BudgetPlan]) -> BudgetPlan:
    """Like `better`, but without a search: only newer plans of other budgets are compared."""
    old = profile.planned
    assert old is not None
    newer = [other for other in others if other.number > old.looked]
    if not newer:
        return old
    items = _items(profile, methods)
    old.looked = max(other.number for other in newer)
    chosen = _best_of(newer, items, old.limits)
    if chosen is None:
        return old
    return _in_place_of(
        old, _made(profile, methods, items, ChoicePlan(chosen, outcome(items, chosen), True), old.limits)
    )


def _in_place_of(old: BudgetPlan, new: BudgetPlan) -> BudgetPlan:
    if not old.is_worse(new):
        return old
    new.followed = old.followed
    return new


class SharedPlans:
    """The living plans of all budgets of the process, by the kind of step.

    A plan that fits less room also fits more: so every budget considers the plans of others, and a larger budget is
    not slower than a smaller one.
    """

    def __init__(self) -> None:
        self._known: dict[int, list[ref[BudgetPlan]]] = {}

    def add(self, plan: BudgetPlan) -> None:
        if len(self._known) >= _KINDS:
            self._known = {key: plans for key, plans in self._known.items() if any(found() for found in plans)}
        kind = hash(tuple(plan.keys))
        left = [found for found in self._known.get(kind, ()) if found() not in (None, plan)]
        self._known[kind] = [*left, ref(plan)]

    def like(self, keys: Sequence[Key]) -> list[BudgetPlan]:
        """Return the plans that fit, for steps that save the same tensors."""
        known = self._known.get(hash(tuple(keys)), ())
        return [plan for found in known if (plan := found()) is not None and plan.fits and plan.keys == keys]


def _item(row: ProfileRow, methods: Sequence[Method], end: int) -> Item:
    on_host = 0 if row.away else 1
    choices = [Choice("keep", row.nbytes, 0.0, host=on_host * row.nbytes)]
    if not row.fixed:
        if row.seconds is not None and row.seconds < NEVER:
            choices.append(Choice("recompute", 0, row.seconds, needs=row.needs))
        for m in methods:
            if (m.lossy and row.exact) or (m.from_device and not row.away):
                continue
            size = int(row.nbytes * m.ratio(row.key))
            if size < row.nbytes or m.from_device:
                disk = row.nbytes if m.on_disk else 0
                costs = m.seconds(row.nbytes), disk, (), m.fetch(row.nbytes)
                choices.append(Choice(m.name, on_host * size, *costs, rounds=m.lossy, host=size))
    if row.first < 0:
        return Item(tuple(choices), row.born, end, end)
    if row.first < row.last:  # used more than once: it may also be unpacked or recomputed for each use
        choices += [replace(c, seconds=c.seconds + c.anew, stays=False) for c in choices[1:]]
    return Item(tuple(choices), row.born, row.first, row.last)
