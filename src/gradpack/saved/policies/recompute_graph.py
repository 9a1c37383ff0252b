"""How a tensor was computed, so that it can be recomputed.

`RecordedArray` and `RecordedOp` are notes on the operations that ran: they hold non-tensor arguments and tiny arrays
only, and reach back through a bounded number of operations. The note of an array dies with it. A `Recipe`
is made of them for a tensor that is dropped: it holds the arrays that it starts from (`Anchor`), and is
shared by all saved tensors that need the same result.

A recipe is run at most once in a backward pass. Its result is held only by those who will still use it
in this pass: it is freed after its last use, at the latest at the end of the pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from weakref import finalize, ref

from ...backends import Spec
from ...backends.memory_layout import owner_of
from ...base.errors import saved_was_modified
from ...base.exits import surely
from ...base.modes import RUN, using
from ...core.copy_on_write import Mutation
from ...core.tensor import Tensor, alias
from ...declare.dispatch.interpreter import apply
from ...declare.op import Op
from ...ops.random.generator import DRAWN, Replayed
from ..budgets.costs import CallTime
from ..storage import WeakIdentityMap

TINY = 1024  # bytes: storages up to this size are kept alive by the notes on what was computed from them


class RecordedOp:
    """One operation that ran: its arguments, with a `RecordedArray` in the place of every tensor."""

    depth: int

    def __init__(self, op: Op, values: list[Any], drawn: Any, took: CallTime, tiny: list[Any]) -> None:
        self.op = op
        self.took = took
        self.tiny = tiny  # tiny argument arrays, kept alive by this
        self.values = values
        self.drawn = drawn  # the generator states that it drew from, None if it drew nothing
        self.depth = 1 + max((v.call.depth for v in self.sources() if v.call is not None), default=0)

    def sources(self) -> Iterator[RecordedArray]:
        for value in self.values:
            if type(value) is RecordedArray:
                yield value
            elif type(value) is list:
                yield from (v for v in value if type(v) is RecordedArray)

    def run_again(self, arrays: list[Any]) -> Any:
        """Run the operation again on these arrays, one for each of `sources()` in order, and return its results."""
        left = iter(arrays)
        with using(**_PLAIN), surely(partial(DRAWN.set, DRAWN.get())):
            if self.drawn is not None:
                DRAWN.set(Replayed(self.drawn))
            return apply(self.op, tuple([_filled(value, left) for value in self.values]))


_PLAIN: dict[str, Any] = {
    "grad": False, "hooks": None, "inference": False, "dual": 0, "anomaly": None, "recorder": None, "levels": (),
    "mutation": None, "ops": (), "autocast": None,
}  # fmt: skip


def _filled(value: Any, arrays: Iterator[Any]) -> Any:
    """Return an argument with tensors of the next arrays in the places of `RecordedArray`s."""
    if type(value) is RecordedArray:
        return _tensor(value, next(arrays))
    return [_filled(v, arrays) for v in value] if type(value) is list else value


def _none() -> None:
    """Stand for a weak reference to nothing."""


class RecordedArray:
    """An array at one version, and the call that computed it, if known. Does not keep the array alive."""

    def __init__(self, array: Any, spec: Spec, counter: list[int], call: RecordedOp | None = None, nr: int = 0) -> None:
        self.is_tiny = owner_of(array).nbytes <= TINY
        self._array = ref(array)
        self.spec, self.counter, self.version = spec, counter, counter[0]
        self.call, self.nr = call, nr
        self.held = False  # whether the program holds it anyway, such as a parameter
        self.anchor: Callable[[], Anchor | None] = _none
        self.recipe: Callable[[], Recipe | None] = _none
        self.slot: Callable[[], Any] = _none  # a weak reference to the budget's `Slot` that holds it in some form

    def current(self) -> Any:
        """Return the array if it still exists at the same version, else None."""
        array = self._array()
        return array if array is not None and self.counter[0] == self.version else None

    def remember(self, recipe: Recipe) -> Recipe:
        self.recipe = ref(recipe)
        return recipe


def _tensor(value: RecordedArray, array: Any) -> Tensor:
    made: Tensor = alias(array, value.spec, tuple(array.shape))
    return made


class _Kept(Mutation):
    """The arrays of all anchors. An array is copied before an in-place write to it, as by mutation mode."""

    def before_write(self, handle: Any) -> None:
        """Copy the anchor's array if there is room for it. If not, the version check in backward will raise."""
        kept = self.original.get(handle)
        if kept is None or (handle.room is not None and not handle.room(kept._data)):
            return
        super().before_write(handle)
        if handle.room is not None:
            handle.copied(self.cloned[handle]._data)


