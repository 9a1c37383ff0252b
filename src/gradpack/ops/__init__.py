"""The operations, one declaration each.

A formula that names an operation of another module says `late.<name>` (`base/late.py`), so that no two modules
import each other. `ops.aten` has the operations under the names of torch's dispatcher.
"""

from typing import Any

NAMESPACES: dict[str, Any] = {}  # namespaces of `library.custom_op`: `ops.mylib.myop`


def __getattr__(name: str) -> Any:
    if name == "aten":  # imported lazily
        from importlib import import_module

        return import_module(".aten", __name__)
    if name in NAMESPACES:
        return NAMESPACES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
