"""`ctx`: what `forward` and `backward` of a `Function` share."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ...tensor.tensor import Tensor


class FunctionCtx:
    """The methods of the `ctx` argument. The object itself is the node of the call (`BackwardCFunction`).

    Any attribute may be set on it; tensors belong into `save_for_backward`.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # slots of the node

        def __setattr__(self, name: str, value: Any) -> None: ...

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs, results or other tensors for backward: read them as `ctx.saved_tensors`.

        None may be among them. Anything else that is no tensor is a TypeError when `forward` is done.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`, which reads them as `ctx.saved_tensors`.

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
        """Say which inputs `forward` wrote to in place. Each must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which results have no gradient."""
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Does nothing, as in torch: shared storage is found without help."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that "
            "calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients reach `backward` and `jvp` as zeros (the default) or as None."""
        self.materialize_grads = value
