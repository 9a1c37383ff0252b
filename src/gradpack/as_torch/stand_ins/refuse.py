"""Functions and classes that may be imported, and say what they cannot do when they are called."""

from __future__ import annotations

from typing import Any

from ..names import LIBRARY, reason


def refused(path: str) -> Any:
    """A class of this name under `torch`; making one, or calling it, raises RuntimeError."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(f"torch.{path} is not in {LIBRARY}: {reason(path)}")

    name = path.rpartition(".")[2]
    return type(name, (), {"__init__": refuse, "__module__": f"torch.{path.rpartition('.')[0]}"})
