"""What a node keeps for its backward, and the pack/unpack contract.

A node keeps a saved input as the Tensor itself beside the version it had, and a saved result as
its array (the Tensor would be a cycle). Under hooks it keeps a `Packed` instead. Compiled code
reads the first two by itself and hands anything else to `unpack_input` and `unpack_result`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from sys import _getframe
from time import perf_counter
from typing import Any

from ..backends import Spec, spec_of
from ..base.callers import Where, place_of
from ..base.dtypes import FLOATING
from ..base.errors import saved_was_freed, saved_was_modified
from ..base.modes import MODE, Mode, without_grad
from .detached import check_detached
from .tensor import Tensor, _new, alias

# `Mode.hooks` is a pair, as torch has it: pack(tensor) and unpack(packed). With a third, hooks are informed:
# describe(tensor, (name of the node, slot), node, where) makes a note of what is saved, and they are called as
# pack(tensor, note) and unpack(packed). A recorder with a method `describe` is informed, too: see `tell`.
Hooks = tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]


class Freed:
    """Stands where a saved value was before backward freed it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<freed>"


FREED = Freed()
UNCOUNTED: list[int] = [0]  # the counter of what no write can reach


class Constant:
    """A saved argument that is an array or a list and no Tensor: it has no versions."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Packed:
    """A saved tensor in the form that a pack hook gave it.

    The version at packing is checked at unpacking, so that the in-place check holds under hooks:
    if what `unpack` returns shares the storage of the tensor that was saved, and that storage was
    written to in between, the value is not the one that was saved.
    """

    __slots__ = ("counter", "handle", "info", "seen", "shape", "spec", "unpack", "where")

    handle: Any
    unpack: Callable[[Any], Tensor]
    counter: list[int]
    seen: int
    shape: tuple[int, ...]
    spec: Spec
    where: Any  # of the user's program: for `Where(*where)`
    info: Any  # of `PackedWithInfo`, and set there only

    def get(self, node: Any, slot: str) -> Tensor:
        """The tensor, unpacked and checked. Each call unpacks again."""
        handle = self.handle
        try:
            result = self.unpack(handle.tensor(node) if type(handle) is Same else handle)
            if (type(result) is Tensor or isinstance(result, Tensor)) and (
                result._shape == self.shape and result._spec is self.spec
            ):
                if result._counter is not self.counter or int(self.counter[0]) == int(self.seen):
                    return result
                raise saved_was_modified(node.name(), slot, self.spec.dtype, self.shape, "", self.counter[0], self.seen)
            raise self._wrong(result, node, slot)
        except Exception as error:
            at = "" if self.where is None else f", saved at {said(self.where)}"
            error.add_note(f"While unpacking {slot!r} of {node.name()}{at}.")
            raise

    def _wrong(self, result: Any, node: Any, slot: str) -> Exception:
        if not isinstance(result, Tensor):
            return TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(result).__name__} (for {slot!r} of {node.name()})"
            )
        if result._shape != self.shape:
            return RuntimeError(
                f"the saved tensor unpack_hook returned a tensor of shape {list(result._shape)} for {slot!r} of "
                f"{node.name()}, which was saved with shape {list(self.shape)}: unpack must restore the shape"
            )
        return RuntimeError(
            f"the saved tensor unpack_hook returned a tensor of dtype {result.dtype} on {result.device} for "
            f"{slot!r} of {node.name()}, which was saved as {self.spec.dtype} on {self.spec.device}: unpack must "
            "restore dtype and device"
        )


class PackedWithInfo(Packed):
    """Packed by informed hooks, or seen by an informed recorder, which keep a note of it."""

    __slots__ = ()

    def get(self, node: Any, slot: str) -> Tensor:
        start = perf_counter()
        result = Packed.get(self, node, slot)
        self.info.unpack_seconds += perf_counter() - start
        self.info.unpacks += 1
        return result


def said(where: Any) -> str:
    """A place of the user's program in words."""
    return "an unknown place" if where is None else str(Where(*where))


