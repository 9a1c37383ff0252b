"""The function that `gradpack.compile` returns: it records, keeps programs by their guards, and runs them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial, update_wrapper
from types import FunctionType
from typing import Any
from weakref import WeakSet, ref

from ..backends.numpy import quiet
from ..base.tree import TreeSpec
from ..core.tensor import Tensor
from ..ops.random.generator import Generator
from .arguments import MISSED, context, leaves_of, other_call, plain_parameters, same_leaves
from .double_backward import recomputation_of
from .effects import executing, place_of
from .explanation import explained, reasons
from .facts import Kept
from .first_run import Undo, first_run
from .graphs import LOCK
from .program import GuardFailed, draws_early, failed
from .python.changing_numbers import NumberArguments, TakesTensors, give_numbers_as_tensors
from .python.lifting import Lifted, Place, Schedule, appended, function_of, is_read, replaced
from .python.state import Unreachable, Walk
from .recompiled import calls_before, with_small_loops
from .recording import RECORDERS, Recorder, current
from .returned_numbers import with_values
from .session import Session
from .small import Trial, is_small
from .trees import records_in
from .unrecorded import stays_as_it_is

LIMIT = 8  # programs of one function, if `compile` is not told otherwise
_ENOUGH = 2 * LIMIT  # calls after which programs that did not fit are dropped
TRIES = 3  # recordings that fail as what a first call sets up is not there yet
ALL: WeakSet[Compiled] = WeakSet()


class Unsupported(RuntimeError):  # noqa: N818 - torch's name
    """Raised under `fullgraph=True` where a function cannot become a program."""


class Compiled:
    """A function that becomes programs.

    Args:
        function: the function.
        fullgraph: raise an error where a call cannot become a program.
    """

    whole = False  # whether operations are one instruction each, for XLA
    extra: tuple[Any, ...] = ()  # the arguments that a backend has besides
    kinds: tuple[type, ...]  # the class of a compiled function, and that of one whose calls are those of another

    __slots__ = ("__dict__", "__weakref__", "_instead")
    _instead: Callable[..., Any]  # what `Elsewhere` calls

    def __init__(self, function: Callable[..., Any], fullgraph: bool = False) -> None:
        self.function, self.fullgraph = function, fullgraph
        self.limit, self.at_once = LIMIT, False  # and whether programs get loops on small arrays at once
        self.kept: list[Kept] = []
        self.calls = 0
        self.stopped: str | None = None  # why no more programs are made
        self.tries = self.lifts = 0  # recordings in a row that later ones may follow; and how often places were found
        self.misses: list[str] = []
        self.hits = self.compared = self.unfit = 0  # calls of programs by their text, by comparison, and of none
        self._turns: list[Callable[[tuple[Any, ...], dict[str, Any]], Any]] = []  # of programs bound to their tensors
        self._code: Any = None
        self._names: tuple[str | None, ...] = ()  # of the plain parameters in this code
        self._has_code = hasattr(function, "__code__")
        self.trial: Trial | None = None
        self.numbers: NumberArguments | None = NumberArguments()
        self.executed: dict[int, Any] | None = None  # the code of the user's that calls ran, if all were too much
        if hasattr(function, "__name__"):
            update_wrapper(self, function)
        else:  # an object, whose signature is shown
            self.__wrapped__ = function
        ALL.add(self)

    def reset(self) -> None:
        """Drop all programs."""
        self.function = function_of(self.function)
        self._has_code = hasattr(self.function, "__code__")
        self.kept, self.calls, self.tries, self.lifts, self.stopped, self.misses = [], 0, 0, 0, None, []
        self._turns, self.trial, self.numbers = [], None, NumberArguments()
        self.call_instead(None)

    def call_instead(self, function: Callable[..., Any] | None) -> None:
        """Let calls be those of a function, without a step of Python's in between; None: they are as at first."""
        if type(self.function) is Lifted:
            function = self.function.around(ref(self) if function is None else function)
        self.call_by(function)

    def call_by(self, function: Callable[..., Any] | None) -> None:
        """Call a function with the arguments of each call, from now on; None: run the programs."""
        if function is not None:
            self._instead = function
        if type(self) in self.kinds:
            self.__class__ = self.kinds[function is not None]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else partial(self, instance)

    def __reduce__(self) -> Any:
        """Copies and pickles have no programs; those of a function are the function's name."""
        function = function_of(self.function)
        if isinstance(function, FunctionType):
            return function.__qualname__
        kind = self.kinds[0] if type(self) in self.kinds else type(self)
        return kind, (function, self.fullgraph, *self.extra), {"limit": self.limit, "at_once": self.at_once}

    # -- calls --

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (RECORDERS and current() is not None) or (self.stopped is not None and not self.kept):
            return self.function(*args, **kwargs)  # as a part of the function that is recorded, or without programs
        if kwargs:
            args, kwargs = self.by_position(args, kwargs)
        if self._turns:
            with LOCK:
                for turn in self._turns:
                    found = turn(args, kwargs)
                    if found is not MISSED:
                        self.hits += 1
                        return found
        now = context()
        if now is None:
            return self.function(*args, **kwargs)
        leaves, tree, inputs = leaves_of(args, kwargs)
        with LOCK:
            for kept in self.kept:
                if self._fits(kept, now, leaves, tree, inputs):
                    try:
                        result = self._replay(kept, args, kwargs, inputs)
                    except GuardFailed as failed:
                        self._missed(str(failed))
                        continue
                    self.compared += 1
                    return result
            self.calls += 1
            if self.stopped is not None:
                self._drop_if_useless()
            elif not stays_as_it_is(self._place(), self.misses) and self.calls > 1:
                if len(self.kept) < self.limit:
                    return self._record(args, kwargs, leaves, tree, inputs, now)
                function = self.function
                if not self._lifts(replaced(self.kept[-1].walk)):
                    last = (self.misses or ["none was needed twice"])[-1]
                    self._refuse(f"{self.limit} programs were made, and none fits: {last}")
                return function(*args, **kwargs)
            return self.function(*args, **kwargs)

    by_program = __call__

    def by_position(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return arguments without keywords, if a function has plain parameters and no default is between them."""
        function: Any = self.function
        if not self._has_code:
            return args, kwargs
        if function.__code__ is not self._code:
            self._code, self._names = function.__code__, plain_parameters(function)
        found = [*args]
        for name in self._names[len(args) :]:
            if name not in kwargs:
                break
            found.append(kwargs[name])
        return (tuple(found), {}) if len(found) == len(args) + len(kwargs) else (args, kwargs)

    def _drop_if_useless(self) -> None:
        """Drop the programs of a function that gets no more, if they fit less than every second call."""
        self.unfit += 1
        if self.unfit > _ENOUGH and self.unfit > self.hits + self.compared:
            self.kept, self._turns = [], []
            self.call_by(function_of(self.function))

    def _lifts(self, places: list[Place | Schedule]) -> bool:
        """Let places that hold other tensors at each call be arguments and results of what becomes programs.

        Return whether there are any, and programs were not dropped for others too often.
        """
        if not places or self.lifts >= LIMIT:
            return False
        self.lifts += 1
        if type(self.function) is Lifted:
            places = [*self.function.places, *places]
        self.function, self._has_code = Lifted(function_of(self.function), places), False
        self.kept, self._turns, self.trial = [], [], None
        self.call_instead(None)
        return True

    def _missed(self, reason: str) -> None:
        """Keep in mind why a program did not run."""
        self.misses = [*self.misses[-9:], reason]

    def _stop(self, reason: str) -> None:
        self.stopped, self.hits, self.compared, self.unfit = reason, 0, 0, 0
        if not self.kept:
            self.call_by(function_of(self.function))
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        if type(function_of(self.function)) is not TakesTensors:  # else the function goes on with numbers
            warnings.warn(f"compile: {name} runs without a program from now on: {reason}", UserWarning, stacklevel=4)

    def _fits(self, kept: Kept, context: Any, leaves: list[Any], tree: TreeSpec, inputs: list[Tensor]) -> bool:
        if kept.context != context or tree != kept.tree or not same_leaves(leaves, kept.leaves):
            self._missed(other_call(kept, context, leaves, tree))
            return False
        if list(map(type, inputs)) != kept.kinds:
            self._missed("a tensor became a parameter, or the other way round")
            return False
        turn = kept.turn
        if not (turn.is_bound() and turn.holds(inputs)) and not kept.facts.are(inputs):
            self._missed(kept.facts.differs(inputs, kept.names))
            return False
        if not kept.walk.holds():
            self._missed(kept.walk.changed())
            return False
        return True

    def _replay(self, kept: Kept, args: Any, kwargs: Any, inputs: list[Tensor]) -> Any:
        if not kept.checked[0]:
            return first_run(self, kept, args, kwargs, inputs)
        turn = kept.turn
        if turn.left is not None and next(turn.left, None) is None:
            return self._replay(self._with_loops(kept), args, kwargs, inputs)
        if not turn.is_bound():
            goes_back = kept.undo or draws_early(kept.program.instructions)
            turn.bind(kept, partial(self.around, kept) if goes_back else None, self._missed)
            self._turns = [each.turn.call for each in self.kept if each.turn.is_bound() and each.turn.call is not None]
            self._try(kept, inputs)
        elif turn.call is not None:
            turn.call.__globals__["unchanged"] = kept.walk.check()
        return turn.run(inputs)

    def _with_loops(self, kept: Kept) -> Kept:
        """Put a program with loops on small arrays in the place of one; this one stays if they cannot be compiled."""
        kept.turn.unbind()
        try:
            found = with_small_loops(kept)
        except Exception as error:
            self._missed(f"loops on small arrays cannot be compiled ({type(error).__name__}: {error})")
            found = kept
        self.kept = [found if each is kept else each for each in self.kept]
        return found

    def drop(self, kept: Kept, reason: str) -> None:
        """Drop a program: one with loops on small arrays for that without, others for calls of the function."""
        before = kept.turn.before
        self.kept = [each if each is not kept else before for each in self.kept if each is not kept or before]
        if before is None:
            self._stop(reason)
        else:
            self._missed(f"{reason}, with loops on small arrays")

    def _try(self, kept: Kept, inputs: list[Tensor]) -> None:
        """Compare the time of a program that does little with that of the function."""
        if not self.whole and is_small(kept):
            self.trial = self.trial or Trial(self, kept)
            if self.trial.add(kept, inputs):
                self.call_instead(self.trial)

    def around(self, kept: Kept, program: Any, arrays: list[Any], inputs: list[Tensor]) -> Any:
        """Return the outputs of a program; nothing has changed if a guard failed."""
        before = [(a, a.copy()) for a in (kept.sources[i].now(inputs)._data for i in kept.undo)]
        states = [(g, g.get_state()) for g in kept.draws]
        try:
            with quiet():
                return program(*arrays)
        except Exception as error:
            for array, copy in before:
                array[...] = copy
            for generator, state in states:
                generator.set_state(state)
            raise failed(error) from None

    # -- recording --

    def _refuse(self, reason: str) -> None:
        if self.fullgraph:
            raise Unsupported(f"compile with fullgraph=True: {reason}")
        self._stop(reason)

    def _place(self) -> str:
        place = place_of(self.function)
        return f" ({place})" if place else ""

    def _record(
        self, args: Any, kwargs: Any, leaves: list[Any], tree: TreeSpec, inputs: list[Tensor], context: Any
    ) -> Any:
        function = self.function
        lifted = function if type(function) is Lifted else None
        give_numbers_as_tensors(self, args if lifted is None else args[: len(args) - len(lifted.held)], kwargs)
        try:
            walk = self._walk(leaves, tree)
        except Unreachable as reason:
            if self.executed is None and sys.getprofile() is None:  # less may be within reach of what it calls
                self.executed = {}
                return executing(self.executed, function, args, kwargs)
            self._refuse(f"{reason}{self._place()}")
            return function(*args, **kwargs)
        except Exception as error:  # an object of the user's raised it
            self._refuse(f"what it can reach cannot be read ({type(error).__name__}: {error}){self._place()}")
            return function(*args, **kwargs)
        grown = appended(walk)
        if grown and self._lifts(grown):
            return function(*args, **kwargs)
        session = Session(walk, inputs, self.whole)
        if session.reason:
            if not self._lifts(session.replaced):
                self._refuse(f"{session.reason}{self._place()}")
            return function(*args, **kwargs)
        session.recorder.executed, known = self.executed, len(self.executed or ())
        generators = [v for v in (*walk.seen.values(), *leaves) if isinstance(v, Generator)]
        undo = Undo([], [t for t, *_ in session.before], [array for _, array, *_ in session.before], generators)
        session.recorder.lists = {} if lifted is None else {id(each): each for each in lifted.lists()}
        left = None if lifted is None else lifted.state()
        try:
            result = session.run(function, args, kwargs)
        except Exception as error:
            if walk.changed() or (lifted is not None and lifted.state() != left):
                raise
            undo.restore()
            result = function(*args, **kwargs)
            what = f"{type(error).__name__}: {error}"
            self._stop(f"it raised an exception while it was recorded, and not afterwards: {what}")
            return result
        kept = session.kept(result, leaves, tree, context)
        if kept is not None:
            if not self.whole:
                kept.turn.left = calls_before(kept, self.at_once)
            self.kept.append(kept)
            recomputation = recomputation_of(self.function, kept)
            if recomputation is not None:
                kept.backward.recomputation.append(recomputation)
            self.tries = 0
        elif not self._lifts(session.replaced):
            self._try_again(session.recorder, len(self.executed or ()) > known)
        return with_values(result)

    def _walk(self, leaves: list[Any], tree: TreeSpec) -> Walk:
        """Return what the function can reach, and its arguments.

        Raises:
            Unreachable: if that is too much, may change without notice, or code looks at what it had only added to.
        """
        lifted = self.function if type(self.function) is Lifted else None
        walk = Walk(() if lifted is None else lifted.places, self.executed)
        walk.add(self.function, getattr(self.function, "__name__", "function"))
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                walk.add(leaf, "an argument")
        for kind in records_in(tree):
            walk.add(kind, kind.__name__)
        walk.finish()
        for place in () if lifted is None else (*lifted.counts, *lifted.grown):
            if is_read(place, walk):
                raise Unreachable(f"it looks at {place.name}, which it had only added to")
        return walk

    def _try_again(self, recorder: Recorder, has_called_more: bool) -> None:
        """Let a later call be recorded, if it may become a program where this one did not; else none."""
        if recorder.again and self.tries < TRIES and (not self.fullgraph or has_called_more):
            self.tries += 1
            self._missed(recorder.refused or "")
        else:
            self._refuse(recorder.refused or "it cannot become a program")

    # -- what people see --

    @property
    def source(self) -> str:
        """The text of the program that was made last, and of its backward pass; "" if there is none."""
        if not self.kept:
            return ""
        forward, backward = self.kept[-1].turn.built, self.kept[-1].backward
        return forward.source + (f"\n# backward:\n{backward.built.source}" if backward is not None else "")

    def explain(self) -> str:
        """Return what was recorded, what has to hold for each program, and why calls run without one."""
        return "\n".join([*explained(self.kept), *reasons(self)])


class Elsewhere(Compiled):
    """A compiled function whose calls are those of another function: a slot costs less than a method."""

    __slots__ = ()
    __call__ = Compiled._instead


Compiled.kinds = (Compiled, Elsewhere)
