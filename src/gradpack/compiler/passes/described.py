"""Texts about the loops of a program."""

from __future__ import annotations

from typing import Any

from ...declare.generate.fusion import LOOPS
from ...kernels.dispatch import ENABLED, LARGE, loaded
from ..program import Program, variables
from .fusion import is_known_step, is_step, size_of


def described(program: Program) -> list[str]:
    """Return lines on the loops of a program, and on elementwise instructions on large arrays that are in none."""
    found = []
    for each in program.instructions:
        made = variables(each.results)[:1]
        if each.kind == "loop":
            function: Any = each.function
            what = f"{function.steps} calls in one loop, {len(variables(each.results))} results"
        elif made and is_step(each) and each.kind in ("call", "large") and size_of(made[0]) >= LARGE:
            if not ENABLED["numba"] or loaded(LOOPS) is None:
                reason = "there are no compiled loops: Numba is missing or switched off"
            else:
                reason = (
                    "nothing that a loop can join stands next to it"
                    if is_known_step(each)
                    else "loops do not know its form"
                )
            what = f"a call of NumPy's, as {reason}"
        else:
            continue
        found.append(f"{each.name}, {made[0].shape} {made[0].dtype}: {what} ({each.line})")
    return found
