"""What is the same for all examples of a level of `vmap`: there numbers can be looked at.

Under `jacfwd`, or `vmap` of `jvp`, a tensor that is differentiated by has the same values for all examples, and
tangents of its own for each. So have results of such tensors. Whether all values are equal is looked at when one is
asked for: writes do not keep track of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..base.modes import MODE, TRANSFORMS, using
from ..tensor.tensor import Tensor
from .batched import VmapLevel, cut, is_batched
from .op import REGISTRY
from .vmap_errors import NO_STORAGE, NO_VALUE


def same_of(value: Tensor, levels: Iterable[VmapLevel]) -> list[bool]:
    """For each level, the innermost first, whether a tensor is the same for all of its examples."""
    found = []
    for level in reversed(tuple(levels)):
        inside = level.has(value)
        found.append(value._data.same if inside else True)
        value = value._data.value if inside else value
    return found


def first_if_same(value: Tensor) -> Tensor | None:
    """The first example, if all of them are equal; None if they are not. Called outside of the level."""
    whole = cut(value, True).detach()
    first = whole[:1]
    equal: Any = REGISTRY["isclose"].public(whole, first, 0.0, 0.0, True)
    while is_batched(equal):
        equal = equal._data.value
    return value[0] if value._shape[0] and bool(equal.all()) else None


def value_of_all(data: Any, refusal: str) -> Tensor:
    """One level further out: the value of all examples, where these differ in tangents only."""
    levels = MODE.get().levels
    if data.same:
        with using(levels=levels[: levels.index(data.level)] if data.level in levels else ()):
            found = first_if_same(data.value)
        if found is not None:
            return found
    if refusal is not NO_STORAGE and any(t.number > data.level.number for t in TRANSFORMS.get()):
        refusal = NO_VALUE
    raise RuntimeError(refusal)
