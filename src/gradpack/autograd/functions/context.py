"""`ctx`: the context object that `forward` and `backward` of a `Function` share."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ...core.tensor import Tensor


class FunctionCtx:
    """The methods of `ctx`. The object itself is the node of the call (`BackwardCFunction`).

    Any attribute may be set on it; tensors should be saved with `save_for_backward`.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # slots of the node

        def __setattr__(self, name: str, value: Any) -> None: ...

    def save_for_backward(self, *tensors: Any) -> None:
        """Save inputs, results or other tensors for backward, which reads them as `ctx.saved_tensors`.

        None is allowed. Any other object that is not a tensor raises TypeError after `forward`.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Save tensors for `jvp`, which reads them as `ctx.saved_tensors`.

        Raises:
            AssertionError: for anything but tensors and None.
        """
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes "
                    "on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Mark inputs that `forward` modified in place. Each must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Mark results as not differentiable."""
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Does nothing but warn, as in torch: shared storage is tracked automatically."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that "
            "calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether undefined gradients reach `backward` and `jvp` as zeros (the default) or as None."""
        self.materialize_grads = value
