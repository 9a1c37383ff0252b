"""The stack of module calls in progress: recorded only while some hook or recorder asks for it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any
from weakref import ref


class Call:
    """One call of a module, and the call that it is part of. Keeps no module alive."""

    __slots__ = ("_path", "module", "outer")

    def __init__(self, module: Any, outer: Call | None) -> None:
        self.module, self.outer = ref(module), outer
        self._path: str | None = None

    @property
    def path(self) -> str:
        """The module's name within the outermost one that was called: "blocks.0.mlp"; "" for that one itself.

        A module that is no part of those around it goes by the name of its class.
        """
        if self._path is None:
            self._path = self._find()
        return self._path

    def _find(self) -> str:
        module, outer = self.module(), self.outer
        if outer is None or module is None:
            return ""
        around: Call | None = outer
        while around is not None:
            name = _name_within(around.module(), module)
            if name is not None:
                return ".".join(part for part in (around.path, name) if part)
            around = around.outer
        return ".".join(part for part in (outer.path, type(module).__name__) if part)


def _name_within(outer: Any, module: Any) -> str | None:
    if outer is None:
        return None
    for name, child in outer.__dict__["_modules"].items():  # the usual case
        if child is module:
            return str(name)
    return next((str(name) for name, child in outer.named_modules() if child is module), None)


CALLS: ContextVar[Call | None] = ContextVar("gradpack module calls", default=None)
