"""The saved tensors of a `Function`: as its node keeps them, and as `ctx._raw_saved_tensors` shows them."""

from __future__ import annotations

from typing import Any

from ...base.modes import MODE
from ...core.packed import Packed, pack_input
from ...core.saved import FREED
from ...declare.dispatch.saved_attributes import SavedTensor


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
        return FREED if self._node._saved is FREED else self._entry.value

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
