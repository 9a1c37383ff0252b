"""Pack and unpack hooks: what a node keeps of a saved tensor under them, and how it becomes a tensor again.

Tensors that are not kept but recomputed, exactly, when backward unpacks them, are packed without hooks.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe, getrefcount
from time import perf_counter
from typing import Any
from weakref import ref

from ..backends import spec_of
from ..base.callers import Where, place_of
from ..base.errors import saved_was_modified
from ..base.modes import MODE, Mode, without_grad
from ..graph.node import Lent, OutputSlot
from .copy_on_write import AliasCheck, alias_check_of, references_to_memory
from .tensor import DUALS, Tensor, alias

# `Mode.hooks` is a pair, as in torch: pack(tensor) and unpack(packed). With a third, hooks are informed:
# describe(tensor, (name of the node, slot), node, where) returns a note on the saved tensor, and packing calls
# pack(tensor, note). A recorder with a method `describe` is informed, too: see `tell`.
Hooks = tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]

UNCOUNTED: list[int] = [0]  # a version counter that no write increments


class Packed:
    """A saved tensor in the form that a pack hook gave it.

    Unpacking compares the version counter with that at packing, so that the in-place check holds under hooks: if
    the storage was written to in between, and what the hooks kept is that storage, the value is not the saved one.
    """

    __slots__ = ("alias_check", "counter", "handle", "info", "seen", "shape", "spec", "tangent", "unpack", "where")

    handle: Any
    unpack: Callable[[Any], Tensor]
    info: Any  # set on `PackedWithInfo` only

    def __init__(self, tensor: Tensor, where: Any) -> None:
        """Pack a tensor at its present version. Handle and unpack hook are left to set.

        Args:
            where: in the user's program: for `Where(*where)`.
        """
        self.spec, self.shape, self.where = tensor._spec, tensor._shape, where
        self.counter, self.seen = tensor._counter, tensor._counter[0]
        # Made if something has kept a reference to the tensor that the hook was given.
        self.alias_check: AliasCheck | None = None
        tangent = tensor._tangents if DUALS else None  # which hooks do not see
        self.tangent = None if tangent is None else holder_of(tangent)

    def get(self, node: Any, slot: str) -> Tensor:
        """Unpack the saved tensor and check its version. Each call unpacks again."""
        handle = self.handle
        try:
            result = self.unpack(handle)
            if not (
                (type(result) is Tensor or isinstance(result, Tensor))
                and result._shape == self.shape
                and result._spec is self.spec
            ):
                raise self._wrong(result, node, slot)
            if int(self.counter[0]) != int(self.seen) and self._is_stale(result):
                raise saved_was_modified(node.name(), slot, self.spec.dtype, self.shape, "", self.counter[0], self.seen)
        except Exception as error:
            at = "" if self.where is None else f", saved at {location_text(self.where)}"
            error.add_note(f"While unpacking {slot!r} of {node.name()}{at}.")
            raise
        return result if self.tangent is None else _dual(result, self.tangent)

    def _is_stale(self, result: Tensor) -> bool:
        """Whether `result` was read from the storage, which was written to since packing."""
        for value in (result, self.handle):
            if isinstance(value, Tensor) and value._counter is self.counter:
                return True
        return self.alias_check is not None and self.alias_check.is_stale(result, self.handle, self.counter)

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
    """Packed by informed hooks, or for an informed recorder: their note counts and times unpacking."""

    __slots__ = ()

    def get(self, node: Any, slot: str) -> Tensor:
        start = perf_counter()
        result = Packed.get(self, node, slot)
        self.info.unpack_seconds += perf_counter() - start
        self.info.unpacks += 1
        return result


def holder_of(tangent: Tensor) -> Tensor:
    """Return an alias that carries this tangent for as long as the forward-mode level lasts."""
    holder: Tensor = alias(tangent._data, tangent._spec, tangent._shape)
    holder._tangents = tangent
    return holder


def _dual(value: Tensor, holder: Tensor) -> Tensor:
    """Return an unpacked tensor with the tangent that it had when it was packed, if the level still lasts."""
    if holder._tangents is None:
        return value
    out: Tensor = alias(value._data, value._spec, value._shape)
    out._counter, out._edge = value._counter, value._edge
    keep_attributes(value, out)
    out._tangents = holder._tangents
    return out


def keep_attributes(value: Tensor, out: Tensor) -> None:
    """Copy the attributes that users have set on `value` to `out`."""
    for name, attribute in value.__dict__.items():
        if name[0] != "_":
            out.__dict__[name] = attribute


def location_text(where: Any) -> str:
    """A place in the user's program as text."""
    return "an unknown place" if where is None else str(Where(*where))


