"""The ways in which a budget may make smaller what is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from .casts import bf16
from .cpu import cpu
from .disk import disk as on_disk
from .ledger import Means
from .lossless import lossless
from .policy import Policy
from .quantize import quantize
from .store import Stored


class Later(Policy):
    """A policy that is made when it is first needed: a file is opened, or a library loaded, no sooner."""

    def __init__(self, name: str, make: Any) -> None:
        self.name = name
        self._make: Callable[[], Policy] = make
        self._made: Policy | None = None

    def made(self) -> Policy:
        if self._made is None:
            self._made = self._make()
        return self._made

    def pack(self, tensor: Any, info: Any = None) -> Any:
        return self.made().pack(tensor, info)

    def unpack(self, packed: Any) -> Any:
        return self.made().unpack(packed)


def _at_once(policy: Stored) -> Stored:
    """The policy without work beside the program: what waits for that, or was fetched ahead, would be in memory."""
    for stage, _ in policy.steps:
        stage.background = None
    return policy


def check_folder(directory: Any) -> None:
    """Raise OSError unless files can be made in a folder: before any are needed, in the middle of a step."""
    name = os.fspath(directory)
    if not os.path.isdir(name):
        error: type[OSError] = NotADirectoryError if os.path.exists(name) else FileNotFoundError
        raise error(f"budget(): directory is a folder for a temporary file, and there is none named {name!r}")
    if not os.access(name, os.W_OK | os.X_OK):
        raise PermissionError(f"budget(): the folder {name!r} cannot be written to: name another directory=")


def means_of(disk: int, lossy: bool, directory: Any, seed: int | None, min_bytes: int) -> list[Means]:
    """What is allowed. The numbers, ratio and seconds for a byte, are a guess until something was measured.

    The disk writes one tensor at a time beside the program and reads nothing ahead: what waits in memory would count.
    """
    steady = seed is not None
    # A hard limit leaves no room for copies on their way.
    found = [Means("cpu", Later("cpu", lambda: cpu(min_bytes, window=0, ahead=0)), 1.0, 4e-10, steady)]
    if find_spec("blosc2") is not None:
        found.append(Means("lossless", Later("lossless", lambda: lossless(min_bytes=min_bytes)), 0.9, 1.5e-9, steady))
    if lossy:
        found.append(Means("bf16", _at_once(bf16(min_bytes)), 0.5, 3e-10, steady))
        eight = quantize(8, seed=seed or 0, min_bytes=min_bytes)
        found.append(Means("quantize", _at_once(eight), 0.27, 8e-10, steady))
    if disk:
        make = lambda: on_disk(directory, window=0, min_bytes=min_bytes)  # noqa: E731
        where = None if directory is None else os.fspath(directory)
        found.append(Means("disk", Later("disk", make), 0.0, 1.2e-9, steady, where))
    return found
