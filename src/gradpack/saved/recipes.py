"""How a tensor was made, so that it can be made again.

`Value` and `Call` are notes on every operation that ran: they hold settings, but no array that is not
tiny, and reach back through a bounded number of operations. What is noted of an array ends with it. A
`Recipe` is made of them for a tensor that is not kept: it holds the arrays that it starts from (`Anchor`),
and is shared by all that need the same result.

A recipe is followed at most once in a backward pass. What comes out is held by those who will still
ask for it in this pass, and by nobody else: it dies with the last of them, at the latest with the pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from weakref import finalize, ref

from ..backends import Spec
from ..base.errors import saved_was_modified
from ..base.modes import MODE, RUN
from ..declare.dispatch.interpreter import apply
from ..declare.op import Op
from ..ops.random.generator import DRAWN, Replayed
from ..tensor.mutation import Mutation
from ..tensor.tensor import Tensor, alias
from .costs import Took
from .storage import owner

TINY = 1024  # bytes: storages as small as this are held by the notes on what was made of them
DEEPEST = 32  # operations that a recipe may chain


class Call:
    """One operation that ran: its arguments, with a `Value` in the place of every tensor."""

    __slots__ = ("depth", "drawn", "op", "tiny", "took", "values")

    depth: int

    def __init__(self, op: Op, values: list[Any], drawn: Any, took: Took, tiny: list[Any]) -> None:
        self.op = op
        self.took = took
        self.tiny = tiny  # arrays of arguments, which live as long as this
        self.values = values
        self.drawn = drawn  # the states of generators that it drew from, None if it drew nothing
        self.depth = 1 + max((v.call.depth for v in self.sources() if v.call is not None), default=0)

    def sources(self) -> Iterator[Value]:
        for value in self.values:
            if type(value) is Value:
                yield value
            elif type(value) is list:
                yield from (v for v in value if type(v) is Value)

    def again(self, arrays: list[Any]) -> Any:
        """The results of the operation on these arrays, which stand for its sources in order."""
        left = iter(arrays)
        values = [
            _tensor(v, next(left))
            if type(v) is Value
            else [_tensor(x, next(left)) if type(x) is Value else x for x in v]
            if type(v) is list
            else v
            for v in self.values
        ]
        mode, drawing = MODE.get(), DRAWN.get()
        plain = mode.replace(
            grad=False, hooks=None, inference=False, dual=0, anomaly=None, recorder=None, levels=(), mutation=None,
            ops=(), autocast=None,
        )  # fmt: skip
        try:
            MODE.set(plain)
            if self.drawn is not None:
                DRAWN.set(Replayed(self.drawn))
            return apply(self.op, tuple(values))
        finally:
            try:
                DRAWN.set(drawing)
            finally:
                MODE.set(mode)


class Value:
    """An array at one version, and the call that made it, if that is known. Does not keep the array alive."""

    __slots__ = (
        "__weakref__",
        "_array",
        "anchor",
        "call",
        "counter",
        "held",
        "is_tiny",
        "nr",
        "recipe",
        "slot",
        "spec",
        "version",
    )

    def __init__(self, array: Any, spec: Spec, counter: list[int], call: Call | None = None, nr: int = 0) -> None:
        self.is_tiny = owner(array).nbytes <= TINY
        self._array = ref(array)
        self.spec, self.counter, self.version = spec, counter, counter[0]
        self.call, self.nr = call, nr
        self.held = False  # does the user hold it anyway?
        self.anchor: Any = None
        self.recipe: Any = None
        self.slot: Any = None  # who keeps it in some form, weakly

    def current(self) -> Any:
        """The array, if it is still there and as it was."""
        array = self._array()
        return array if array is not None and self.counter[0] == self.version else None

    @property
    def has_way(self) -> bool:
        """Whether an anchor or a recipe is there already."""
        return (self.anchor is not None and self.anchor() is not None) or self.known_recipe() is not None

    def known_recipe(self) -> Recipe | None:
        found: Recipe | None = None if self.recipe is None else self.recipe()
        return found

    def remember(self, recipe: Recipe) -> Recipe:
        self.recipe = ref(recipe)
        return recipe


def _tensor(value: Value, array: Any) -> Tensor:
    made: Tensor = alias(array, value.spec, tuple(array.shape))
    return made


class _Kept(Mutation):
    """What anchors stand for. Copies are made before somebody writes to it, by the means of mutation mode."""

    def before_write(self, handle: Any) -> None:
        """Copies it, where there is room. Where there is none backward will find that it was written to."""
        kept = self.original.get(handle)
        if kept is None or (handle.room is not None and not handle.room(kept._data)):
            return
        super().before_write(handle)
        if handle.room is not None:
            handle.copied(self.cloned[handle]._data)


_KEPT = _Kept()


class Anchor:
    """Holds an array that recipes start from. A write in place leaves it a copy of what was there.

    Attributes:
        room: says whether there may be a copy of an array; None if there always may.
        copied: hears of it.
    """

    __slots__ = ("__weakref__", "copied", "counter", "room", "spec", "version")

    recipe = None

    def __init__(self, value: Value, array: Any) -> None:
        self.room: Callable[[Any], bool] | None = None
        self.copied: Callable[[Any], None] | None = None
        self.counter, self.version, self.spec = value.counter, value.version, value.spec
        _KEPT.original[self] = _tensor(value, array)
        counter: Any = self.counter
        # The entry goes when the anchor goes, and the cycle that it makes with it.
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


def anchor_of(value: Value, array: Any) -> Anchor:
    """What holds the array of a value: the one anchor that there is of it."""
    found: Anchor | None = None if value.anchor is None else value.anchor()
    if found is None:
        found = Anchor(value, array)
        value.anchor = ref(found)
    return found


class Recipe:
    """How to make one tensor again. Holds what that starts from."""

    __slots__ = (
        "__weakref__",
        "_again",
        "_counter",
        "handles",
        "room",
        "run",
        "sources",
        "told",
        "users",
        "value",
        "waiting",
    )

    def __init__(self, value: Value, sources: list[Any]) -> None:
        self.value = value
        # For each source of the call a Recipe, or what has its `array`, and perhaps a `recipe` that makes it.
        self.sources = sources
        self.room: Callable[[Any], bool] | None = None  # says whether a result may be held for others
        self.told: Callable[[Any], None] | None = None  # hears of what is made again
        self.users: list[ref[Recipe]] = []
        self.handles: list[ref[Handle]] = []
        self.waiting: list[Any] = []  # results of sources that this will need in the pass that goes on
        self.run: Any = None  # the pass in which it was followed last, weakly
        self._again: Any = None
        self._counter = [0]
        for source in sources:
            if type(source) is Recipe:
                source.users = [user for user in source.users if user() is not None]
                source.users.append(ref(self))

    def living(self) -> tuple[Any, list[int]] | None:
        """The array and its counter, if somebody still holds it: the one that was saved, or the one made again."""
        array = self.value.current()
        if array is not None:
            return array, self.value.counter
        array = None if self._again is None else self._again()
        return None if array is None or self._counter[0] else (array, self._counter)

    def follow(self, arrays: list[Any]) -> Any:
        """Runs the call on the arrays of its sources."""
        call = self.value.call
        assert call is not None
        made = call.again(arrays)
        if isinstance(made, tuple):
            made = made[self.value.nr]
        self._again, self._counter = ref(made._data), [0]
        if self.told is not None:
            self.told((made._data,))
        return made._data

    def held(self, tell: Callable[[Any], None]) -> list[Any]:
        """The arrays that this and the recipes before it hold; `tell` is called with those that are made again."""
        found: list[Any] = []
        stack, seen = [self], {self}
        while stack:
            recipe = stack.pop()
            recipe.told = tell
            for source in recipe.sources:
                if type(source) is Anchor:
                    found.append(source.array)
                elif type(source) is Recipe and source not in seen:
                    seen.add(source)
                    stack.append(source)
        return found


class Handle:
    """Stands in the graph for a tensor that is not kept."""

    __slots__ = ("__weakref__", "recipe", "run", "waiting")

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.waiting: Any = None  # the tensor made again, until this handle is asked for it
        self.run: Any = None
        recipe.handles = [handle for handle in recipe.handles if handle() is not None]
        recipe.handles.append(ref(self))

    def held(self, tell: Callable[[Any], None]) -> list[Any]:
        """What it keeps, for a meter."""
        return self.recipe.held(tell)

    def tensor(self) -> Tensor:
        """The tensor, made again unless it was already in this backward pass."""
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


def _make(wanted: Recipe, run: Any, asking: Handle) -> None:
    """Follows a recipe, and first those that it needs; without recursion."""
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
    """The recipes to follow, sources first. What needs not be followed goes to `known`."""
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
    """Lets those hold a result who will ask for it in this pass."""
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
    """At the end of a pass: nobody holds anything any more."""
    for known in touched:
        thing = known()
        if type(thing) is Handle:
            thing.waiting = None
        elif thing is not None:
            thing.waiting = []
