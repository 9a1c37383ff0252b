"""The saved tensors of a node.

A node keeps a saved input as the Tensor itself beside the version it had, and a saved result as
its array (the Tensor would be a cycle). Under hooks it keeps a `Packed` instead. Compiled code
reads the first two by itself and hands anything else to `unpack_input` and `unpack_result`.

A node compares the version at saving with the present version of the storage. `detach_` of a result writes nothing,
but invalidates the nodes that have saved it: it replaces the version by an object unequal to all earlier ones, the
comparison fails, and `check_detached` looks closer. Nodes that saved another tensor of the storage are not affected.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from sys import _getframe
from typing import Any

from ..backends import spec_of
from ..base.callers import place_of
from ..base.dtypes import FLOATING
from ..base.errors import saved_was_freed, saved_was_modified
from ..base.modes import MODE, Mode
from ..base.spelling import Sentinel
from .packed import Packed, PackedWithInfo, pack_input
from .tensor import Tensor, alias

FREED = Sentinel("<freed>")  # in place of a saved tensor that backward has freed


def freed(value: Any) -> Any:
    """Return what replaces a saved argument once backward has run: numbers and None stay, the rest is `FREED`."""
    return value if value is None or isinstance(value, int | float | complex) else FREED


class Constant:
    """A saved array or list that is no Tensor: it has no version counter."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def notify_recorder(
    mode: Mode, op_name: str, label: tuple[str, str], tensor: Tensor, packed: Packed | None, node: Any = None
) -> Any:
    """Notify the mode's recorder of a saved tensor.

    A plain recorder has `saved(op_name, slot, tensor, handle)`, where the handle is what a pack hook returned, or
    None. One with a method `describe` gets `note(info, tensor, packed)` instead: the note of informed hooks, else its
    own, and the `Packed`, or None. The object that `note` returns is kept as long as the saved tensor: when it dies,
    the tensor was freed.
    """
    recorder = mode.recorder
    if not hasattr(recorder, "describe"):
        recorder.saved(op_name, label[1], tensor, None if packed is None or mode.hooks is None else packed.handle)
        return None
    info = getattr(packed, "info", None)
    if info is None:
        info = recorder.describe(tensor, label, node, place_of(_getframe(2)))
        if packed is not None:  # so that unpacking is timed
            packed.__class__ = PackedWithInfo
            packed.info = info
    return recorder.note(info, tensor, packed)


def keep_tensor(tensor: Tensor, owner: str = "checkpoint", slot: str = "an argument") -> Callable[[], Tensor]:
    """Save a tensor as an operation would now. Return a function that unpacks it and checks its version."""
    mode, who, edge = MODE.get(), Owner(owner), tensor._current_edge()
    if mode.hooks is None and mode.mutation is None:
        version = tensor._counter[0]
        hold = None if mode.recorder is None else notify_recorder(mode, owner, (owner, slot), tensor, None)

        def same(hold: Any = hold) -> Tensor:
            if tensor._counter[0] != version:
                check_since(who, slot, tensor, version)
            return tensor

        return same
    packed = pack_input(mode, tensor, (owner, slot))
    hold = None if mode.recorder is None else notify_recorder(mode, owner, (owner, slot), tensor, packed)

    def unpacked(hold: Any = hold) -> Tensor:
        value = packed.get(who, slot)
        out = alias(value._data, value._spec, value._shape)
        out._counter, out._edge, out._tangents = value._counter, edge, value._tangents
        return out

    return unpacked


class Owner:
    """Stands for a node in error messages where there is none."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        return self._name


def unpack_input(node: Any, slot: str) -> Any:
    """Unpack a saved input and check its version. Return its array, or the value itself if it was no tensor."""
    saved = getattr(node, slot)
    if isinstance(saved, Tensor):
        if saved._counter[0] != getattr(node, slot + "_v"):
            check(node, slot, saved)
        return saved._data
    if isinstance(saved, Packed):
        return saved.get(node, slot)._data
    if saved is FREED:
        raise saved_was_freed(node.name(), slot)
    return saved.value if isinstance(saved, Constant) else saved


def unpack_result(node: Any, slot: str) -> Any:
    """Unpack a saved result, check its version and return its array."""
    saved = getattr(node, slot)
    if isinstance(saved, Packed):
        return saved.get(node, slot)._data
    if saved is FREED:
        raise saved_was_freed(node.name(), slot)
    counter = getattr(node, slot + "_c")
    if int(counter[0]) != int(getattr(node, slot + "_v")):
        raise saved_was_modified(
            node.name(),
            slot,
            spec_of(saved).dtype,
            tuple(saved.shape),
            f"output 0 of {node.name()}" if spec_of(saved).dtype.category >= FLOATING else "",
            counter[0],
            getattr(node, slot + "_v"),
        )
    return saved


def check(node: Any, slot: str, tensor: Tensor) -> None:
    """Raise if the storage of a saved input was modified in place since."""
    check_since(node, slot, tensor, getattr(node, slot + "_v"))


def check_since(node: Any, slot: str, tensor: Tensor, version: int) -> None:
    """Raise if a tensor was written to, or detached in place, since it had this version."""
    if check_detached(tensor, version):
        return
    producer = tensor.grad_fn
    whose = "" if producer is None else f"output {tensor.output_nr} of {producer.name()}"
    raise saved_was_modified(node.name(), slot, tensor.dtype, tensor._shape, whose, tensor._counter[0], version)


def result_as_tensor(node: Any, slot: str, edge: Any) -> Tensor:
    """Unpack a saved result as a Tensor with its grad_fn edge: a new object on the same storage."""
    saved = getattr(node, slot)
    data = unpack_result(node, slot)
    out = alias(data, spec_of(data), tuple(data.shape))
    if not isinstance(saved, Packed):
        out._counter = getattr(node, slot + "_c")
    out._edge = edge
    held = getattr(node, "tangents", None)
    if held is not None and slot in held:
        out._tangents = held[slot]._tangents
    return out


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
