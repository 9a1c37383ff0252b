"""A program that XLA runs: instructions traced by `jax.jit`, with the arrays that it takes and gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from math import prod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...ops.random.generator import Generator
from ..program import GuardFailed, Program, Variable, variables
from .arrays import TracedArray
from .drawing import CURRENT, Draw, Draws, StateKept, restore, states_of
from .packing import SMALL, Layout
from .questions import Answers, Unanswered, answering
from .steps import LARGE, OtherShape, Tracing, Untraceable
from .updates import Numbers, Updates, array_of, keywords_of

MOST = 16  # traces of one program, for other answers to what bodies ask


class Trace:
    """A program as `jax.jit` has it, for some answers to what bodies ask.

    Attributes:
        run: takes what is written to, what is only read, constants, numbers of optimizers and random numbers.
        answers: all of them, once it was traced.
        guarded: whether anything has to hold after a run.
        calls: the random numbers that it takes.
    """

    def __init__(self) -> None:
        self.run: Any = None
        self.answers: list[Any] = []
        self.guarded = False
        self.calls: list[Draw | StateKept] = []


class Outcome(NamedTuple):
    """Results of a trace, as `jax.jit` gives them.

    Attributes:
        holds: whether all guards hold; else `state` is what it was. None where there are none.
        first: how many of the guards of the recording hold, from the first on.
        asked: what bodies asked for.
        state: the new arrays of what is written to, in the layout `states`.
        outputs: the other arrays that are wanted; None for gradients.
        grads: the gradients, in the layout `grads`.
    """

    holds: Any
    first: Any
    asked: list[Any]
    state: list[Any]
    outputs: list[Any]
    grads: list[Any]


class Made(NamedTuple):
    """Results of a run.

    Attributes:
        state: the new arrays of what is written to; what they were, where it failed.
        outputs: the other arrays that are wanted; None for gradients.
        grads: the gradients.
        failed: why there are none.
    """

    state: list[Any]
    outputs: list[Any]
    grads: list[Any]
    failed: GuardFailed | Untraceable | None


class OtherNumber(GuardFailed):
    """Raised where a number is not what it was while a program was recorded, perhaps by its last digits."""


class JaxProgram:
    """Instructions, and the traces that were made of them.

    Attributes:
        given: the variables of all arrays that it takes, those that it writes to first.
        tensors: for each the tensor if an optimizer updates it, else None.
        writes: how many it writes to.
        states: how those are packed.
        grads: which outputs are gradients, and how these are packed.
        shardings: of what it writes to, or nothing.

    Args:
        grads: the places of outputs that are nothing but new gradients.
        packs: whether small arrays are put together.
        generators: those that are drawn from.
    """

    def __init__(
        self, program: Program, grads: list[int], packs: bool = True, generators: Iterable[Generator] = ()
    ) -> None:
        self.program, self.generators = program, list(generators)
        self.numbers = Numbers(program.instructions)
        self.traces: list[Trace] = []
        self.shardings: list[Any] = []
        taken: dict[Variable, Any] = dict.fromkeys(program.state)
        for each in program.instructions:
            if each.kind == "update":
                taken.update(zip(each.writes, keywords_of(each)["tensors"], strict=True))
        written = {v.memory for each in program.instructions for v in each.writes}
        self.given = sorted(taken, key=lambda v: v.memory not in written)
        self.tensors = [taken[v] for v in self.given]
        self.writes = sum(v.memory in written for v in self.given)
        memories = [v.memory for v in self.given]
        if any(memories.count(m) > 1 for m in memories[: self.writes]):
            raise Untraceable("tensors that it writes to share memory")
        loose = set(program.state) - set(program.steady)
        alone = [i for i, v in enumerate(self.given) if not packs or (self.tensors[i] is None and v in loose)]
        self.states = Layout(dict(enumerate(self.given[: self.writes])), alone)
        small = [i for i in grads if packs and prod(program.outputs[i].shape) <= SMALL]
        self.grads = Layout({i: program.outputs[i] for i in small})
        large = {
            v: None
            for each in program.instructions
            for v in variables((each.args, each.kwargs))
            if v.value is not None and v.value.size >= LARGE
        }
        self._large = list(large)
        self._constants: list[Any] | None = None
        self._numbers: tuple[Any, Any] = None, None
        self._guards = [each for each in program.instructions if each.kind == "guard"]

    # -- traces --

    def _function(self, trace: Trace, answers: list[Any], drawn: bool) -> Callable[..., Any]:
        """Return what `jax.jit` traces."""

        def run(state: list[Any], read: list[Any], constants: list[Any], numbers: Any, random: list[Any]) -> Outcome:
            asked, draws = Answers(answers), Draws(random if drawn else None, self.generators)
            tracing = Tracing(self.program, Updates(self.numbers, numbers))
            old = [self.states.taken(state, i) for i in range(self.writes)]
            for variable, value in zip((*self.given, *self._large), (*old, *read, *constants), strict=True):
                tracing.arrays[variable] = TracedArray(value)
            CURRENT.append(draws)
            try:
                with answering(asked):
                    tracing.run()
            except (Unanswered, Untraceable):
                if len(asked.values) <= len(answers):
                    raise
                trace.answers = asked.answers  # perhaps a guessed one was wrong
                return Outcome(jnp.asarray(False), jnp.asarray(len(self._guards)), asked.values, state, [], [])
            finally:
                CURRENT.pop()
                trace.calls, trace.answers = draws.calls, asked.answers
                trace.guarded = bool(asked.values or self._guards)
            new = self.states.packed([tracing.arrays[v].value for v in self.given[: self.writes]], _joined)
            holds = first = None
            if trace.guarded:
                first = _leading([_agrees(v, *wanted) for v, wanted in tracing.guards])
                answers_hold = [_agrees(v, "", a) for v, a in zip(asked.values, asked.answers, strict=True)]
                holds = jnp.all(jnp.asarray(answers_hold)) & (first == len(tracing.guards))
                new = [jnp.where(holds, n, old) for n, old in zip(new, state, strict=True)]
            if self.shardings:
                new = [jax.lax.with_sharding_constraint(n, s) for n, s in zip(new, self.shardings, strict=True)]
            outputs: list[Any] = [jnp.asarray(_value(tracing.value(v))) for v in self.program.outputs]
            grads = self.grads.packed(outputs, _joined)
            outputs = [None if i in self.grads.places else output for i, output in enumerate(outputs)]
            return Outcome(holds, first, asked.values, new, outputs, grads)

        return run

    def _traced(self, answers: list[Any], arguments: tuple[Any, ...]) -> Trace:
        if len(self.traces) >= MOST:
            raise Untraceable(f"{MOST} programs were made for what operations look at")
        trace = Trace()
        if any(each.kind == "draw" for each in self.program.instructions):
            jax.eval_shape(self._function(trace, answers, False), *arguments, [])
            random = [jax.ShapeDtypeStruct(c.shape, c.native) for c in trace.calls]
        else:
            random = []
        trace.run = jax.jit(self._function(trace, answers, True), donate_argnums=0)
        jax.eval_shape(trace.run, *arguments, random)
        self.traces.append(trace)
        return trace

    # -- runs --

    def __call__(self, state: list[Any], read: list[Any]) -> Made:
        """Return what a run gives.

        Raises:
            Untraceable: where JAX cannot trace it.
            GuardFailed: where options of optimizers are others.
        """
        arguments = state, read, self.constants(), self.options()
        trace = self.traces[-1] if self.traces else self._traced([], arguments)
        if not trace.guarded:
            made = trace.run(*arguments, [call.now() for call in trace.calls])
            return Made(made.state, made.outputs, made.grads, None)
        return self._guarded(trace, arguments)

    def _guarded(self, trace: Trace, arguments: tuple[Any, ...]) -> Made:
        """Run until the answers are right that a trace was made for."""
        before = states_of(trace.calls)
        tried: list[Trace] = []
        while True:
            made = trace.run(*arguments, [call.now() for call in trace.calls])
            if made.holds:
                self.traces.remove(trace)
                self.traces.append(trace)  # the next call begins with it
                return Made(made.state, made.outputs, made.grads, None)
            restore(before)
            arguments = made.state, *arguments[1:]
            first = int(made.first)
            if first < len(self._guards):
                guard = self._guards[first]
                kind = OtherNumber if isinstance(guard.expected, float) else GuardFailed
                return Made(made.state, [], [], kind(f"{guard.name} was {guard.expected!r} ({guard.line})"))
            tried.append(trace)
            seen = [np.asarray(v).item() for v in made.asked]
            pairs = zip(seen, trace.answers, strict=False)
            wrong = next((i for i, (a, b) in enumerate(pairs) if not _same(a, b)), len(trace.answers))
            known = seen[: wrong + 1]
            found = [t for t in self.traces if t not in tried and _begins(t.answers, known)]
            try:
                trace = found[-1] if found else self._traced(known, arguments)
            except OtherShape as reason:
                return Made(made.state, [], [], GuardFailed(str(reason)))
            except Untraceable as reason:
                return Made(made.state, [], [], reason)

    def output(self, made: Made | Outcome, place: int) -> Any:
        """Return one of the outputs."""
        return self.grads.taken(made.grads, place) if place in self.grads.places else made.outputs[place]

    def constants(self) -> list[Any]:
        """Return the large constants."""
        if self._constants is None:
            self._constants = [jnp.array(v.value) for v in self._large]
        return self._constants

    def options(self) -> Any:
        """Return the numbers of optimizers.

        Raises:
            GuardFailed: where another program is needed.
        """
        values = self.numbers.now()
        if values is None:
            raise GuardFailed("an option of an optimizer is another")
        if values is not self._numbers[0]:
            self._numbers = values, array_of(values)
        return self._numbers[1]


def _joined(arrays: list[Any]) -> Any:
    """Return arrays one after another. They are computed before: in one loop with all of them that takes longer."""
    return jnp.concatenate(jax.lax.optimization_barrier(arrays))


def _value(array: Any) -> Any:
    return array.value if isinstance(array, TracedArray) else array


def _agrees(value: Any, name: str, wanted: Any) -> Any:
    """Return whether a value is the answer that Python got, as an array."""
    if name == "values":
        value = _value(value).reshape(-1)
        return jnp.all(value == np.frombuffer(wanted, value.dtype))
    value = _value(value).reshape(())
    if name == "bool":
        return (value != 0) == wanted
    if name == "int":
        value = value.astype(np.int64)
    return jnp.isnan(value) if _is_nan(wanted) else value == wanted


def _leading(holds: list[Any]) -> Any:
    """Return how many are true before the first that is not."""
    return jnp.sum(jnp.cumprod(jnp.asarray(holds, np.int64))) if holds else jnp.asarray(0)


def _same(a: Any, b: Any) -> bool:
    return bool(a == b or (_is_nan(a) and _is_nan(b)))


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _begins(answers: list[Any], known: list[Any]) -> bool:
    return len(answers) >= len(known) and all(map(_same, answers, known))