def pack_input(mode: Mode, tensor: Tensor, label: tuple[str, str], node: Any = None) -> Packed:
    """Pack one tensor with the mode's hooks. The hook gets the very tensor that is saved."""
    hooks: Any = mode.hooks
    recorder, describe = mode.recorder, None
    if hooks is None:
        return _kept(Packed(tensor, None), mode, tensor)
    pack, unpack = hooks[:2]
    if len(hooks) == 3:
        describe = hooks[2]
    elif mode.mutation is not None:  # a write copies the saved tensor first: it is never out of date
        edge, dual = tensor._edge, tensor._tangents
        tensor = alias(tensor._spec.backend.copy(tensor._data), tensor._spec, tensor._shape)
        tensor._edge, tensor._tangents = edge, dual
    elif recorder is not None and hasattr(recorder, "describe"):
        pack, describe = (lambda tensor, info: hooks[0](tensor)), recorder.describe
    # Finding the place costs more than all the rest: only informed hooks record it.
    where = None if describe is None else place_of(_getframe(2))
    packed = (Packed if describe is None else PackedWithInfo)(tensor, where)
    packed.unpack = unpack
    before = MODE.get()
    try:
        if mode.grad:
            MODE.set(mode.without_grad or without_grad(mode))
        if describe is None:
            _call(packed, pack, label, tensor)
        else:
            info = packed.info = describe(tensor, label, node, where)
            start = perf_counter()
            _call(packed, pack, label, tensor, info)
            info.pack_seconds += perf_counter() - start
    except Exception as error:
        place = location_text(place_of(_getframe(2)) if describe is None else where)
        error.add_note(f"While packing {label[1]!r} of {label[0]}, saved at {place}.")
        raise
    finally:
        if mode.grad:
            MODE.set(before)
    if len(hooks) == 3 and mode.mutation is not None and packed.handle is tensor:
        _kept(packed, mode, tensor)
    return packed


def _call(packed: Packed, pack: Callable[..., Any], label: tuple[str, str], tensor: Tensor, *note: Any) -> None:
    """Call a pack hook; raise if it wrote to the tensor, and note whether it kept a reference to it."""
    data, counter = tensor._data, packed.counter
    base = getattr(data, "base", None)
    # The references that this function holds itself are in both counts.
    count = getrefcount(tensor) + getrefcount(counter) + getrefcount(data)
    memory = 0 if base is None else references_to_memory(data)
    packed.handle = pack(tensor, *note)
    if counter[0] != packed.seen:
        raise _written(label)
    more = base is not None and references_to_memory(data) > memory
    if more or getrefcount(tensor) + getrefcount(counter) + getrefcount(data) > count:
        handle = packed.handle
        if isinstance(handle, Tensor) and handle._counter is counter:
            return  # the version check at unpacking covers this
        if not getattr(getattr(pack, "__self__", None), "guards_writes", False):
            packed.alias_check = alias_check_of(tensor, more)


def _written(label: tuple[str, str]) -> RuntimeError:
    return RuntimeError(
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
        "cannot be modified by in-place operations as this can lead to unexpected side-effects. "
        "Please open an issue if you need to perform in-place operations on the input to a pack hook. "
        f"Or pack a clone(). (Packing {label[1]!r} of {label[0]}.)"
    )


def _kept(packed: Packed, mode: Mode, tensor: Tensor) -> Packed:
    """Keep a tensor as it is; it is copied before its storage is written to."""
    packed.counter, packed.seen = UNCOUNTED, 0
    packed.handle, packed.unpack = mode.mutation.keep(tensor), mode.mutation.unpack
    return packed


def alias_for_hooks(out: Tensor, edge: Any) -> Tensor:
    """Return a result as pack hooks get it: with `edge` as its history, held weakly.

    Otherwise a result that a hook returned, and the node keeps, would hold that node: a cycle.
    """
    again: Tensor = alias(out._data, out._spec, out._shape)
    again._counter = out._counter
    if edge is not None:
        again._edge = Lent(edge.parent, edge.nr, edge.outputs) if isinstance(edge, OutputSlot) else Lent(edge)
    if DUALS:
        again._tangents = out._tangents
    return again


def pack_result(mode: Mode, out: Tensor, edge: Any, label: tuple[str, str], node: Any = None) -> Packed:
    """Pack a result whose grad_fn edge is to be `edge`. Hooks get an alias with the same history."""
    if mode.hooks is None:
        out._edge = edge
        return pack_input(mode, out, label, edge if node is None else node)
    return pack_input(mode, alias_for_hooks(out, edge), label, edge if node is None else node)


def pack_array(mode: Mode, data: Any, counter: list[int], label: tuple[str, str], node: Any = None) -> Packed:
    """Pack an array that is no tensor of the user's."""
    tensor = alias(data, spec_of(data), tuple(data.shape))
    tensor._counter = counter
    return pack_input(mode, tensor, label, node)


LEAST = 1 << 16  # bytes: smaller tensors are kept as they are


class Rematerialized:
    """Stands for a saved tensor: unpacks to its array while that is alive, else to a recomputed one."""

    __slots__ = ("__weakref__", "_array", "_counter", "_shape", "_spec")

    def __init__(self, tensor: Tensor) -> None:
        self._array, self._counter = ref(tensor._data), tensor._counter
        self._shape, self._spec = tensor._shape, tensor._spec

    def made(self) -> Any:
        """Recompute the array."""
        raise TypeError(f"{type(self).__name__} has no made")

    def tensor(self) -> Tensor:
        array = self._array()
        if array is None:
            return alias(self.made(), self._spec, self._shape)
        out: Tensor = alias(array, self._spec, self._shape)
        out._counter = self._counter  # so that a write in place is noticed
        return out


def packed_for(tensor: Tensor, again: Rematerialized) -> Packed:
    """Return a `Packed` for a tensor at its present version that unpacks through `again`, without pack hooks."""
    packed = Packed(tensor, None)
    packed.handle, packed.unpack = again, Rematerialized.tensor
    return packed
