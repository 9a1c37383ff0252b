"""Search the notes for the path to recompute a tensor that keeps the fewest additional bytes alive.

Operations that are cheap for the bytes of their results may run again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backends.memory_layout import owner_of
from ...declare.op import Op
from .recompute_graph import Recipe, RecordedArray

LARGEST = 64  # values that a search examines


class RecomputePath:
    """How to obtain a value in backward: hold `array`, or, if that is None, run its call again.

    `extra` maps the ids of the storages that must be held additionally for it to their bytes.
    """

    def __init__(self, array: Any, extra: dict[int, int]) -> None:
        self.array, self.extra = array, extra

    @property
    def nbytes(self) -> int:
        return sum(self.extra.values())


RecomputePaths = dict[RecordedArray, RecomputePath | None]
Held = Callable[[RecordedArray, Any], bool]
_FREE: dict[int, int] = {}


def paths_to(wanted: RecordedArray, is_held: Held) -> RecomputePaths:
    """Return a path for `wanted` and every value that recomputing it uses; None for values without a path.

    `is_held(value, array)` returns whether a value is held anyway; the array is None if it no longer exists.
    """
    paths: RecomputePaths = {}
    paths[wanted] = _through_op(wanted, paths, is_held)
    return paths


def _through_op(value: RecordedArray, paths: RecomputePaths, is_held: Held) -> RecomputePath | None:
    call = value.call
    if call is None or len(paths) > LARGEST:
        return None
    extra: dict[int, int] = {}
    for source in call.sources():
        if source not in paths:
            paths[source] = _path(source, paths, is_held)
        path = paths[source]
        if path is None:
            return None
        extra.update(path.extra)
    return RecomputePath(None, extra)


# The depth of the notes bounds the recursion.
def _path(value: RecordedArray, paths: RecomputePaths, is_held: Held) -> RecomputePath | None:
    array = value.current()
    if value.has_path or is_held(value, array):
        return RecomputePath(array, _FREE)
    path = _through_op(value, paths, is_held)
    if array is not None:
        whole = owner_of(array)
        if path is None or path.nbytes >= whole.nbytes:
            return RecomputePath(array, {id(whole): whole.nbytes})
    return path


def recipe_of(wanted: RecordedArray, paths: RecomputePaths, hold: Callable[[RecordedArray, Any], Any]) -> Recipe:
    """Return the recipe that the paths describe. `hold(value, array)` returns the holder of an array it starts from."""
    call = wanted.call
    assert call is not None
    return wanted.remember(Recipe(wanted, [_source(value, paths, hold) for value in call.sources()]))


def _source(value: RecordedArray, paths: RecomputePaths, hold: Callable[[RecordedArray, Any], Any]) -> Any:
    known = value.recipe()
    if known is not None:
        return known
    path = paths[value]
    assert path is not None
    return recipe_of(value, paths, hold) if path.array is None and path.extra is not _FREE else hold(value, path.array)


_KINDS = ("elementwise", "linear")  # cheap kinds: one pass over memory; exceptions say so in their declarations


def is_cheap(op: Op) -> bool:
    """Return whether running an operation again takes about as long as reading its result from memory."""
    return op.cost == "cheap" or (op.kind in _KINDS and op.cost is None)


def is_product(op: Op) -> bool:
    """Return whether an operation is a matrix product, as in a linear layer."""
    return op.name in _PRODUCTS


_PRODUCTS = frozenset({"linear", "mm", "matmul"})


def reads_little(made: int, tensors: Any) -> bool:
    """Return whether the operands have at most 8 times the `made` bytes of the result; reductions read much more."""
    return sum(t._data.nbytes for t in tensors if not is_held(t)) <= 8 * made


def is_held(tensor: Any) -> bool:
    """Return whether the program holds a tensor anyway: a parameter or a leaf that requires grad, or a view of one."""
    while tensor._view is not None:
        tensor = tensor._view.parent
    return bool(tensor._is_param) or (tensor._edge is not None and tensor.is_leaf)
