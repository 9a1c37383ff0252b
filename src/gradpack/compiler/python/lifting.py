"""Tensors that a function replaces, as arguments and results of it: places of Python are read before, and set after.

`self.h = h` gives an attribute another tensor at each call. No program does that, but one that takes what the attribute
holds as an argument, and returns what it is to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, update_wrapper
from types import CellType
from typing import Any, NamedTuple

from ...core.tensor import Tensor
from .guard import PLAIN, Snapshot, all_but, member, same
from .values import contents, slot

_EMPTY = object()  # what a place holds that is not there


class Place(NamedTuple):
    """An attribute, an item of a dict or list, or a variable of an outer function.

    Attributes:
        holder: a dict, a list, a cell, or an object with slots.
        key: of a dict or list, or the name of a slot; "" for cells.
        name: how a message calls it.
    """

    holder: Any
    key: Any
    name: str

    def value(self) -> Any:
        """Return what the place holds now."""
        if isinstance(self.holder, dict):
            return self.holder.get(self.key, _EMPTY)
        if type(self.holder) is list:
            return self.holder[self.key] if self.key < len(self.holder) else _EMPTY
        if type(self.holder) is CellType:
            return next(iter(contents(self.holder)), _EMPTY)
        return getattr(self.holder, self.key, _EMPTY)

    def set(self, value: Any) -> None:
        """Let the place hold a value."""
        if isinstance(self.holder, dict | list):
            self.holder[self.key] = value
        elif type(self.holder) is CellType:
            self.holder.cell_contents = value
        else:
            setattr(self.holder, self.key, value)


class Lifted:
    """A function that takes what places hold as its last arguments, and returns what it leaves there, too."""

    def __init__(self, function: Callable[..., Any], places: list[Place]) -> None:
        self.function, self.places = function, places
        if hasattr(function, "__name__"):
            update_wrapper(self, function, updated=())
        self.__wrapped__ = function  # for messages that name a line

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        result = self.function(*args[: len(args) - len(self.places)], **kwargs)
        return result, [place.value() for place in self.places]

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, by a call that takes and returns what this one does."""
        places = self.places

        def run(*args: Any, **kwargs: Any) -> Any:
            held = [place.value() for place in places]
            result, left = call(*args, *held, **kwargs)
            for place, value in zip(places, left, strict=True):
                if place.value() is not value:
                    place.set(value)
            return result

        return run


def by_holder(places: Iterable[Place]) -> dict[int, set[Any]]:
    """Return the keys of places, by the identity of their holders."""
    found: dict[int, set[Any]] = {}
    for place in places:
        found.setdefault(id(place.holder), set()).add(place.key)
    return found


def without(keys: set[Any], holder: Any, values: Any) -> Any:
    """Return what returns the values of a container without those of places; None if there are no others."""
    function = getattr(values, "func", None)
    if function is contents or (function in (member, slot) and values.args[1] in keys):
        return None
    return partial(all_but, holder, frozenset(keys)) if function is None else values


def function_of(function: Any) -> Any:
    """Return the function that was lifted, or the function itself."""
    return function.function if type(function) is Lifted else function


def replaced(snapshots: list[Snapshot]) -> list[Place]:
    """Return the places that hold other values than in snapshots; none if another value than a tensor is new."""
    found: list[Place] = []
    for each in snapshots:
        if each.holds():
            continue
        places, now = _places_of(each), list(each.values())
        if not len(places) == len(now) == len(each.held):
            return []
        changed = [(p, a, b) for p, a, b in zip(places, each.held, now, strict=True) if not same(a, b)]
        if not changed or not all(isinstance(a, (Tensor, *PLAIN)) and _may_be_left(b) for _, a, b in changed):
            return []
        found += [place for place, *_ in changed]
    return found


def _may_be_left(value: Any) -> bool:
    return value is None or type(value) is Tensor


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
