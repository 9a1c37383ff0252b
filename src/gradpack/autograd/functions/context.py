"""`ctx`, which `forward` and `backward` of a `Function` share, and the tensors that it saves."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ...base.modes import MODE
from ...base.spelling import Sentinel
from ...core.packed import Packed, pack_input
from ...core.saved import FREED
from ...core.tensor import Tensor
from ...declare.dispatch.saved_attributes import SavedTensor


class FunctionCtx:
    """The methods of `ctx`. The object itself is the node of the call (`BackwardCFunction`).

    Any attribute may be set on it; tensors should be saved with `save_for_backward`.
    """

    __slots__ = ("__dict__",)

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


class Saved:
    """One entry of `save_for_backward`, as the node keeps it."""

    __slots__ = ("edge", "hold", "nr", "value", "version")

    value: Any  # a Tensor, a Packed, or None
    version: int
    edge: Any  # the grad_fn edge to set on the unpacked tensor
    nr: int | None  # the number of the result, if it is a result of the node
    hold: Any  # returned by a recorder, kept as long as the saved tensor


class SavedOfFunction(SavedTensor):
    """A saved tensor of a `Function`, still packed, on which hooks can be registered."""

    __slots__ = ("_entry",)

    _entry: Saved

    @classmethod
    def of(cls, node: Any, entry: Saved) -> SavedOfFunction:
        made: SavedOfFunction = object.__new__(cls)
        made._node, made._slot, made._entry = node, "saved_tensors", entry
        return made

    @property
    def _saved(self) -> Any:
        return FREED if isinstance(self._node._saved, Sentinel) else self._entry.value

    def register_hooks(self, pack_hook: Any = None, unpack_hook: Any = None, /) -> None:
        """Pack this saved tensor now with `pack_hook`; `unpack_hook` unpacks it when backward needs it.

        Raises:
            RuntimeError: if it is None, has been freed, or has hooks already.
        """
        saved = self._saved
        usable = callable(pack_hook) and callable(unpack_hook)
        if not usable or saved is None or saved is FREED or isinstance(saved, Packed):
            super().register_hooks(pack_hook, unpack_hook)  # raises the error
            return
        mode = MODE.get().replace(hooks=(pack_hook, unpack_hook), mutation=None)
        self._entry.value = pack_input(mode, saved.detach(), (type(self._node).__name__, "saved_tensors"))

    def unpack(self) -> Any:
        """Unpack the saved tensor and check its version; None for a saved None.

        Raises:
            RuntimeError: if it was freed, or modified in place.
        """
        return self._node._unpack(0, self._entry)


SavedOfFunction.__name__ = SavedOfFunction.__qualname__ = "SavedTensor"
SavedOfFunction.__module__ = SavedTensor.__module__
