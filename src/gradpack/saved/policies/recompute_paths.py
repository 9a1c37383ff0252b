"""Search the notes for the way to recompute a tensor that keeps the fewest additional bytes alive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..storage import owner
from .recompute_graph import Recipe, Value

LARGEST = 64  # values that a search examines


class Way:
    """How to obtain a value in backward: hold `array`, or, if that is None, run its call again.

    `extra` maps the ids of the storages that must be held additionally for it to their bytes.
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
    """Return a way for `wanted` and every value that recomputing it uses; None for values without a way.

    `is_held(value, array)` returns whether a value is held anyway; the array is None if it no longer exists.
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


def _way(value: Value, ways: Ways, is_held: Held) -> Way | None:  # the depth of the notes bounds the recursion
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
    """Return the recipe that the ways describe. `hold(value, array)` returns the holder of an array it starts from."""
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
