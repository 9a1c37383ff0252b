"""Texts about programs: what has to hold for each, its buffers, and its loops."""

from __future__ import annotations

from operator import length_hint
from typing import TYPE_CHECKING

from .facts import Kept
from .python.lifting import Lifted

if TYPE_CHECKING:
    from .compiled import Compiled


def explained(programs: list[Kept]) -> list[str]:
    """Return lines on programs."""
    lines = [f"{len(programs)} programs"]
    for i, kept in enumerate(programs):
        guards = [each for each in kept.program.instructions if each.kind in ("guard", "checked")]
        lines.append(
            f"program {i}: {len(kept.program.instructions)} instructions, {len(kept.sources)} tensors, "
            f"{len(kept.walk.snapshots)} checks of Python values"
        )
        for built in [kept.turn.built, *([] if kept.backward is None else [kept.backward.built])]:
            backward = " (backward)" if built is not kept.turn.built else ""
            lines.append(f"  buffers of {built.nbytes:,} bytes{backward}")
            lines += [f"  {line}" for line in built.loops]
        known = [(g, g.expected if g.name != "values" else "those that were seen") for g in guards]
        lines += [f"  needs {g.name} == {value!r} ({g.line})" for g, value in known if g.kind == "guard"]
        lines += [f"  needs the shape of {g.name} ({g.line})" for g in guards if g.kind == "checked"]
        if kept.turn.left is not None:
            lines.append(f"  gets loops on small arrays after {length_hint(kept.turn.left):,} more calls")
    return lines


def reasons(compiled: Compiled) -> list[str]:
    """Return lines on why calls run without a program."""
    lines = [] if compiled.trial is None else compiled.trial.told()
    if type(compiled.function) is Lifted:
        names = ", ".join(place.name for place in compiled.function.places)
        lines.append(f"read before a call, and set behind it, as the function does: {names}")
    if compiled.numbers is not None and compiled.numbers.taken:
        lines.append(f"numbers that are given as tensors, by argument: {', '.join(map(str, compiled.numbers.taken))}")
        lines += [compiled.numbers.reason] if compiled.numbers.reason else []
    if compiled.stopped:
        lines.append(f"no more programs: {compiled.stopped}")
    return [*lines, *(f"missed: {miss}" for miss in compiled.misses[-3:])]
