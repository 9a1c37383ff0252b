"""`Variable`: torch's name, from before tensors and variables were merged, for a tensor with autograd."""

from __future__ import annotations

import warnings
from typing import Any

from ..core.tensor import Tensor
from .backward_pass import queue_callback

__all__ = ["Variable", "VariableMeta"]


class ImperativeEngine:
    """The part of torch's execution engine that users call."""

    queue_callback = staticmethod(queue_callback)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """Whether checkpoints work in the current pass: always True."""
        return True


class VariableMeta(type):
    """Makes every tensor an instance of `Variable`."""

    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """Torch's former name for tensors with autograd: `Variable(data)` returns a tensor on the same storage.

    Args:
        data: a tensor; None for an empty one.
        requires_grad: whether the result requires a gradient.
        volatile: of no effect; True warns. `no_grad` is what it was for.

    Raises:
        TypeError: if `data` is no tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.Variable(torch.ones(1), requires_grad=True)
        tensor([1.], requires_grad=True)
    """

    _execution_engine = ImperativeEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Tensor:  # type: ignore[misc]
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        if data is None:
            from ..ops.create.create import tensor

            data = tensor([])
        elif not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        out: Tensor = data.detach()
        return out.requires_grad_() if requires_grad else out
