"""The operations, one declaration each.

Formulas name operations of other modules, and adjoint pairs name each other: so a module imports
those at its end, when all of its own names are there. Importing starts at `shape`, whose beginning
needs no other. `ops.aten` has them under the names of torch's dispatcher.
"""

from typing import Any

from . import shape

__all__ = ["shape"]

NAMESPACES: dict[str, Any] = {}  # of operations made by `library.custom_op`: `ops.mylib.myop`


def __getattr__(name: str) -> Any:
    if name == "aten":  # imported when it is first asked for
        from importlib import import_module

        return import_module(".aten", __name__)
    if name in NAMESPACES:
        return NAMESPACES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
