"""Saved tensors that may be written to: copied at the moment of the write.

A saved tensor is kept as an alias with a version counter of its own. The counter of the storage
remembers the aliases, weakly; who writes to the storage first gives each of them a copy.
"""

from __future__ import annotations

import weakref
from typing import Any

from .tensor import Tensor, alias


class Mutation:
    """What `allow_mutation_on_saved_tensors` yields. What was saved stays safe after the block."""

    def keep(self, tensor: Tensor, mode: Any) -> Tensor:
        """An alias of a tensor for autograd to save."""
        data = tensor._data
        if mode.hooks is not None:  # what a hook keeps of its input cannot be seen: it gets a copy
            data = tensor._spec.backend.copy(data)
        kept: Tensor = alias(data, tensor._spec, tensor._shape)
        kept._edge = tensor._edge
        if data is tensor._data:
            counter: list[Any] = tensor._counter
            counter[1:] = [ref for ref in counter[1:] if ref() is not None]
            counter.append(weakref.ref(kept))
        return kept


def before_write(counter: list[Any]) -> None:
    """Give the aliases of a storage copies of their own: it is about to be written to."""
    for ref in counter[1:]:
        kept = ref()
        if kept is not None:
            kept._data = kept._spec.backend.copy(kept._data)
    del counter[1:]
