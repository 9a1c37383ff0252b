"""Programs compiled once more, with loops on small arrays, when they have run often.

A loop on small arrays takes half the time of two calls of NumPy's, and to compile it as long as many thousand of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from math import prod

from ..kernels.dispatch import ENABLED, LARGE
from .emit import build
from .facts import Kept
from .graphs import noder
from .program import Instruction, Program, Variable, is_elementwise, variables
from .turn import Turn

_MANY, _SOON = 100, 16  # steps, and the calls before loops for as many: they take the place of most of a call
_LONG, _LATER = 5_000, 300  # those of programs whose loops take many seconds to compile
_FEW = 1 << 11  # elements, of which NumPy takes less time than for the call
_PART = 4  # of the instructions of a program, one of so many has to be such a step
_AT_LEAST, _FOR_ONE = 1_700, 333_000  # calls: in as many, loops would have saved a fourth of the time to compile them


def calls_before(kept: Kept, at_once: bool) -> Iterator[int] | None:
    """Return an item for each call before a program gets loops on small arrays; None if it gets none.

    To compile takes about 0.2 s and 1 ms a step, and each step takes 150 ns less afterwards.

    Args:
        at_once: there are no calls before, and steps on more elements count.
    """
    programs = [kept.program, *([] if kept.backward is None else [kept.backward.program])]
    instructions = [each for program in programs for each in program.instructions]
    steps = sum(_is_step_on(each, LARGE - 1 if at_once else _FEW) for each in instructions)
    if not steps or not ENABLED["numba"] or find_spec("numba") is None:
        return None
    if at_once:
        return iter(())
    if steps * _PART < len(instructions):
        return None
    soon = _LATER if steps > _LONG else _SOON
    return iter(range(soon if steps >= _MANY else _AT_LEAST + _FOR_ONE // steps))


def _is_step_on(each: Instruction, most: int) -> bool:
    """Return whether an instruction is elementwise on arrays of so many elements at most."""
    made = each.results
    if not isinstance(made, Variable) or each.kind != "call" or not is_elementwise(each):
        return False
    return prod(made.shape) <= most and made.dtype.char in "fd?"


def with_small_loops(kept: Kept) -> Kept:
    """Return a program with loops on small arrays, which are compiled; its first run is compared with the function."""
    backward, nodes = kept.backward, None
    foreign = _foreign(kept.program)
    if backward is not None:
        backward = backward._replace(built=build(backward.program, 1, foreign | _foreign(backward.program)))
        nodes = noder(backward, backward.built.bind())
    built = build(kept.program, 1, foreign)
    built.bind(*kept.steady())
    return kept._replace(turn=Turn(built, nodes, kept), checked=[False], backward=backward)


def _foreign(program: Program) -> set[Variable]:
    """Return what may be no dense array: what other functions than NumPy's return, and NumPy's numbers."""
    found: set[Variable] = set()
    for each in program.instructions:
        if not each.name.startswith("item"):
            found.update(v for v in variables(each.results) if not v.shape or not _is_numpys(each))
    return found


def _is_numpys(each: Instruction) -> bool:
    return each.kind == "call" and each.name.startswith("np.")
