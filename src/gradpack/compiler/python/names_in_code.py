"""The names in the code of functions: of globals, and of attributes that it may look at."""

from __future__ import annotations

from dis import get_instructions
from functools import cache
from types import CodeType
from typing import Any

STEPS = frozenset({"step", "state", "state_dict", "load_state_dict"})  # what looks at the state of an optimizer
ANY_NAME = frozenset(  # what may look at attributes without their names
    """getattr hasattr setattr delattr vars dir __dict__ __getattribute__ __getattr__ attrgetter methodcaller asdict
    astuple fields replace copy deepcopy __copy__ __deepcopy__ __reduce__ __reduce_ex__ __getstate__ pickle dump dumps
    save format format_map eval exec locals globals getmembers""".split()
)
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