class Same:
    """Kept in place of a result whose pack hook returned the result itself, which would hold its own node.

    The unpack hook gets the result while it lives, and an alias of it later.
    """

    __slots__ = ("counter", "data", "ref")

    def __init__(self, tensor: Tensor) -> None:
        self.ref, self.data, self.counter = weakref.ref(tensor), tensor._data, tensor._counter

    def tensor(self, node: Any) -> Tensor:
        found = self.ref()
        if found is not None and found._counter is self.counter:
            return found
        again = alias(self.data, spec_of(self.data), tuple(self.data.shape))
        again._counter = self.counter
        return again


def pack_input(mode: Mode, tensor: Tensor, label: tuple[str, str], node: Any = None) -> Packed:
    """Pack one tensor with the mode's hooks. The hook gets the very tensor that is saved."""
    hooks: Any = mode.hooks
    if hooks is not None and len(hooks) == 3:
        return _pack_with_info(mode, hooks, tensor, label, node, place_of(_getframe(2)))
    recorder = mode.recorder
    if recorder is not None and mode.mutation is None and hasattr(recorder, "describe"):
        informed = (lambda tensor, info: hooks[0](tensor)), hooks[1], recorder.describe
        return _pack_with_info(mode, informed, tensor, label, node, place_of(_getframe(2)))
    packed = _new(Packed)
    packed.spec = tensor._spec
    packed.shape = tensor._shape
    packed.where = None  # finding it costs more than all the rest: informed hooks pay for it
    if mode.mutation is not None:  # a write copies what is kept: it is never out of date
        if hooks is None:
            return _kept(packed, mode, tensor)
        edge = tensor._edge
        tensor = alias(tensor._spec.backend.copy(tensor._data), tensor._spec, tensor._shape)
        tensor._edge = edge
    packed.counter = counter = tensor._counter
    packed.unpack = hooks[1]
    packed.seen = seen = counter[0]
    before = MODE.get()
    try:
        if mode.grad:
            MODE.set(mode.without_grad or without_grad(mode))
        packed.handle = hooks[0](tensor)
        if counter[0] != seen:
            raise _written(label)
    except Exception as error:
        error.add_note(f"While packing {label[1]!r} of {label[0]}, saved at {said(place_of(_getframe(2)))}.")
        raise
    finally:
        if mode.grad:
            MODE.set(before)
    return packed


def _pack_with_info(
    mode: Mode, hooks: tuple[Any, ...], tensor: Tensor, label: tuple[str, str], node: Any, where: Any
) -> PackedWithInfo:
    pack, unpack, describe = hooks
    packed = _new(PackedWithInfo)
    packed.spec, packed.shape, packed.where = tensor._spec, tensor._shape, where
    packed.counter, packed.seen, packed.unpack = tensor._counter, tensor._counter[0], unpack
    before = MODE.get()
    try:
        if mode.grad:
            MODE.set(without_grad(mode))
        info = packed.info = describe(tensor, label, node, where)
        start = perf_counter()
        packed.handle = pack(tensor, info)
        info.pack_seconds += perf_counter() - start
        if packed.counter[0] != packed.seen:
            raise _written(label)
    except Exception as error:
        error.add_note(f"While packing {label[1]!r} of {label[0]}, saved at {said(where)}.")
        raise
    finally:
        if mode.grad:
            MODE.set(before)
    if mode.mutation is not None and packed.handle is tensor:
        _kept(packed, mode, tensor)
    return packed


def _written(label: tuple[str, str]) -> RuntimeError:
    return RuntimeError(
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
        "cannot be modified by in-place operations as this can lead to unexpected side-effects. "
        "Please open an issue if you need to perform in-place operations on the input to a pack hook. "
        f"Or pack a clone(). (Packing {label[1]!r} of {label[0]}.)"
    )


def _kept(packed: Packed, mode: Mode, tensor: Tensor) -> Packed:
    """Kept as it is, and copied when somebody writes to it."""
    packed.counter, packed.seen = UNCOUNTED, 0
    packed.handle, packed.unpack = mode.mutation.keep(tensor), mode.mutation.unpack
    return packed


# Results whose backward divides them by a saved input, by (name of the node, slot): how to make them again of it.
DERIVED: dict[tuple[str, str], Callable[[Any], Any]] = {}


