"""Functions of gradpack by name."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..ops.numpy_api.forms import found


def ours(name: str, *args: Any, **kwargs: Any) -> Tensor:
    """Call a function that returns a tensor, such as `sin` or `linalg.inv`."""
    result: Tensor = found(name)(*args, **kwargs)
    return result


def pairs(words: str) -> dict[str, str]:
    """Return our names by those of the standard, from words `name` or `name=ours`."""
    return {name: own or name for name, _, own in (word.partition("=") for word in words.split())}
