"""From notes on what was computed, the way to make a tensor again that holds the fewest bytes beside what is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .recipes import Recipe, Value
from .storage import owner

LARGEST = 64  # operations and operands that a search looks at


class Way:
    """How to have a value in backward: `array` is to be held; or, without one, its call is to be run again.

    `extra` are the storages to hold for it that nobody holds yet, with their bytes.
    """

    __slots__ = ("array", "extra")

    def __init__(self, array: Any, extra: dict[int, int]) -> None:
        self.array, self.extra = array, extra

    @property
    def nbytes(self) -> int:
        return sum(self.extra.values())


Ways = dict[Value, Way | None]
Held = Callable[[Value, Any], bool]
_FREE: dict[int, int] = {}


def ways_to(wanted: Value, is_held: Held) -> Ways:
    """A way for every value that making `wanted` again goes through, and for itself: None where there is none.

    `is_held(value, array)` says whether somebody holds it anyway; the array is None if it is gone.
    """
    ways: Ways = {}
    ways[wanted] = _through_call(wanted, ways, is_held)
    return ways


def _through_call(value: Value, ways: Ways, is_held: Held) -> Way | None:
    call = value.call
    if call is None or len(ways) > LARGEST:
        return None
    extra: dict[int, int] = {}
    for source in call.sources():
        if source not in ways:
            ways[source] = _way(source, ways, is_held)
        way = ways[source]
        if way is None:
            return None
        extra.update(way.extra)
    return Way(None, extra)


def _way(value: Value, ways: Ways, is_held: Held) -> Way | None:  # as deep as notes reach back, which is not far
    array = value.current()
    if value.has_way or is_held(value, array):
        return Way(array, _FREE)
    way = _through_call(value, ways, is_held)
    if array is not None:
        whole = owner(array)
        if way is None or way.nbytes >= whole.nbytes:
            return Way(array, {id(whole): whole.nbytes})
    return way


def written(wanted: Value, ways: Ways, hold: Callable[[Value, Any], Any]) -> Recipe:
    """The recipe that the ways describe. `hold(value, array)` gives what holds a value that a recipe starts from."""
    call = wanted.call
    assert call is not None
    return wanted.remember(Recipe(wanted, [_source(value, ways, hold) for value in call.sources()]))


def _source(value: Value, ways: Ways, hold: Callable[[Value, Any], Any]) -> Any:
    known = value.known_recipe()
    if known is not None:
        return known
    way = ways[value]
    assert way is not None
    return written(value, ways, hold) if way.array is None and way.extra is not _FREE else hold(value, way.array)
