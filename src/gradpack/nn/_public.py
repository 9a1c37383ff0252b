"""The names that modules give to `from module import *`, and where classes and functions say that they are defined."""

from typing import Any


def adopt(namespace: dict[str, Any], parts: str) -> None:
    """Make what a module has from another, or from a package, say that it is defined in that module, as in torch."""
    for value in namespace.values():
        if f"{getattr(value, '__module__', None)}.".startswith(f"{parts}."):
            value.__module__ = namespace["__name__"]


def give_all(namespace: dict[str, Any]) -> None:
    """Set `__all__` of a module to the public classes and functions that are defined in it.

    A type checker sees no list, and finds the same names.
    """
    own = namespace["__name__"]
    names = (n for n, value in namespace.items() if n[0] != "_" and getattr(value, "__module__", None) == own)
    namespace["__all__"] = sorted(names)
