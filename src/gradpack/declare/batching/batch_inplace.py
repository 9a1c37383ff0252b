"""Writes inside of forward mode under `vmap`, as in `jacfwd`, to tensors that are the same for all examples.

There the examples may differ in their tangents only. A tensor is given all examples, each with tangents of its
own, before it is written to: it turns into a batched one. When the level ends it is what it was, with the values
that were written to it.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any
from weakref import ref

from ...base.modes import MODE, TRANSFORMS, using
from ...core.tensor import Tensor, alias
from ..dispatch.tangents import alias_of
from ..op import REGISTRY
from .batch_tensor import batched, expanded, with_same
from .captured import refuse_captured

if TYPE_CHECKING:
    from .level import VmapLevel


def may_batch(level: VmapLevel) -> bool:
    """Return whether examples of a level may have equal values and differ in their tangents only."""
    return level.alike or any(t.pushes and t.number > level.number for t in TRANSFORMS.get())


def batch_inplace(target: Tensor, level: VmapLevel, name: str) -> bool:
    """Batch a tensor in place at this level, with its base and all views of the base.

    Returns:
        False if another tensor shares the storage without being a view: a detached one, say.

    Raises:
        RuntimeError: if the function that is differentiated has the tensor in its closure.
    """
    family = [target]
    while family[-1]._view is not None:
        family.append(family[-1]._view.parent)
    base = family[-1]
    refuse_captured(target, name)
    if not level.has(base):
        if sys.getrefcount(base._counter) > len(family) + 1:
            family = _all_views(base)
            if sys.getrefcount(base._counter) > len(family) + 1:
                return False
        _become(base, _spread(alias_of(base), MODE.get().levels), level)
    for tensor in reversed(family):
        if tensor is not base:
            view: Any = tensor._view
            _become(tensor, view.replayed(view.parent), level)
    return True


def _all_views(base: Tensor) -> list[Tensor]:
    """Return a base and all its views, views of views first. The garbage collector finds them: no list is kept."""
    depths: dict[int, tuple[int, Tensor]] = {}
    for tensor in gc.get_referrers(base._counter):
        if isinstance(tensor, Tensor) and tensor._counter is base._counter:
            depth, root = 0, tensor
            while root._view is not None:
                depth, root = depth + 1, root._view.parent
            if root is base:
                depths[id(tensor)] = depth, tensor
    return [tensor for _, tensor in sorted(depths.values(), key=lambda found: -found[0])]


def _spread(value: Tensor, levels: tuple[VmapLevel, ...]) -> Tensor:
    """Return a copy expanded by the innermost level, and by outer levels whose examples differ in tangents only."""
    level, outer = levels[-1], levels[:-1]
    with using(levels=outer):
        if outer and may_batch(outer[-1]) and not outer[-1].has(value):
            value = _spread(value, outer)
        return with_same(batched(REGISTRY["clone"].public(expanded(value, level.size)), level), [True])


def _become(tensor: Tensor, other: Tensor, level: VmapLevel) -> None:
    """Replace data and history of `tensor` by those of `other`, and record the former ones in the level."""
    before = alias(tensor._data, tensor._spec, tensor._shape)
    before._counter, before._edge, before._view = tensor._counter, tensor._edge, tensor._view
    level.batched_inplace = [*level.batched_inplace, (ref(tensor), before)]
    _take(tensor, other)


def _take(tensor: Tensor, other: Tensor) -> None:
    tensor._data, tensor._spec, tensor._counter = other._data, other._spec, other._counter
    tensor._edge, tensor._view = other._edge, other._view


def unbatch(level: VmapLevel) -> None:
    """Undo `batch_inplace` for all tensors of the level; the values of the first example are copied into the bases."""
    records, level.batched_inplace = list(level.batched_inplace), ()
    records = [(place, before) for place, before in records if place() is not None]  # freed views hold bases
    levels = MODE.get().levels
    outer = levels[: levels.index(level)] if level in levels else levels
    while records:
        place, before = records.pop()
        tensor = place()
        if tensor is None or not level.has(tensor):
            continue
        whole = tensor._data.value
        _take(tensor, before)
        del before  # drops the last other reference to its storage
        if tensor._view is None:
            with using(levels=outer, grad=False, dual=0):
                tensor.copy_(whole.detach()[0])