def derived_from(source: tuple[str, str], slot: str, derive: Callable[[Any, Any], Any]) -> None:
    """Make the result in `slot` of a node again of its input `source`, by `derive(input, node)`."""
    DERIVED[source[0], slot] = lambda node: derive(unpack_input(node, source[1]), node)


class Derived:
    """Stands for a result that is made again of the node's saved input: it agrees with what came back of that.

    Where hooks round both, each by itself, their quotient would mean nothing.
    """

    __slots__ = ("derive", "node")

    def __init__(self, node: Any, label: tuple[str, str]) -> None:
        self.node, self.derive = weakref.ref(node), DERIVED[label]

    def tensor(self) -> Tensor:
        data = self.derive(self.node())
        return alias(data, spec_of(data), tuple(data.shape))


def pack_result(mode: Mode, out: Tensor, edge: Any, label: tuple[str, str], node: Any = None) -> Packed:
    """Pack a result. `edge` becomes its history: the hook sees the tensor that the user will get."""
    out._edge = edge
    packed = pack_input(mode, out, label, edge if node is None else node)
    if packed.handle is out:
        packed.handle = Same(out)
    return packed


def pack_array(mode: Mode, data: Any, counter: list[int], label: tuple[str, str], node: Any = None) -> Packed:
    """Pack an array that only the node knows."""
    tensor = alias(data, spec_of(data), tuple(data.shape))
    tensor._counter = counter
    return pack_input(mode, tensor, label, node)


def tell(
    mode: Mode, op_name: str, label: tuple[str, str], tensor: Tensor, packed: Packed | None, node: Any = None
) -> Any:
    """Tell the mode's recorder of a saved tensor.

    A plain recorder has `saved(op_name, slot, tensor, handle)`, where the handle is what a pack hook returned, or
    None. One with a method `describe`, which hooks have for a third, gets `note(info, tensor, packed)` instead: the
    note of the hooks if they are informed, else its own, and the `Packed`, or None. What `note` returns is to be kept
    for as long as the saved tensor is: its death tells the recorder that the tensor was let go of.
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
    """Save a tensor as an operation that runs now would. Calling what is returned unpacks and checks it."""
    mode, who, edge = MODE.get(), Owner(owner), tensor._current_edge()
    if mode.hooks is None and mode.mutation is None:
        version = tensor._counter[0]
        hold = None if mode.recorder is None else tell(mode, owner, (owner, slot), tensor, None)

        def same(hold: Any = hold) -> Tensor:
            if tensor._counter[0] != version:
                check_since(who, slot, tensor, version)
            return tensor

        return same
    packed = pack_input(mode, tensor, (owner, slot))
    hold = None if mode.recorder is None else tell(mode, owner, (owner, slot), tensor, packed)

    def unpacked(hold: Any = hold) -> Tensor:
        value = packed.get(who, slot)
        out = alias(value._data, value._spec, value._shape)
        out._counter, out._edge = value._counter, edge
        return out

    return unpacked


class Owner:
    """Stands for a node that there is not, in messages."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        return self._name


def keep_attributes(value: Tensor, out: Tensor) -> None:
    """Give `out` the attributes that users have set on `value`."""
    for name, attribute in value.__dict__.items():
        if name[0] != "_":
            out.__dict__[name] = attribute


def unpack_input(node: Any, slot: str) -> Any:
    """The value of a saved input: an array, or what it was if it was no tensor."""
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
    """The array of a saved result."""
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
    """Raise if a saved tensor is not what it was: the version of its storage is another."""
    check_since(node, slot, tensor, getattr(node, slot + "_v"))


def check_since(node: Any, slot: str, tensor: Tensor, version: int) -> None:
    """Raise if a tensor was written to, or detached in place, since it had this version."""
    if check_detached(tensor, version):
        return
    producer = tensor.grad_fn
    whose = "" if producer is None else f"output {tensor.output_nr} of {producer.name()}"
    raise saved_was_modified(node.name(), slot, tensor.dtype, tensor._shape, whose, tensor._counter[0], version)


def result_as_tensor(node: Any, slot: str, edge: Any) -> Tensor:
    """A saved result as a Tensor with its history: a new object that shares the storage."""
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
