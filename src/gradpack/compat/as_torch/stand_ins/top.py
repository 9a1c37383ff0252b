"""Names of `torch` itself."""

from __future__ import annotations

from typing import Any

from ....base.futures import Future
from ....core.storage import UntypedStorage
from ...streams import Event, Stream
from .foreach import named
from .version import __version__

TypedStorage = UntypedStorage
SymInt, SymFloat, SymBool = int, float, bool


def _check(cond: bool, message: Any = None) -> None:
    """Raise RuntimeError unless `cond` holds.

    Raises:
        RuntimeError: with what `message()` says.
    """
    if not cond:
        raise RuntimeError("Expected cond to be True, but got False." if message is None else message())


def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError unless `condition` holds."""
    assert condition, message


def _assert_async(input: Any, assert_msg: str | None = None) -> None:
    """Raise RuntimeError if the one element of a tensor is zero."""
    if not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def dsmm(input: Any, mat2: Any) -> Any:
    """Return the product of a sparse matrix and a dense one."""
    from ....ops.linalg.products import mm

    return mm(input, mat2)


def _shape_as_tensor(self: Any) -> Any:
    """Return the shape of a tensor as a tensor."""
    from ....ops.create.create import tensor

    return tensor(self.shape)


def __getattr__(name: str) -> Any:
    if name.startswith("_foreach_"):
        found = named(name)
        if found is not None:
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Event",
    "Future",
    "Stream",
    "SymBool",
    "SymFloat",
    "SymInt",
    "TypedStorage",
    "UntypedStorage",
    "__version__",
    "dsmm",
]
