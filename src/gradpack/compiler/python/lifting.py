"""Tensors that a function replaces, as arguments and results of it: places of Python are read before, and set after.

`self.h = h` gives an attribute another tensor at each call. No program does that, but one that takes what the attribute
holds as an argument, and returns what it is to hold. What `losses.append(loss.item())` appends is a result, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial, update_wrapper
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from ...core.tensor import Tensor
from ...nn import Module
from ...optim.lr_scheduler import LRScheduler, ReduceLROnPlateau
from ..returned_numbers import with_values
from .guard import Snapshot, all_but, member, same
from .names_in_code import ANY_NAME, appended_names, only_appends, only_counts
from .values import PLAIN, contents, is_users_function, slot

if TYPE_CHECKING:
    from .state import Walk

_PACKAGE = __name__.partition(".")[0]
_EMPTY = object()  # what a place holds that is not there
_ALL = object()  # stands for all keys of a holder


class Place(NamedTuple):
    """An attribute, an item of a dict or list, or a variable of an outer function.

    Attributes:
        holder: a dict, a list, a cell, or an object with slots.
        key: of a dict or list, or the name of a slot; "" for cells.
        name: how a message calls it.
        counts: whether it holds an integer, to which the function adds others, and does nothing else with it.
        grows: whether it holds a list or deque, to which the function appends, and does nothing else with it.
    """

    holder: Any
    key: Any
    name: str
    counts: bool = False
    grows: bool = False

    def value(self) -> Any:
        """Return what the place holds now."""
        if isinstance(self.holder, dict):
            return self.holder.get(self.key, _EMPTY)
        if type(self.holder) is list:
            return self.holder[self.key] if self.key < len(self.holder) else _EMPTY
        if type(self.holder) is CellType:
            return next(iter(contents(self.holder)), _EMPTY)
        return getattr(self.holder, self.key, _EMPTY)


class Schedule(NamedTuple):
    """A scheduler of learning rates, to which a function takes steps: a place that counts epochs.

    Attributes:
        schedule: the scheduler.
        holder: its attributes.
        name: how a message calls it.
        changed: the names of those that a step changes.
        key: all of them.
    """

    schedule: LRScheduler
    holder: dict[str, Any]
    name: str
    changed: frozenset[str]
    key: Any = _ALL
    counts: bool = True
    grows: bool = False

    def value(self) -> Any:
        """Return how many steps it has taken."""
        return epoch_of(self.schedule)

    def set(self, value: int) -> None:
        """Take steps until it has taken so many."""
        for _ in range(value - self.value()):
            self.schedule.step()


def epoch_of(schedule: Any) -> Any:
    """Return the epoch of a scheduler; of several at once that of the first."""
    return schedule.last_epoch if hasattr(schedule, "last_epoch") else epoch_of(schedule._schedulers[0])


def _parts_of(schedule: Any) -> list[Any]:
    """Return a scheduler and those that it is made of."""
    return [schedule, *[part for each in getattr(schedule, "_schedulers", ()) for part in _parts_of(each)]]


class Wrapper:
    """A function that calls one of the user's."""

    function: Callable[..., Any]


