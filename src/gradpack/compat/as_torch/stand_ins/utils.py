"""The few functions of `torch._utils` that others use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def _accumulate(iterable: Iterable[Any], fn: Any = lambda x, y: x + y) -> Iterator[Any]:
    """Running totals."""
    from itertools import accumulate

    return accumulate(iterable, fn)


def _element_size(dtype: Any) -> int:
    """The size of an element in bytes."""
    return int(dtype.itemsize)


def _flatten_dense_tensors(tensors: Any) -> Any:
    """All elements one after the other."""
    from ....ops.shape.join import cat

    return cat([t.reshape(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Any) -> tuple[Any, ...]:
    """The elements again in the shapes of `tensors`."""
    parts = flat.split([t.numel() for t in tensors])
    return tuple(part.view(t.shape) for part, t in zip(parts, tensors, strict=True))


__all__: list[str] = []
