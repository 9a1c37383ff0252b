"""Layers that would make the modules of `nn.modules` too long: these import them, and are where they say they are."""

from typing import Any


def adopt(namespace: dict[str, Any]) -> None:
    """Make the classes that a module has from here say that they are defined in that module, as in torch."""
    for value in namespace.values():
        if getattr(value, "__module__", None) and value.__module__.startswith(f"{__name__}."):
            value.__module__ = namespace["__name__"]
