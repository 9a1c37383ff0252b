"""Arrays of NumPy's beside traced ones: tables that bodies make, which are the same at each run."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...backends.memory_layout import _array_type
from .arrays import TracedArray


class HostArray(np.ndarray[Any, Any]):
    """An array that is the same at each run: as NumPy's, and what meets a traced one becomes traced."""

    def __getitem__(self, key: Any) -> Any:
        return TracedArray(jnp.asarray(np.asarray(self)))[key] if has_traced(key) else super().__getitem__(key)

    def __iadd__(self, other: Any) -> Any:  # type: ignore[misc]
        return self + other if has_traced(other) else super().__iadd__(other)

    def __imul__(self, other: Any) -> Any:  # type: ignore[misc]
        return self * other if has_traced(other) else super().__imul__(other)


def constant(value: Any) -> Any:
    """Return nested results of NumPy's, with its arrays as `HostArray`."""
    if type(value) is _array_type:
        return value.view(HostArray)
    return type(value)(map(constant, value)) if type(value) in (tuple, list) else value


def has_traced(value: Any) -> bool:
    """Return whether there is a traced array in nested arguments."""
    if isinstance(value, TracedArray | jax.Array):
        return True
    if isinstance(value, dict):
        value = tuple(value.values())
    return isinstance(value, tuple | list) and any(map(has_traced, value))
