"""What `detach_` of a result means for nodes that have saved the result: they must not use it any more.

A node compares the version that it saw with the one that the storage has now. `detach_` writes nothing,
but makes the version another object, unequal to all that were seen before: the comparison fails, and what
is called then looks closer. Nodes that saved another tensor of the storage go on.
"""

from __future__ import annotations

from itertools import count
from typing import Any

_order = count(1).__next__


class Detached(int):
    """The version of a storage of which a tensor was detached in place: the same number, but unequal to it."""

    order: int

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = int.__hash__


def forbid_saved(tensor: Any) -> None:
    """From now on, nodes that have saved this tensor fail."""
    version = Detached(tensor._counter[0])
    version.order = _order()
    tensor._counter[0] = tensor.__dict__["_detached"] = version


def check_detached(tensor: Any, seen: int) -> bool:
    """Whether the storage was not written to since it had the version `seen`.

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
