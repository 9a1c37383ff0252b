"""`recompute`: a policy that drops saved tensors which cheap operations can recompute from what is kept anyway.

`paths_to` searches the notes on operations that ran for the path that keeps the fewest additional bytes alive.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from time import perf_counter
from typing import Any

from ...backends.memory_layout import owner_of
from ...base.layouts import strided
from ...base.modes import MODE, OpMode
from ...core.tensor import InferenceCounter, Tensor
from ...declare.op import Op
from ...ops.random.generator import DRAWN, Drawn
from ..budgets.costs import CallTime, call_time
from ..info import BriefInfo, SavedInfo
from ..policy import Policy
from ..storage import WeakIdentityMap
from .recompute_graph import TINY, Anchor, DroppedTensor, Recipe, RecordedArray, RecordedArrays, RecordedOp, anchor_of

_DEEPEST = 32  # longest chain of operations in a recipe
_CHEAP, _DEAR = 1e-9, 8e-9  # assumed seconds per byte of the result, where times are not measured
_RECOMPUTED = 1 / 15  # the part of all multiplications in matrix products that may be recomputed


class OpRecorder(OpMode):
    """A mode that notes for each tensor the operation that computed it, its operands and its time.

    Args:
        cheap: note only operations that are cheap by their kind, and a limited number of matrix products.
        steady: do not measure: estimate times from the kind of the operation and the bytes of its result.

    Attributes:
        away: seconds spent in packing, to be subtracted from the measured times of operations.
        spent: seconds of all operations together.
    """

    observes = True

    def __init__(self, notes: RecordedArrays, cheap: bool, steady: bool = False) -> None:
        super().__init__()
        self.notes, self.cheap, self.steady = notes, cheap, steady
        self.multiplied = self.recomputed = 0  # multiplications of all matrix products, and of those that were noted
        self.away = self.spent = 0.0
        self._took: dict[tuple[Op, int, int], CallTime] = {}

    def look(self, op: Op, args: tuple[Any, ...], call: Any) -> Any:
        noted = not self.cheap or is_cheap(op) or is_product(op)
        outer, drawing = RUNNING.get(), DRAWN.get()
        drawn = Drawn() if noted else drawing
        try:
            RUNNING.set((op, args, drawn) if noted else None)
            DRAWN.set(drawn)
            away, start = self.away, perf_counter()
            result = call()
            seconds = perf_counter() - start - (self.away - away)
        finally:
            try:
                RUNNING.set(outer)
            finally:
                DRAWN.set(drawing)
        if isinstance(drawn, Drawn) and noted:
            outs = [result] if isinstance(result, Tensor) else [out for out in result if isinstance(out, Tensor)]
            self._note(op, args, outs, drawn.states, seconds)
        return result

    def operation(self, op: Op, values: list[Any], run: Any) -> Any:
        if self.cheap and not (is_cheap(op) or is_product(op)):
            return run()
        drawn, drawing = Drawn(), DRAWN.get()
        start = perf_counter()
        try:
            DRAWN.set(drawn)
            outs, extras = run()
        finally:
            DRAWN.set(drawing)
        self._note(op, values, outs, drawn.states, perf_counter() - start)
        return outs, extras

    def _note(self, op: Op, args: Any, outs: list[Tensor], drawn: list[Tensor], seconds: float | None) -> None:
        if self.cheap and is_product(op) and not self._affords(args[0], outs[0]):
            return
        made = sum([out._data.nbytes for out in outs if out._spec.layout is strided])
        kind = op, made, sum([arg._data.nbytes for arg in args if isinstance(arg, Tensor)])
        took = self._took.get(kind)
        if took is None:
            where = outs[0]._spec.device.type if outs else ""
            took = self._took[kind] = CallTime() if self.steady else call_time((op.name, where, *kind[1:]))
        if self.steady:
            took.seconds = 1e-6 if op.view else 1e-5 + made * (_CHEAP if is_cheap(op) else _DEAR)
        elif seconds is not None:
            took.seconds = min(took.seconds, seconds)
        self.spent += 0.0 if seconds is None else took.seconds
        self._record(op, args, outs, drawn, took)

    def _record(self, op: Op, values: Any, outs: list[Tensor], drawn: list[Tensor], took: CallTime) -> None:
        """Note that `op` computed `outs` from `values`, unless it could not be run again with the same result."""
        mode = MODE.get()
        if mode.forward or mode.levels or mode.inference:
            return
        tensors: list[Tensor] = []
        known = [_operand(self.notes, value, tensors) for value in values]
        if any(value is _UNKNOWN for value in known):
            return
        made = sum(out._data.nbytes for out in outs if out._spec.layout is strided)
        if made <= TINY or (self.cheap and not reads_little(made, tensors)):
            return
        tiny = [t._data for t in tensors if owner_of(t._data).nbytes <= TINY]
        call = RecordedOp(op, known, drawn or None, took, tiny)
        if call.depth > _DEEPEST:
            return
        for nr, out in enumerate(outs):
            if out._spec.layout is not strided or any(t._data is out._data for t in tensors):
                continue
            found = self.notes.find(out)
            if found is not None:  # noted already, as it was saved while the operation ran
                if found.call is None:
                    found.call, found.nr = call, nr
                continue
            whole = owner_of(out._data)
            shared = next((t for t in tensors if owner_of(t._data) is whole), out)
            self.notes.set(out._data, RecordedArray(out._data, out._spec, shared._counter, call, nr))

    def _affords(self, factor: Any, out: Tensor) -> bool:
        """Return whether a matrix product may be recomputed: all such are at most `_RECOMPUTED` of the work."""
        size = out.numel() * (factor._shape[-1] if isinstance(factor, Tensor) and factor._shape else 1)
        self.multiplied += size
        if self.recomputed + size > _RECOMPUTED * self.multiplied:
            return False
        self.recomputed += size
        return True

    def find(self, tensor: Tensor) -> RecordedArray | None:
        """Return the value of a tensor, also while the operation that computes and saves it still runs; or None."""
        found = self.notes.find(tensor)
        running = RUNNING.get()
        if (found is None or found.call is None) and running is not None and tensor._edge is not None:
            op, args, drawn = running
            if not op.returns and all(arg is not tensor for arg in args):
                self._note(op, args, [tensor], drawn.states, None)
                found = self.notes.find(tensor) or found
        return found


# The running operation, its arguments and the generator states drawn from; None unless it is to be noted.
RUNNING: ContextVar[Any] = ContextVar("gradpack noted operation", default=None)


_UNKNOWN = object()


def _operand(notes: RecordedArrays, value: Any, tensors: list[Tensor]) -> Any:
    """Return an argument with tensors replaced by their values; `_UNKNOWN` if it cannot be noted."""
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
        return items if any(type(v) in (RecordedArray, list) for v in items) else value
    return _UNKNOWN if getattr(value, "nbytes", 0) > TINY else value


class Recompute(Policy):
    """A policy that drops saved tensors and recomputes them in backward: the result of `recompute`."""

    guards_writes = True

    def __init__(self, at_least: int) -> None:
        self.at_least = at_least
        self.name = f"recompute(at_least={at_least})"
        self._notes = RecordedArrays()
        self._kept: WeakIdentityMap[bool] = WeakIdentityMap()  # storages of tensors that are kept
        self._watch = OpRecorder(self._notes, cheap=True)

    def watches(self) -> tuple[OpMode, ...]:
        self._watch.multiplied = self._watch.recomputed = 0  # so that every block makes the same decisions
        return (self._watch,)

    def __saved_info__(self, tensor: Tensor, label: tuple[str, str], node: Any = None, where: Any = None) -> Any:
        """Return a cheap `BriefInfo`, or a full `SavedInfo` if a recorder is active."""
        return BriefInfo(label, node, where) if MODE.get().recorder is None else SavedInfo(tensor, label, node, where)

    def pack(self, tensor: Any, info: Any = None) -> Any:
        """Return a handle of a recipe for the tensor, or the tensor itself to keep it."""
        if tensor._spec.layout is not strided or tensor._data.nbytes < self.at_least or is_held(tensor):
            return tensor
        value = self._watch.find(tensor)
        recipe = None if value is None else value.recipe()
        if recipe is None:
            whole = owner_of(tensor._data)
            if whole in self._kept:
                return tensor
            if value is not None and value.call is not None and tensor._tangents is None:
                paths = paths_to(value, self._holds)
                path = paths[value]
                if path is not None and 2 * path.nbytes <= whole.nbytes:
                    recipe = recipe_of(value, paths, self._hold)
            if recipe is None:
                self._kept.set(whole, True)
                return tensor
        if info is not None:
            info.policy, info.tier, info.packed_bytes = "recompute", "recipe", 0
        return DroppedTensor(recipe)

    def unpack(self, packed: Any) -> Any:
        return packed.tensor() if type(packed) is DroppedTensor else packed

    def _holds(self, value: RecordedArray, array: Any) -> bool:
        return array is not None and (value.held or value.is_tiny or owner_of(array) in self._kept)

    def _hold(self, value: RecordedArray, array: Any) -> Anchor:
        if not value.held and not value.is_tiny:
            self._kept.set(owner_of(array), True)
        return anchor_of(value, array)


def recompute(at_least: int = 65536) -> Recompute:
    """Drop saved tensors that cheap operations can recompute exactly from what is kept anyway.

    Every operation of the block is noted. A saved tensor is dropped if cheap operations (elementwise, normalisations,
    softmax, dropout, views and the like) compute it from what is held anyway: other saved tensors, parameters, tiny
    tensors. Backward runs these again, once per pass for all that need the result, with the same random numbers.
    Results of all other operations, such as convolutions, attention and reductions, are kept, and so is at least one
    in a chain of 32; of matrix products, some are recomputed, with at most a fifteenth of all multiplications. Unlike
    `torch.utils.checkpoint`, no part of the program needs to be marked; results are the same to the last bit.

    Before an in-place write to a tensor that others are to be recomputed from, its contents are copied. Where that is
    not possible, backward raises, as it does for a saved tensor that was modified in place.

    Args:
        at_least: smaller tensors, in bytes, are kept. Each operation of the block takes some 20 microseconds longer,
            so that small tensors are not worth it.

    Raises:
        TypeError: if `at_least` is no int.
        ValueError: if it is negative.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with saved.meter([x]) as m, saved.recompute(at_least=0):
        ...     y = x.exp().exp().exp().sum()  # each result would be kept
        >>> m.now
        0
        >>> y.backward()
    """
    if not isinstance(at_least, int):
        raise TypeError(f"recompute(): at_least is a number of bytes, an int, not {type(at_least).__name__}")
    if at_least < 0:
        raise ValueError(f"recompute(): at_least is a number of bytes, not {at_least}")
    return Recompute(at_least)


LARGEST = 64  # values that a search examines


class RecomputePath:
    """How to obtain a value in backward: hold `array`, or, if that is None, run its call again.

    `extra` maps the ids of the storages that must be held additionally for it to their bytes.
    """

    def __init__(self, array: Any, extra: dict[int, int]) -> None:
        self.array, self.extra = array, extra

    @property
    def nbytes(self) -> int:
        return sum(self.extra.values())


RecomputePaths = dict[RecordedArray, RecomputePath | None]
Held = Callable[[RecordedArray, Any], bool]
_FREE: dict[int, int] = {}


def paths_to(wanted: RecordedArray, is_held: Held) -> RecomputePaths:
    """Return a path for `wanted` and every value that recomputing it uses; None for values without a path.

    `is_held(value, array)` returns whether a value is held anyway; the array is None if it no longer exists.
    """
    paths: RecomputePaths = {}
    paths[wanted] = _through_op(wanted, paths, is_held)
    return paths


def _through_op(value: RecordedArray, paths: RecomputePaths, is_held: Held) -> RecomputePath | None:
    call = value.call
    if call is None or len(paths) > LARGEST:
        return None
    extra: dict[int, int] = {}
    for source in call.sources():
        if source not in paths:
            paths[source] = _path(source, paths, is_held)
        path = paths[source]
        if path is None:
            return None
        extra.update(path.extra)
    return RecomputePath(None, extra)


# The depth of the notes bounds the recursion.
def _path(value: RecordedArray, paths: RecomputePaths, is_held: Held) -> RecomputePath | None:
    array = value.current()
    if value.anchor() is not None or value.recipe() is not None or is_held(value, array):
        return RecomputePath(array, _FREE)
    path = _through_op(value, paths, is_held)
    if array is not None:
        whole = owner_of(array)
        if path is None or path.nbytes >= whole.nbytes:
            return RecomputePath(array, {id(whole): whole.nbytes})
    return path


def recipe_of(wanted: RecordedArray, paths: RecomputePaths, hold: Callable[[RecordedArray, Any], Any]) -> Recipe:
    """Return the recipe that the paths describe. `hold(value, array)` returns the holder of an array it starts from."""
    call = wanted.call
    assert call is not None
    return wanted.remember(Recipe(wanted, [_source(value, paths, hold) for value in call.sources()]))


def _source(value: RecordedArray, paths: RecomputePaths, hold: Callable[[RecordedArray, Any], Any]) -> Any:
    known = value.recipe()
    if known is not None:
        return known
    path = paths[value]
    assert path is not None
    return recipe_of(value, paths, hold) if path.array is None and path.extra is not _FREE else hold(value, path.array)


_KINDS = ("elementwise", "linear")  # cheap kinds: one pass over memory; exceptions say so in their declarations


def is_cheap(op: Op) -> bool:
    """Return whether running an operation again takes about as long as reading its result from memory."""
    return op.cost == "cheap" or (op.kind in _KINDS and op.cost is None)


def is_product(op: Op) -> bool:
    """Return whether an operation is a matrix product, as in a linear layer."""
    return op.name in _PRODUCTS


_PRODUCTS = frozenset({"linear", "mm", "matmul"})


def reads_little(made: int, tensors: Any) -> bool:
    """Return whether the operands have at most 8 times the `made` bytes of the result; reductions read much more."""
    return sum(t._data.nbytes for t in tensors if not is_held(t)) <= 8 * made


def is_held(tensor: Any) -> bool:
    """Return whether the program holds a tensor anyway: a parameter or a leaf that requires grad, or a view of one."""
    while tensor._view is not None:
        tensor = tensor._view.parent
    return bool(tensor._is_param) or (tensor._edge is not None and tensor.is_leaf)
