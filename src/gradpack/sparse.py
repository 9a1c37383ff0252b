"""`torch.sparse`: products, sums and softmax of sparse tensors in coordinate form."""

from __future__ import annotations

from collections.abc import Callable as _Callable
from typing import Any

from .base.exits import Exit as _Exit
from .base.exits import inside as _inside
from .declare.signature.wrapper import wrap_module as _wrap_module
from .ops.sparse.bodies import CHECKING as _CHECKING
from .ops.sparse.products import addmm, log_softmax, mm, sampled_addmm, softmax, sum

__all__ = ["addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax", "sum"]


class check_sparse_tensor_invariants:  # noqa: N801 - torch's name
    """Whether indices are compared with sizes when sparse tensors are made. Here they always are.

    As a context or a decorator it sets what `is_enabled()` says.

    Example::

        >>> import gradpack as torch
        >>> with torch.sparse.check_sparse_tensor_invariants():
        ...     torch.sparse.check_sparse_tensor_invariants.is_enabled()
        True
    """

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.saved_state: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Return whether the checks are on."""
        return _CHECKING[0]

    @staticmethod
    def enable() -> None:
        """Turn the checks on."""
        _CHECKING[0] = True

    @staticmethod
    def disable() -> None:
        """Turn the checks off."""
        _CHECKING[0] = False

    def __enter__(self) -> None:
        if self.saved_state is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager instance for "
                "context nesting."
            )
        self.saved_state, _CHECKING[0] = _CHECKING[0], self.state

    def _leave(self, before: bool) -> None:
        _CHECKING[0], self.saved_state = before, None

    __exit__ = _Exit(lambda self: self.saved_state, _leave)

    def __call__(self, function: _Callable[..., Any]) -> _Callable[..., Any]:
        return _inside(lambda: type(self)(self.state), function)


_wrap_module(globals(), __all__, options="")
