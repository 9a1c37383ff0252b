"""The ways in which a budget may make smaller what is kept."""

from __future__ import annotations

from typing import Any

from .ledger import Means
from .policy import Policy
from .spill import Disk


class Spilled(Policy):
    """A file for what does not fit."""

    name = "disk"

    def __init__(self, directory: Any) -> None:
        self._directory = directory
        self._disk: Disk | None = None  # made when first needed

    def pack(self, tensor: Any, info: Any = None) -> Any:
        if self._disk is None:
            self._disk = Disk(self._directory, at_least=1)
        return self._disk.pack(tensor)

    def unpack(self, packed: Any) -> Any:
        assert self._disk is not None
        return self._disk.unpack(packed)


def means_of(disk: int, lossy: bool, directory: Any, seed: int | None) -> list[Means]:
    """What is allowed: the numbers are a guess until something was measured."""
    steady = seed is not None
    found: list[Means] = []
    if disk:
        found.append(Means("disk", Spilled(directory), 0.0, 1.5e-9, steady))
    return found