class Lifted(Wrapper):
    """A function that takes what places hold as its last arguments, and returns what it leaves there, too.

    Of those that count it takes nothing, and returns how far they went, and of lists what it appended, which is no item
    of theirs yet.
    """

    def __init__(self, function: Callable[..., Any], places: list[Place | Schedule]) -> None:
        self.function, self.places = function, places
        self.held = [place for place in places if not (place.counts or place.grows)]
        self.counts = [place for place in places if place.counts]
        self.grown = [place for place in places if place.grows]
        if hasattr(function, "__name__"):
            update_wrapper(self, function, updated=())
        self.__wrapped__ = function  # for messages that name a line

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, list[Any], list[int], list[list[Any]]]:
        before = [place.value() for place in self.counts]
        lists = list(map(_Appended, self.lists()))
        try:
            result = self.function(*args[: len(args) - len(self.held)], **kwargs)
        except BaseException:
            for each in lists:
                each.found.extend(with_values(each.taken()))
            raise
        appended = [each.taken() for each in lists]
        went = [place.value() - first for place, first in zip(self.counts, before, strict=True)]
        return result, [place.value() for place in self.held], went, appended

    def lists(self) -> list[Any]:
        """Return the lists to which it appends."""
        return [place.value() for place in self.grown]

    def state(self) -> list[int]:
        """Return the identities of what the places hold, and of the items of lists."""
        values = [place.value() for place in (*self.held, *self.counts)]
        return list(map(id, [*values, *[item for each in self.lists() for item in each]]))

    def around(self, call: Callable[..., Any] | ref[Any]) -> Callable[..., Any]:
        """Return a function of the user's arguments: it reads the places, makes a call, and sets the places.

        Args:
            call: takes and returns what this function does; or a weak reference to an object whose method
                `by_program` does.
        """
        every = [*self.held, *self.counts, *self.grown]
        names: dict[str, Any] = {"_call": call, "_function": self.function, "_empty": _EMPTY, "_lists": _LISTS}
        for i, place in enumerate(every):
            names |= {f"p{i}": place if type(place) is Schedule else place.holder, f"k{i}": place.key}
        numbers = iter(map(str, range(len(every))))
        held, counts, grown = ([next(numbers) for _ in each] for each in (self.held, self.counts, self.grown))
        called = "_call().by_program" if isinstance(call, ref) else "_call"
        lines = ["try:", *(f"    v{i} = {_reads(place, i)}" for i, place in enumerate(every))]
        lines += ["except (ValueError, IndexError, AttributeError):", "    return _function(*args, **kwargs)"]
        others = [*(f"type(v{i}) is not int" for i in counts), *(f"type(v{i}) not in _lists" for i in grown)]
        if grown[1:]:  # items of one list would get another order
            others.append(f"len({{{', '.join(f'id(v{i})' for i in grown)}}}) != {len(grown)}")
        lines += [f"if {' or '.join(others)}: return _function(*args, **kwargs)"] * bool(others)
        lists = (("n", held), ("w", counts), ("a", grown))
        made = (f"[{', '.join(f'{name}{i}' for i in each)}]" for name, each in lists)
        lines.append(f"result, {', '.join(made)} = {called}(*args, {''.join(f'v{i}, ' for i in held)}**kwargs)")
        lines += [f"n{i} = v{i} + w{i}" for i in counts]
        sets = enumerate([*self.held, *self.counts])
        lines += [f"if n{i} is not v{i} and n{i} is not _empty: {_sets(place, i)}" for i, place in sets]
        lines += [f"v{i}.extend(a{i})" for i in grown]
        exec("def run(*args, **kwargs):\n" + "".join(f"    {line}\n" for line in [*lines, "return result"]), names)
        run: Callable[..., Any] = names["run"]
        return run


class _Appended:
    """Knows what is appended to a list or deque from now on."""

    def __init__(self, found: Any) -> None:
        self.found, self.count, self.before = found, len(found), list[Any]()
        if type(found) is not list:  # a deque may drop its first items
            self.before = list(found)
            found.clear()

    def taken(self) -> list[Any]:
        """Return it, and take it away."""
        if type(self.found) is list:
            items = self.found[self.count :]
            del self.found[self.count :]
            return items
        items = list(self.found)
        self.found.clear()
        self.found.extend(self.before)
        return items


def _reads(place: Place | Schedule, i: int) -> str:
    """Return the text of what a place holds."""
    if type(place) is Schedule:
        return f"p{i}.value()"
    if isinstance(place.holder, dict):
        return f"p{i}.get(k{i}, _empty)"
    if type(place.holder) is CellType:
        return f"p{i}.cell_contents"
    return f"p{i}[k{i}]" if type(place.holder) is list else f"getattr(p{i}, k{i})"


def _sets(place: Place | Schedule, i: int) -> str:
    """Return the text that lets a place hold a value."""
    if type(place) is Schedule:
        return f"p{i}.set(n{i})"
    if isinstance(place.holder, dict | list):
        return f"p{i}[k{i}] = n{i}"
    return f"p{i}.cell_contents = n{i}" if type(place.holder) is CellType else f"setattr(p{i}, k{i}, n{i})"


def by_holder(places: Iterable[Place | Schedule]) -> dict[int, set[Any]]:
    """Return the keys of places, by the identity of their holders."""
    found: dict[int, set[Any]] = {}
    for place in places:
        holders = [vars(part) for part in _parts_of(place.schedule)] if type(place) is Schedule else [place.holder]
        for holder in holders:
            found.setdefault(id(holder), set()).add(place.key)
    return found


def without(keys: set[Any], holder: Any, values: Any) -> Any:
    """Return a function that returns the values of a container, None for those of places; None if all are those."""
    function = getattr(values, "func", None)
    if function is contents or _ALL in keys or (function in (member, slot) and values.args[1] in keys):
        return None
    return partial(all_but, holder, frozenset(keys)) if function is None else values


def function_of(function: Any) -> Any:
    """Return the function that was lifted, or the function itself."""
    return function.function if type(function) is Lifted else function