_KEPT = _Kept()


class Anchor:
    """Holds an array that recipes start from, and a copy of its contents after an in-place write to it.

    Attributes:
        room: a function that returns whether an array may be copied; None if it always may.
        copied: a callback that gets the copy.
    """

    recipe = None

    def __init__(self, value: RecordedArray, array: Any) -> None:
        self.room: Callable[[Any], bool] | None = None
        self.copied: Callable[[Any], None] | None = None
        self.counter, self.version, self.spec = value.counter, value.version, value.spec
        _KEPT.original[self] = _tensor(value, array)
        counter: Any = self.counter
        # The entry is removed when the anchor dies, so that no cycle remains.
        counter.append((ref(self, lambda gone: _strike(counter, gone)), ref(_KEPT)))

    @property
    def array(self) -> Any:
        copy = _KEPT.cloned.get(self)
        if copy is not None:
            return copy._data
        kept = _KEPT.original[self]
        if self.counter[0] != self.version:
            raise saved_was_modified(
                "recompute()", "what it starts from", self.spec.dtype, kept._shape, "", self.counter[0], self.version
            )
        return kept._data


def _strike(counter: list[Any], gone: Any) -> None:
    counter[1:] = [entry for entry in counter[1:] if entry[0] is not gone]


def anchor_of(value: RecordedArray, array: Any) -> Anchor:
    """Return the anchor of a value, of which there is at most one; make it if there is none."""
    found = value.anchor()
    if found is None:
        found = Anchor(value, array)
        value.anchor = ref(found)
    return found


class Recipe:
    """How to recompute one tensor. Keeps alive the arrays that it starts from."""

    def __init__(self, value: RecordedArray, sources: list[Any]) -> None:
        self.value = value
        # For each source of the call a Recipe, or an Anchor or `Held` with its `array`, and perhaps a `recipe`.
        self.sources = sources
        self.room: Callable[[Any], bool] | None = None  # returns whether a result may be held for further uses
        self.told: Callable[[Any], None] | None = None  # callback that gets recomputed arrays
        self.users: list[ref[Recipe]] = []
        self.handles: list[ref[DroppedTensor]] = []
        self.waiting: list[Any] = []  # results of its sources, held until this needs them in the current pass
        self.run: Any = None  # a weak reference to the backward pass in which it was run last
        self._result: Any = None
        self._counter = [0]
        for source in sources:
            if type(source) is Recipe:
                source.users = [user for user in source.users if user() is not None]
                source.users.append(ref(self))

    def living(self) -> tuple[Any, list[int]] | None:
        """Return the saved or the recomputed array with its version counter, if one still exists; else None."""
        array = self.value.current()
        if array is not None:
            return array, self.value.counter
        array = None if self._result is None else self._result()
        return None if array is None or self._counter[0] else (array, self._counter)

    def follow(self, arrays: list[Any]) -> Any:
        """Run the call on the arrays of its sources, and return the array of the result."""
        call = self.value.call
        assert call is not None
        made = call.run_again(arrays)
        if isinstance(made, tuple):
            made = made[self.value.nr]
        self._result, self._counter = ref(made._data), [0]
        if self.told is not None:
            self.told((made._data,))
        return made._data

    def held(self, tell: Callable[[Any], None]) -> list[Any]:
        """Return the arrays of all anchors that this needs; `tell` is called with arrays when they are recomputed."""
        found = dict.fromkeys([self])
        stack = [self]
        while stack:
            more = [s for s in stack.pop().sources if type(s) is Recipe and s not in found]
            found.update(dict.fromkeys(more))
            stack += more
        for recipe in found:
            recipe.told = tell
        return [source.array for recipe in found for source in recipe.sources if type(source) is Anchor]


