"""The generators that a function draws from while it is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ops.random.generator import Generator, default_generator
from .program import Instruction, line_of_caller

if TYPE_CHECKING:
    from .recording import Recorder


class _Mark:
    """A state of the default generator that a program keeps, and goes back to."""

    state: Any = None

    def keep_state(self) -> None:
        self.state = default_generator.numpy.bit_generator.state

    def back_to_state(self) -> None:
        default_generator.numpy.bit_generator.state = self.state

    def instruction(self, function: Any) -> Instruction:
        return Instruction(function, function.__name__, (), {}, None, kind="draw", line=line_of_caller())


class RandomNumbers:
    """Notices what is drawn between the calls of a recording.

    Attributes:
        generators: those that are drawn from, the default one first.
        known: others within reach of the function, with their states before.
        given: states that the function has asked for.
    """

    def __init__(self) -> None:
        self.generators: list[Generator] = [default_generator]
        self.given: list[Any] = []
        self.known: dict[int, tuple[Generator, Any]] = {}
        self._numpy = [default_generator.numpy]
        self._states = [_state(default_generator)]
        self._past: dict[Any, Instruction | _Mark] = {}  # by states of the default one: what drew from there

    def know(self, values: list[Any]) -> None:
        """Let generators be known that are among these values."""
        found = [v for v in values if isinstance(v, Generator) and v is not default_generator]
        self.known = {id(g): (g, (g.numpy, _state(g))) for g in found}

    def watch(self, generator: Generator) -> bool:
        """Return whether a generator is one that outlives the call; from now on its numbers are noticed."""
        if generator in self.generators:
            return True
        _, before = self.known.pop(id(generator), (None, None))
        if before is None or before != (generator.numpy, _state(generator)):
            return False
        self.generators.append(generator)
        self._numpy.append(generator.numpy)
        self._states.append(_state(generator))
        return True

    def draws(self) -> bool:
        """Return whether numbers were drawn since the last question."""
        self._before, self._states = self._states, list(map(_state, self.generators))
        return self._before != self._states

    def drew(self, each: Instruction) -> None:
        """Note which instruction has drawn numbers."""
        self._past.setdefault(_key(self._before[0]), each)

    def others(self) -> bool:
        """Return whether a known generator was used in another way than by recorded calls."""
        return any((g.numpy, _state(g)) != before for g, before in self.known.values())

    def since_last(self, recorder: Recorder) -> str:
        """Return what happened to generators since the last call that no program does again, or ""."""
        if any(g.numpy is not numpy for g, numpy in zip(self.generators, self._numpy, strict=True)):
            self._numpy = [g.numpy for g in self.generators]
            return "it seeds the generator of random numbers: do so outside"
        now = list(map(_state, self.generators))
        if now == self._states:
            return ""
        before, self._states = self._states, now
        if now[1:] == before[1:] and self._goes_back(recorder.instructions, before[0], now[0]):
            return ""
        return "random numbers were drawn that no operation of a program draws again"

    def _goes_back(self, instructions: list[Instruction], before: Any, now: Any) -> bool:
        """Record that the default generator is set to a state that it had before, as by `checkpoint`."""
        mark = self._past.get(_key(now))
        if mark is None:
            return False
        if isinstance(mark, Instruction):
            place = next(i for i, each in enumerate(instructions) if each is mark)
            mark = self._past[_key(now)] = _Mark()
            instructions.insert(place, mark.instruction(mark.keep_state))
        here = self._past[_key(before)] = _Mark()
        instructions.append(here.instruction(here.keep_state))
        instructions.append(mark.instruction(mark.back_to_state))
        return True


def _state(generator: Generator) -> Any:
    return generator.numpy.bit_generator.state


def _key(state: Any) -> Any:
    return state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"]
