"""Modules with lazily imported names that import all of them when their `__dict__` is read."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import ModuleType
from typing import Any

raw_dict = vars(ModuleType)["__dict__"].__get__  # the dictionary of a module, without filling it


class Filled(ModuleType):
    """A module that looks up all of its lazy names before its `__dict__` is read, as by `vars(module)`."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        held: dict[str, Any] = raw_dict(self)
        if "_is_filled" not in held:
            held["_is_filled"] = True
            for name in sorted({*dir(self), *getattr(self, "__all__", ())}):
                if name[:2] != "__":
                    with suppress(AttributeError, ImportError):
                        self._keep(name, getattr(self, name))
        return held

    def _keep(self, name: str, value: Any) -> None:
        """Store a name that was looked up."""
        raw_dict(self).setdefault(name, value)


def fill_when_asked(module: str) -> None:
    """Turn a module, given by its name, into a `Filled`."""
    sys.modules[module].__class__ = Filled
