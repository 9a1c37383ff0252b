"""Modules that look names up when they are asked for, and have all of them once their dictionary is."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import ModuleType
from typing import Any

raw_dict = vars(ModuleType)["__dict__"].__get__  # the dictionary of a module as it is


class Filled(ModuleType):
    """A module whose names are all looked up before anybody sees its dictionary, as by `vars(module)`."""

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
        """Note what was found."""
        raw_dict(self).setdefault(name, value)


def fill_when_asked(module: str) -> None:
    """Make a module, given by its name, one whose dictionary is filled."""
    sys.modules[module].__class__ = Filled
