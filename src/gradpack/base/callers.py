"""Source locations in the user's program: recorded cheaply, turned into text on demand."""

from __future__ import annotations

import sys
from os.path import dirname, join
from types import CodeType
from typing import Any

_INSIDE = dirname(dirname(__file__))
# The prefixes of the file names of generated code.
COMPILED = ("<op ", "<in-place op ", "<complex op ", "<watched op ", "<profiled op ", "<public form of ")
_USERS = tuple(join(_INSIDE, *names) for names in (("examples",), ("testing", "hooks")))  # like user programs

_ours: dict[str, bool] = {}  # file -> is it part of the library?


def is_ours(file: str) -> bool:
    """Whether a file name is that of a module of the library, or of code that it generated."""
    known = _ours.get(file)
    if known is None:
        known = file.startswith((_INSIDE, *COMPILED)) and not file.startswith(_USERS)
        _ours[file] = known
    return known


class Where:
    """A place in a program: a code object and an instruction offset. Keeps no frame, so no variables, alive.

    `file`, `line` and `function` say where; `str()` is "file:line in function".
    """

    __slots__ = ("_code", "_reached")

    def __init__(self, code: CodeType, reached: int) -> None:
        self._code, self._reached = code, reached

    @property
    def file(self) -> str:
        return self._code.co_filename

    @property
    def function(self) -> str:
        return self._code.co_qualname

    @property
    def line(self) -> int:
        line = self._code.co_firstlineno
        for start, end, number in self._code.co_lines():
            if number is not None and start <= self._reached < end:
                line = number
        return line

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


def depth_of_user() -> int:
    """The `stacklevel` with which a warning of the caller points to the user's program."""
    frame: Any = sys._getframe(1)
    level = 1
    while frame.f_back is not None and is_ours(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    return level


_said: set[str] = set()


def warn_user(message: str) -> None:
    """Warn of what the user's program does, at its place there."""
    import warnings

    warnings.warn(message, UserWarning, stacklevel=depth_of_user())


def warn_once(key: str, message: str) -> None:
    """Warn the user, once in a process or, as `set_warn_always` asks for, each time.

    Args:
        key: identifies the warning.
    """
    from .settings import is_warn_always_enabled

    if key not in _said or is_warn_always_enabled():
        _said.add(key)
        warn_user(message)


def place_of(frame: Any) -> tuple[CodeType, int] | None:
    """The innermost place in the user's program that led to a frame, for `Where(*place)`; None if there is none."""
    ours = _ours
    while frame is not None:
        code = frame.f_code
        known = ours.get(code.co_filename)
        if known is None:
            known = is_ours(code.co_filename)
        if not known:
            return code, frame.f_lasti
        frame = frame.f_back
    return None
