"""Names of `torch` itself."""

from __future__ import annotations

from typing import Any

from ....base.dtypes import bool_
from ....base.futures import Future
from ....core.storage import UntypedStorage
from ....core.tensor import Tensor
from ...streams import Event, Stream
from .foreach import named
from .version import __version__

TypedStorage = UntypedStorage
SymInt, SymFloat, SymBool = int, float, bool


def _check_with(error_type: type[Exception], cond: Any, message: Any = None) -> None:
    """Raise an error of a type unless `cond` holds.

    Raises:
        TypeError: if `cond` is no bool, or `message` is no function.
    """
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type("Expected cond to be True, but got False." if message is None else str(message()))


def _check(cond: bool, message: Any = None) -> None:
    """Raise RuntimeError, with what `message()` says, unless `cond` holds."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: bool, message: Any = None) -> None:
    """Raise IndexError unless `cond` holds."""
    _check_with(IndexError, cond, message)


def _check_value(cond: bool, message: Any = None) -> None:
    """Raise ValueError unless `cond` holds."""
    _check_with(ValueError, cond, message)


def _check_type(cond: bool, message: Any = None) -> None:
    """Raise TypeError unless `cond` holds."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: bool, message: Any = None) -> None:
    """Raise NotImplementedError unless `cond` holds."""
    _check_with(NotImplementedError, cond, message)


def _check_tensor_all_with(error_type: type[Exception], cond: Any, message: Any = None) -> None:
    """Raise an error of a type unless all elements of a tensor of bools are True."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not bool_:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond: Any, message: Any = None) -> None:
    """Raise RuntimeError unless all elements of a tensor of bools are True."""
    _check_tensor_all_with(RuntimeError, cond, message)


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
