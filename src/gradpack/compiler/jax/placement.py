"""Where the arrays of a program lie: shardings of JAX, by the names of tensors."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding

from ...core.tensor import Tensor
from ...nn import Module
from ..program import Program
from .updates import keywords_of

Place = Any  # a sharding, a PartitionSpec, "replicated", "fsdp", or None


class Placement:
    """Reads `options={"place": ..., "mesh": ...}`.

    Args:
        place: a function of a name and an array, a dict from patterns of names, or one place for all captured tensors.
            What it says nothing of is replicated if it is captured, and divided by its first dimension if it is an
            argument.
        mesh: the devices (default: all of them in one dimension, "data").

    Raises:
        TypeError: for options of another kind.
    """

    def __init__(self, place: Any, mesh: Mesh | None = None) -> None:
        if place is not None and not callable(place) and not isinstance(place, dict | str | PartitionSpec | Sharding):
            raise TypeError(
                'options["place"] must be a function of a name and an array, a dict from patterns of names to places, '
                f'"replicated", "fsdp", a PartitionSpec or a sharding, but got {type(place).__name__}'
            )
        self.place = place
        self.mesh = Mesh(np.asarray(jax.devices()), ("data",)) if mesh is None and place is not None else mesh

    def of(self, name: str, array: Any, is_argument: bool) -> Sharding | None:
        """Return the sharding of an array; None where nothing is said at all.

        Raises:
            ValueError: for a place that is none.
        """
        if self.place is None:
            return None
        found = self._said(name, array, is_argument)
        if found is None:
            found = "divided" if is_argument else "replicated"
        if isinstance(found, str) and found in _KINDS:
            found = _KINDS[found](tuple(array.shape), self._mesh())
        if isinstance(found, PartitionSpec):
            found = NamedSharding(self._mesh(), found if array.ndim else PartitionSpec())
        if not isinstance(found, Sharding):
            raise ValueError(f'{name}: a place is a sharding, a PartitionSpec, "replicated" or "fsdp", not {found!r}')
        try:
            found.shard_shape(tuple(array.shape))
        except ValueError as error:
            raise ValueError(f"{name} of shape {list(array.shape)} cannot lie as {found}: {error}") from None
        return found

    def _said(self, name: str, array: Any, is_argument: bool) -> Place:
        if isinstance(self.place, dict):
            return next((found for pattern, found in self.place.items() if fnmatchcase(name, pattern)), None)
        if callable(self.place):
            return self.place(name, array)
        return None if is_argument else self.place

    def _mesh(self) -> Mesh:
        assert self.mesh is not None
        return self.mesh


def _divided(shape: tuple[int, ...], mesh: Mesh) -> PartitionSpec:
    """Divide the first dimension if it is a multiple of the devices."""
    axis = mesh.axis_names[0]
    return PartitionSpec(axis) if shape and shape[0] and shape[0] % mesh.shape[axis] == 0 else PartitionSpec()


def _fsdp(shape: tuple[int, ...], mesh: Mesh) -> PartitionSpec:
    """Divide the longest dimension that is a multiple of the devices."""
    axis = mesh.axis_names[0]
    fitting = [(n, -d) for d, n in enumerate(shape) if n and n % mesh.shape[axis] == 0]
    return PartitionSpec(*[None] * -max(fitting)[1], axis) if fitting else PartitionSpec()


_KINDS: dict[Any, Callable[[tuple[int, ...], Mesh], PartitionSpec]] = {
    "replicated": lambda shape, mesh: PartitionSpec(),
    "divided": _divided,
    "fsdp": _fsdp,
}


def names_of(tensors: dict[int, tuple[Tensor, str]], holders: list[Any], program: Program) -> dict[int, str]:
    """Return a name for each captured tensor: as in `named_parameters`, with `.exp_avg` and the like for optimizers.

    Args:
        tensors: those that the walk found, by identity, each with its way.
        holders: all objects that it saw.
        program: whose optimizers have state.
    """
    names = {key: way for key, (_, way) in tensors.items()}
    modules = [m for m in holders if isinstance(m, Module)]
    inner = {id(child) for m in modules for child in m.children()}
    for module in modules:
        if id(module) not in inner:
            for name, tensor in (*module.named_parameters(), *module.named_buffers()):
                names[id(tensor)] = name
    for each in program.instructions:
        if each.kind == "update":
            for p, own in keywords_of(each)["optimizer"].state.items():
                for name, tensor in own.items():
                    names[id(tensor)] = f"{names.get(id(p), 'parameter')}.{name}"
    return names
