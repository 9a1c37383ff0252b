"""Arrays of programs, small ones of one dtype one after another in one: a call costs time for each array."""

from __future__ import annotations

from collections.abc import Callable, Container
from math import prod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..program import Variable

SMALL = 1 << 12  # elements


class Layout:
    """The groups of arrays that are one array, one after another.

    Attributes:
        groups: the places of arrays that are one, or of a single one.
        places: for each place the number of its group, its elements there, and its shape.

    Args:
        variables: by their places.
        alone: the places of those that are not put together with others.
    """

    def __init__(self, variables: dict[int, Variable], alone: Container[int] = ()) -> None:
        groups: dict[Any, list[int]] = {}
        for place, v in variables.items():
            is_alone = place in alone or prod(v.shape) > SMALL
            groups.setdefault(place if is_alone else v.dtype.name, []).append(place)
        self.groups = list(groups.values())
        self.places: dict[int, tuple[int, slice, tuple[int, ...]]] = {}
        for number, group in enumerate(self.groups):
            stop = 0
            for place in group:
                start, stop = stop, stop + prod(variables[place].shape)
                self.places[place] = number, slice(start, stop), variables[place].shape

    def packed(self, arrays: Any, concatenate: Callable[[list[Any]], Any]) -> list[Any]:
        """Return one array for each group, of arrays by their places."""
        return [
            arrays[group[0]] if len(group) == 1 else concatenate([arrays[place].reshape(-1) for place in group])
            for group in self.groups
        ]

    def taken(self, packs: list[Any], place: int) -> Any:
        """Return the array of a place."""
        number, elements, shape = self.places[place]
        return packs[number] if len(self.groups[number]) == 1 else packs[number][elements].reshape(shape)


class Packs:
    """Arrays of JAX's that tensors refer to by `Part`.

    Attributes:
        arrays: one for each group of the layout; those of the last run.
    """

    __slots__ = ("_read", "_read_of", "arrays", "layout")

    def __init__(self, layout: Layout, arrays: list[Any]) -> None:
        self.layout, self.arrays = layout, arrays
        self._read: dict[int, Any] = {}
        self._read_of: list[Any] | None = None  # the arrays that these are parts of

    def array(self, place: int) -> Any:
        """Return the array of a place as one of JAX's."""
        number = self.layout.places[place][0]
        if len(self.layout.groups[number]) == 1:
            return self.arrays[number]
        if self._read_of is not self.arrays:
            self._read, self._read_of = {}, self.arrays
        if place not in self._read:
            self._read[place] = jnp.asarray(self.numpy(place))
        return self._read[place]

    def numpy(self, place: int) -> Any:
        """Return the array of a place as a new one of NumPy's."""
        number, elements, shape = self.layout.places[place]
        if len(self.layout.groups[number]) == 1:
            return fetched(self.arrays[number])
        return np.asarray(self.arrays[number])[elements].reshape(shape).copy()


class Part(NamedTuple):
    """The array of a place of `packs`, which changes with each run: a deferred tensor has it in place of an array."""

    packs: Packs
    place: int


def fetched(array: Any) -> Any:
    """Return a new array of NumPy's; one that lies on devices of several processes is gathered by all of them."""
    if type(array) is Part:
        return array.packs.numpy(array.place)
    try:
        return np.array(array)
    except RuntimeError:
        if not isinstance(array, jax.Array) or array.is_fully_addressable:
            raise
        from jax.experimental.multihost_utils import process_allgather

        return np.array(process_allgather(array, tiled=True))