class DroppedTensor:
    """The packed form of a tensor that is dropped, to be recomputed by a recipe."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.waiting: Any = None  # the recomputed array, until this handle is unpacked
        self.run: Any = None
        recipe.handles = [handle for handle in recipe.handles if handle() is not None]
        recipe.handles.append(ref(self))

    def held(self, tell: Callable[[Any], None]) -> list[Any]:
        """Return the arrays that it keeps alive, for a meter."""
        return self.recipe.held(tell)

    def tensor(self) -> Tensor:
        """Unpack the tensor: recompute it unless it still exists."""
        run = RUN.get()
        found = self.recipe.living()
        if found is None:
            _make(self.recipe, run, self)
            found = self.recipe.living() if self.waiting is None else (self.waiting, self.recipe._counter)
            assert found is not None
        array, counter = found
        self.waiting, self.run = None, None if run is None else ref(run)
        out: Tensor = alias(array, self.recipe.value.spec, tuple(array.shape))
        out._counter = counter
        return out


def _make(wanted: Recipe, run: Any, asking: DroppedTensor) -> None:
    """Run a recipe, after those that it needs, without recursion; hold the results for later uses in the pass."""
    known: dict[Recipe, Any] = {}
    needs: dict[Recipe, list[Any]] = {}
    order = _in_order(wanted, known, needs)
    uses = Counter(s for recipe in order for s in needs[recipe] if type(s) is Recipe)
    touched: list[ref[Any]] = []
    for recipe in order:
        arrays = [known[s] if type(s) is Recipe else s.array for s in needs[recipe]]
        made = known[recipe] = recipe.follow(arrays)
        del arrays
        recipe.waiting = []
        recipe.run = None if run is None else ref(run)
        if run is not None and (recipe.room is None or recipe.room(made)):
            _hand_out(recipe, made, run, touched)
        for source in needs[recipe]:
            if type(source) is Recipe:
                uses[source] -= 1
                if not uses[source]:
                    del known[source]
    asking.waiting = known[wanted]
    if touched:
        finalize(run, _let_go, touched).atexit = False


def _in_order(wanted: Recipe, known: dict[Recipe, Any], needs: dict[Recipe, list[Any]]) -> list[Recipe]:
    """Return the recipes to run, sources first; arrays that still exist are put into `known` instead."""
    order: list[Recipe] = []
    opened: set[Recipe] = set()
    done: set[Recipe] = set()
    stack = [wanted]
    while stack:
        recipe = stack[-1]
        if recipe in opened or recipe in known:
            stack.pop()
            if recipe in opened and recipe not in done:
                done.add(recipe)
                order.append(recipe)
            continue
        found = recipe.living()
        if found is not None:
            known[recipe] = found[0]
            continue
        opened.add(recipe)
        sources = needs[recipe] = [s if type(s) is Recipe or s.recipe is None else s.recipe for s in recipe.sources]
        stack.extend(s for s in sources if type(s) is Recipe and s not in opened)
    return order


def _hand_out(recipe: Recipe, made: Any, run: Any, touched: list[ref[Any]]) -> None:
    """Give a result to all handles and recipes that will still use it in this pass, to keep it alive."""
    for known in recipe.handles:
        handle = known()
        if handle is not None and not _was_in(handle, run):
            handle.waiting = made
            touched.append(known)
    for used in recipe.users:
        user = used()
        if user is not None and not _was_in(user, run):
            user.waiting.append(made)
            touched.append(used)


def _was_in(thing: Any, run: Any) -> bool:
    return thing.run is not None and thing.run() is run


def _let_go(touched: list[ref[Any]]) -> None:
    """Free the results that are still held at the end of a pass."""
    for known in touched:
        thing = known()
        if type(thing) is DroppedTensor:
            thing.waiting = None
        elif thing is not None:
            thing.waiting = []


class RecordedArrays(WeakIdentityMap[RecordedArray]):
    """The known values, by array; keeps no array alive."""

    def find(self, tensor: Tensor) -> RecordedArray | None:
        """Return the value of a tensor; None if it is not known, or was modified in place since."""
        value = self.get(tensor._data)
        fresh = value is not None and value.counter is tensor._counter and value.counter[0] == value.version
        return value if fresh else None

    def take(self, tensor: Tensor) -> RecordedArray:
        """Return the value of an operand; a new one without a call if none is known."""
        found = self.find(tensor)
        if found is None:
            found = self.set(tensor._data, RecordedArray(tensor._data, tensor._spec, tensor._counter))
        return found
