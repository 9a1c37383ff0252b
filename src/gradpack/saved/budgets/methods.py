"""The methods that a budget may use to free memory: other policies, with a first guess of their cost."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

from ..policies.compress import bf16, lossless
from ..policies.offload import cpu
from ..policies.offload import disk as on_disk
from ..policies.quantize import quantize
from ..policies.storage_policy import Stored
from ..policy import Policy
from .accounting import Method


class LazyPolicy(Policy):
    """A policy that is created at first use, so that a file is opened or a library loaded only if needed."""

    def __init__(self, name: str, make: Any) -> None:
        self.name = name
        self.made: Callable[[], Policy] = cache(make)

    def pack(self, tensor: Any, info: Any = None) -> Any:
        return self.made().pack(tensor, info)

    def unpack(self, packed: Any) -> Any:
        return self.made().unpack(packed)


def _at_once(policy: Stored) -> Stored:
    """Make a policy synchronous: tensors waiting to be packed, or prefetched, would take memory beyond the limit."""
    for stage, _ in policy.steps:
        stage.background = None
    return policy


def check_folder(directory: Any) -> None:
    """Raise OSError if a folder does not exist or cannot be written to, before a step needs it."""
    name = os.fspath(directory)
    if not os.path.isdir(name):
        error: type[OSError] = NotADirectoryError if os.path.exists(name) else FileNotFoundError
        raise error(f"budget(): directory is a folder for a temporary file, and there is none named {name!r}")
    if not os.access(name, os.W_OK | os.X_OK):
        raise PermissionError(f"budget(): the folder {name!r} cannot be written to: name another directory=")


def methods_for(disk: int, lossy: bool, directory: Any, seed: int | None, min_bytes: int) -> list[Method]:
    """Return the methods that the arguments allow. The ratio and seconds per byte are guesses, until measured.

    The disk writes one tensor at a time in the background and prefetches nothing: tensors waiting in memory would
    count against the limit.
    """
    steady = seed is not None
    # Synchronous, because a hard limit leaves no room for copies in flight.
    found = [Method("cpu", LazyPolicy("cpu", lambda: cpu(min_bytes, window=0, ahead=0)), 1.0, 4e-10, steady)]
    if find_spec("blosc2") is not None:
        found.append(
            Method("lossless", LazyPolicy("lossless", lambda: lossless(min_bytes=min_bytes)), 0.9, 1.5e-9, steady)
        )
    if lossy:
        found.append(Method("bf16", _at_once(bf16(min_bytes)), 0.5, 3e-10, steady))
        eight = quantize(8, seed=seed or 0, min_bytes=min_bytes)
        found.append(Method("quantize", _at_once(eight), 0.27, 8e-10, steady))
    if disk:
        make = lambda: on_disk(directory, window=0, min_bytes=min_bytes)  # noqa: E731
        where = None if directory is None else os.fspath(directory)
        found.append(Method("disk", LazyPolicy("disk", make), 0.0, 1.2e-9, steady, where))
    return found
