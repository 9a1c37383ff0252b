"""The names in the code of functions: of globals, and of attributes that it may look at."""

from __future__ import annotations

from dis import Instruction, get_instructions
from functools import cache
from itertools import pairwise
from types import CodeType
from typing import Any

STEPS = frozenset({"step", "state", "state_dict", "load_state_dict"})  # what looks at the state of an optimizer
ANY_NAME = frozenset(  # what may look at attributes without their names
    """getattr hasattr setattr delattr vars dir __dict__ __getattribute__ __getattr__ attrgetter methodcaller asdict
    astuple fields replace copy deepcopy __copy__ __deepcopy__ __reduce__ __reduce_ex__ __getstate__ pickle dump dumps
    save format format_map eval exec locals globals getmembers""".split()
)
_LOOKS_INTO = frozenset({"getattr", "hasattr", "vars", "dir"})
CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
LOOKS = frozenset({"globals", "eval", "exec"})  # functions that may look at all globals


@cache
def globals_of(code: CodeType) -> frozenset[str]:
    """Return the names that the code of a function, and of those inside of it, looks up among globals."""
    found = {i.argval for i in get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    inside = [globals_of(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(found.union(*inside))


def strings_of(code: CodeType) -> set[str]:
    """Return the strings in the code of a function, which may name attributes."""
    found: set[str] = set()
    queue: list[Any] = list(code.co_consts)
    for each in queue:  # it grows during the loop
        if isinstance(each, str):
            found.add(each)
        elif isinstance(each, tuple | frozenset):
            queue += each
        elif isinstance(each, CodeType):
            queue += each.co_consts
    return found


def names_of(code: CodeType) -> list[str]:
    """Return the names in the code of a function and of those inside of it."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names += names_of(constant)
    return names


@cache
def looked_into(code: CodeType) -> frozenset[str]:
    """Return the names of what code gives to `getattr` and the like, which look at attributes without their names."""
    steps = [i for i in get_instructions(code) if i.opname not in ("PUSH_NULL", "EXTENDED_ARG", "COPY_FREE_VARS")]
    found = {b.argval for a, b in pairwise(steps) if a.opname == "LOAD_GLOBAL" and a.argval in _LOOKS_INTO}
    inside = [looked_into(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(name for name in found if isinstance(name, str)).union(*inside)


@cache
def only_counts(code: CodeType, name: str) -> bool:
    """Return whether code does nothing with attributes and variables of a name but to add integers, if anything.

    That is `x.name += 1`, `x.name = x.name + 1` and the like: nothing else depends on what they hold.
    """
    if name in strings_of(code):  # as in a pattern of `match`, which looks at attributes
        return False
    inside = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    steps = [i for i in get_instructions(code) if i.opname != "EXTENDED_ARG"]
    uses = [k for k, i in enumerate(steps) if i.argval == name and _is_of_name(i)]
    counted = [first for first in uses if _counts_at(steps, first)]
    return 2 * len(counted) == len(uses) and all(only_counts(each, name) for each in inside)


@cache
def only_appends(code: CodeType, name: str, depth: int) -> bool:
    """Return whether code does nothing with attributes and variables of a name but to append, if anything.

    That is `x.name.append(value)` at a depth of 0, and `name["key"].append(value)` at one of 1.
    """
    if name in strings_of(code):
        return False
    inside = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    steps = [i for i in get_instructions(code) if i.opname not in _BETWEEN]
    uses = [k for k, i in enumerate(steps) if i.argval == name and _is_of_name(i)]
    return all(_depth(steps, k) == depth for k in uses) and all(only_appends(each, name, depth) for each in inside)


@cache
def appended_names(code: CodeType) -> frozenset[tuple[str, int]]:
    """Return the names of attributes and variables to which code appends, with the depth as of `only_appends`."""
    steps = [i for i in get_instructions(code) if i.opname not in _BETWEEN]
    found = {(i.argval, _depth(steps, k)) for k, i in enumerate(steps) if _is_of_name(i) and _depth(steps, k) >= 0}
    inside = [appended_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(found.union(*inside))


def _depth(steps: list[Instruction], first: int) -> int:
    """Return of how many subscripts of what is read at a step `append` is taken; -1 if something else is done."""
    if not steps[first].opname.startswith("LOAD"):
        return -1
    then = first + 1
    while steps[then].opname in _CONSTANTS and _is_subscript(steps[then + 1]):
        then += 2
    is_method = steps[then].opname in ("LOAD_METHOD", "LOAD_ATTR") and steps[then].argval == "append"
    return (then - first - 1) // 2 if is_method else -1


def _is_subscript(step: Instruction) -> bool:
    return step.opname == "BINARY_SUBSCR" or (step.opname == "BINARY_OP" and step.argrepr == "[]")  # of Python 3.14


def _is_of_name(step: Instruction) -> bool:
    return any(part in step.opname for part in ("_ATTR", "_METHOD", "_DEREF", "_GLOBAL", "_NAME"))


def _counts_at(steps: list[Instruction], first: int) -> bool:
    """Return whether what is read at a step is set soon after, by an integer more."""
    read, number, added, then = steps[first], *[*steps[first + 1 : first + 4], *steps[-1:] * 3][:3]
    if not (read.opname.startswith("LOAD") and number.opname in _CONSTANTS and type(number.argval) is int):
        return False
    if added.opname != "BINARY_OP" or added.argrepr.rstrip("=") not in ("+", "-"):
        return False
    if "_ATTR" in read.opname:  # of the same object
        before = steps[first - 1]
        if (before.opname, then.opname) != ("COPY", "SWAP"):
            if (before.opname, before.argval) != (then.opname, then.argval):
                return False
        then = steps[first + 4]
    return then.opname.startswith("STORE") and _is_of_name(then) and then.argval == read.argval


_BETWEEN = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "PUSH_NULL"})
_CONSTANTS = frozenset({"LOAD_CONST", "LOAD_SMALL_INT"})
