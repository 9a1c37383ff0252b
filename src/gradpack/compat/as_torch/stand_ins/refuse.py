"""Functions and classes that can be imported, and raise when called."""

from __future__ import annotations

from typing import Any

from ..missing import sentence


def refused(path: str) -> Any:
    """A class of this name under `torch`; making one, or calling it, raises RuntimeError."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(sentence(path))

    module, _, name = path.rpartition(".")
    return type(name, (), {"__init__": refuse, "__module__": f"torch.{module}"})


def refusals(module: str, names: str) -> dict[str, Any]:
    """The same for several names of a module."""
    return {name: refused(f"{module}.{name}") for name in names.split()}