def replaced(walk: Walk) -> list[Place | Schedule]:
    """Return the places whose values changed since a walk; an empty list if more than tensors and counts changed."""
    found: list[Place | Schedule] = []
    schedules = {id(vars(each)): each for each in walk.seen.values() if isinstance(each, LRScheduler)}
    stepped: list[Schedule] = []
    for each in walk.snapshots:
        if each.holds():
            continue
        schedule, places, now = schedules.get(id(each.holder)), _places_of(each), list(each.values())
        if not len(places) == len(now) == len(each.held):
            return []
        changed = [(p, a, b) for p, a, b in zip(places, each.held, now, strict=True) if not same(a, b)]
        if schedule is not None:
            names = frozenset(str(place.key) for place, *_ in changed)
            stepped.append(Schedule(schedule, vars(schedule), each.name, names))
            continue
        for place, a, b in changed:
            if isinstance(a, (Tensor, *PLAIN)) and (b is None or type(b) is Tensor):
                found.append(place)
            elif type(a) is type(b) is int and _is_variable(place, walk) and not is_read(place, walk):
                found.append(place._replace(counts=True))
            else:
                return []
    inner = {id(part) for each in stepped for part in _parts_of(each.schedule)[1:]}
    if any(is_read(each, walk) for each in stepped):
        return []
    return found + [each for each in stepped if id(each.schedule) not in inner]


def held_by(walk: Walk, found: Any) -> list[Place]:
    """Return the places that hold a value."""
    pairs = [pair for each in walk.snapshots for pair in zip(_places_of(each), each.held, strict=False)]
    return [place for place, value in pairs if value is found]


def appended(walk: Walk) -> list[Place | Schedule]:
    """Return the places of lists to which code appends, and with which it does nothing else."""
    functions = [f.__code__ for f in walk.seen.values() if isinstance(f, FunctionType) and is_users_function(f)]
    names = {name for code in functions for name in appended_names(code)}
    if not names or not walk.names.isdisjoint(_LOOKS):
        return []
    places: dict[int, dict[Any, Place]] = {}  # of lists and dicts, by their identity
    for each in walk.snapshots:
        for place, value in zip(_places_of(each), each.held, strict=False):
            if type(value) in (*_LISTS, dict):
                places.setdefault(id(value), {})[id(place.holder), place.key] = place
    found = list[Place | Schedule]()
    for each in walk.snapshots:
        if type(each.holder) not in _LISTS:
            continue
        own = [*places.get(id(each.holder), {}).values()]
        of = [*places.get(id(own[0].holder), {}).values()] if len(own) == 1 else []
        is_named = any((p.key or p.name, depth) in names for depth, all_of in enumerate((own, of)) for p in all_of)
        if is_named and len(own) == 1 and not is_read(own[0]._replace(grows=True), walk):
            found.append(own[0]._replace(grows=True))
    return found


def is_read(place: Place | Schedule, walk: Walk) -> bool:
    """Return whether code does more than to add integers to a count, take steps of a scheduler, or append to a list."""
    if not walk.names.isdisjoint(_LOOKS):
        return True
    if isinstance(place, Schedule):
        step, groups = type(place.schedule).step, place.schedule.optimizer.param_groups
        is_usual = step.__module__.startswith(_PACKAGE) and not isinstance(place.schedule, ReduceLROnPlateau)
        names = {*place.changed, "get_last_lr", "get_lr", "state_dict", "param_groups"}
        return not is_usual or not walk.names.isdisjoint(names) or any(isinstance(g["lr"], Tensor) for g in groups)
    name, depth = place.key or place.name, 0
    if place.grows and not _is_variable(place, walk):  # an item of a dict that is one
        places = {(id(p.holder), p.key): p for p in held_by(walk, place.holder)}
        if not places:  # another one is in its place
            return False
        if len(places) != 1 or not all(_is_variable(p, walk) for p in places.values()):
            return True
        (of,) = places.values()
        name, depth = of.key or of.name, 1
    functions = (f for f in walk.seen.values() if isinstance(f, FunctionType) and is_users_function(f))
    code = (f.__code__ for f in functions)
    return not all(only_appends(c, name, depth) if place.grows else only_counts(c, name) for c in code)


def _is_variable(place: Place, walk: Walk) -> bool:
    """Return whether code names a place: it is no item of a dict or list."""
    if not isinstance(place.key, str) or hasattr(Module, place.key or place.name):
        return False
    spaces = (
        getattr(v, "__globals__" if isinstance(v, FunctionType) else "__dict__", None) for v in walk.seen.values()
    )
    return not isinstance(place.holder, dict) or any(space is place.holder for space in spaces)


_LOOKS = ANY_NAME | {"__setattr__"}
_LISTS = frozenset({list, deque})


def _places_of(snapshot: Snapshot) -> list[Place]:
    """Return the places of the values of a snapshot, if they can be set."""
    function, holder, name = getattr(snapshot.values, "func", None), snapshot.holder, snapshot.name
    if function is contents:
        return [Place(holder, "", name)]
    if (function is member and isinstance(holder, dict)) or function is slot:
        return [Place(holder, snapshot.values.args[1], name)]  # type: ignore[attr-defined]
    if function not in (None, all_but):
        return []
    if isinstance(holder, dict) and (snapshot.keys is None or list(holder) == snapshot.keys):
        return [Place(holder, key, f"{name}.{key}" if isinstance(key, str) else f"{name}[{key!r}]") for key in holder]
    return [Place(holder, i, f"{name}[{i}]") for i in range(len(holder))] if type(holder) is list else []
