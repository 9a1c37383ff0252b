"""`detach_` of a result invalidates the nodes that have saved it: unpacking the saved tensor raises.

A node compares the version at saving with the present version of the storage. `detach_` writes nothing, but
replaces the version by an object unequal to all earlier ones: the comparison fails, and `check_detached` looks
closer. Nodes that saved another tensor of the same storage are not affected.
"""

from __future__ import annotations

from itertools import count
from typing import Any

_order = count(1).__next__


class Detached(int):
    """The version of a storage after `detach_` of one of its tensors: the same number, but unequal to it."""

    order: int

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = int.__hash__


def forbid_saved(tensor: Any) -> None:
    """Make nodes that have saved this tensor raise when they unpack it."""
    version = Detached(tensor._counter[0])
    version.order = _order()
    tensor._counter[0] = tensor.__dict__["_detached"] = version


def check_detached(tensor: Any, seen: int) -> bool:
    """Return whether the storage is still at version `seen`.

    Raises:
        RuntimeError: if `tensor` was detached in place since.
    """
    detached = tensor.__dict__.get("_detached")
    if detached is not None and detached.order > getattr(seen, "order", 0):
        raise RuntimeError(
            "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, "
            "please use out-of-place `.detach()` instead"
        )
    return int(tensor._counter[0]) == int(seen)
