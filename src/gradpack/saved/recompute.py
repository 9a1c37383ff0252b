"""Drop saved tensors that cheap operations can make again from what is kept anyway."""

from __future__ import annotations

from typing import Any
from weakref import ref

from ..base.layouts import strided
from ..base.modes import MODE, OpMode, change
from ..declare.op import Op
from ..ops.generator import DRAWN, Drawn
from ..tensor.tensor import InferenceCounter, Tensor
from .cheap import is_cheap, is_held, reads_little
from .recipes import DEEPEST, TINY, Anchor, Call, Handle, Notes, Recipe, Value, anchor_of
from .storage import owner

_LARGEST = 64  # operations that a recipe may run


class Watch(OpMode):
    """Takes note of the operations of a block: what made each tensor, of what."""

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self.notes = notes

    def operation(self, op: Op, values: list[Any], run: Any) -> Any:
        if not is_cheap(op):
            return run()
        drawn = Drawn()
        token = DRAWN.set(drawn)
        try:
            outs, extras = run()
        finally:
            DRAWN.reset(token)
        note(self.notes, op, values, outs, drawn.states)
        return outs, extras


def note(notes: Notes, op: Op, values: list[Any], outs: list[Tensor], drawn: list[Tensor]) -> None:
    """Notes that `op` made `outs` of `values`, unless it could not be run again just so."""
    mode = MODE.get()
    if mode.dual or mode.levels:
        return
    tensors: list[Tensor] = []
    known = [_operand(notes, value, tensors) for value in values]
    if any(value is _UNKNOWN for value in known):
        return
    made = sum(out._data.nbytes for out in outs if out._spec.layout is strided)
    if made <= TINY or not reads_little(made, tensors):
        return
    call = Call(op, known, drawn or None)
    if call.depth > DEEPEST:
        return
    for nr, out in enumerate(outs):
        if out._spec.layout is not strided or any(t._data is out._data for t in tensors):
            continue
        whole = owner(out._data)
        shared = next((t for t in tensors if owner(t._data) is whole), out)
        notes.add(Value(out._data, out._spec, shared._counter, call, nr), out._data)


_UNKNOWN = object()


def _operand(notes: Notes, value: Any, tensors: list[Tensor]) -> Any:
    """An argument as a note holds it."""
    if isinstance(value, Tensor):
        if value._spec.layout is not strided or type(value._counter) is InferenceCounter:
            return _UNKNOWN
        tensors.append(value)
        found = notes.take(value)
        found.held = found.held or is_held(value)
        return found
    if isinstance(value, list | tuple):
        items = [_operand(notes, v, tensors) for v in value]
        if any(v is _UNKNOWN for v in items):
            return _UNKNOWN
        return items if any(type(v) in (Value, list) for v in items) else value
    return _UNKNOWN if getattr(value, "nbytes", 0) > TINY else value


class Recompute:
    """What `recompute` returns: a context manager, a decorator, and a pair of functions for hooks."""

    def __init__(self, at_least: int = 65536) -> None:
        if at_least < 0:
            raise ValueError(f"recompute: at_least is a number of bytes, not {at_least}")
        self.at_least = at_least
        self._notes = Notes()
        self._kept: dict[int, ref[Any]] = {}  # storages that are held for backward
        self._watch = Watch(self._notes)
        self._before: list[dict[str, Any]] = []

    def pack(self, tensor: Tensor) -> Any:
        """A recipe for the tensor, or the tensor itself."""
        if tensor._spec.layout is not strided or tensor._data.nbytes < self.at_least or is_held(tensor):
            return tensor
        value = self._notes.find(tensor)
        if value is not None and value.recipe is not None and (recipe := value.recipe()) is not None:
            return Handle(recipe)
        whole = owner(tensor._data)
        if not self._is_kept(whole):
            if value is not None and value.call is not None and tensor._tangents is None:
                starts = self._starts(value, {}, first=True)
                if starts is not None and sum(starts.values()) * 2 <= whole.nbytes:
                    return Handle(self._recipe(value))
            self._keep(whole)
        return tensor

    def unpack(self, packed: Any) -> Tensor:
        """The tensor that was packed, made again if it was not kept."""
        return packed.tensor() if type(packed) is Handle else packed

    def _is_kept(self, whole: Any) -> bool:
        known = self._kept.get(id(whole))
        return known is not None and known() is whole

    def _keep(self, whole: Any) -> None:
        kept, key = self._kept, id(whole)

        def died(gone: ref[Any]) -> None:
            if kept.get(key) is gone:
                del kept[key]

        kept[key] = ref(whole, died)

    def _starts(self, value: Value, seen: dict[Value, Any], first: bool = False) -> dict[int, int] | None:
        """The storages that a recipe for a value would hold and that are not held yet, with their bytes.

        None if there is no way to make it again.
        """
        if not first:
            if value in seen:
                return seen[value]
            if len(seen) > _LARGEST:
                return None
        array = value.current()
        own: dict[int, int] | None = None
        if array is not None and not first:
            whole = owner(array)
            own = {} if value.held or value.is_tiny or self._is_kept(whole) else {id(whole): whole.nbytes}
        if not first and (_alive(value.anchor) or _alive(value.recipe)):
            own = {}
        if value.call is not None and own != {}:
            made: dict[int, int] | None = {}
            for source in value.call.sources():
                part = self._starts(source, seen)
                if part is None:
                    made = None
                    break
                made.update(part)
            if made is not None and (own is None or sum(made.values()) < sum(own.values())):
                seen[value] = made
                return made
        seen[value] = own
        return own

    def _recipe(self, value: Value) -> Recipe:
        """The recipe for a value, of which `_starts` has found that there is one."""
        seen: dict[Value, Any] = {}
        return self._written(value, seen)

    def _written(self, value: Value, seen: dict[Value, Any]) -> Recipe:
        call = value.call
        assert call is not None
        sources: list[Any] = []
        for source in call.sources():
            known = seen.get(source)
            if known is None:
                known = seen[source] = self._source(source, seen)
            sources.append(known)
        recipe = Recipe(value, sources)
        value.recipe = ref(recipe)
        return recipe

    def _source(self, value: Value, seen: dict[Value, Any]) -> Anchor | Recipe:
        if value.recipe is not None and (recipe := value.recipe()) is not None:
            return recipe
        if value.call is not None and not _alive(value.anchor):
            array = value.current()
            free = array is not None and (value.held or value.is_tiny or self._is_kept(owner(array)))
            if not free:
                own = None if array is None else owner(array).nbytes
                made = self._starts(value, {}, first=True)
                if made is not None and (own is None or sum(made.values()) < own):
                    return self._written(value, seen)
        anchor = anchor_of(value)
        assert anchor is not None
        if not value.held and not value.is_tiny:
            self._keep(owner(anchor.array))
        return anchor

    def __enter__(self) -> Recompute:
        self._before.append(change(hooks=(self.pack, self.unpack), ops=(*MODE.get().ops, self._watch)))
        return self

    def __exit__(self, *exc: object) -> None:
        change(**self._before.pop())


def _alive(known: Any) -> bool:
    return known is not None and known() is not None


def recompute(at_least: int = 65536) -> Recompute:
    """Drop what can be made again."""
    return Recompute(at_least)
