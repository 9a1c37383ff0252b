"""Calls of a function for each slice of stacked tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.tree import tree_flatten, tree_unflatten
from ..core.tensor import Tensor
from ..ops.shape.join import cat, stack


def called(function: Callable[..., Any], stacked: tuple[Any, ...]) -> Any:
    """Return the stacked results of the calls.

    Raises:
        TypeError: if something else than tensors is given or returned.
        RuntimeError: if tensors have different first sizes.
    """
    if not stacked or not all(isinstance(t, Tensor) and t.ndim for t in stacked):
        raise TypeError("many: the arguments must be tensors that are stacked in their first dimension")
    count = len(stacked[0])
    if not count or any(len(t) != count for t in stacked):
        sizes = [list(t.shape) for t in stacked]
        raise RuntimeError(f"many: the first dimensions must be equal and not 0, but got the shapes {sizes}")
    parts: list[Any] = []  # leaves of stacked results, one after another
    shape, done, scanned = None, 0, getattr(function, "scanned", None)
    while done < count:
        found, ran = (None, 0) if scanned is None else scanned([t[done:] for t in stacked], done > 0)
        if not ran:
            found, ran = function(*[t[done] for t in stacked]), 1
            leaves, shape = tree_flatten(found)
            if not all(isinstance(leaf, Tensor) for leaf in leaves):
                raise TypeError("many: the function must return tensors")
            parts.append([stack([leaf.detach()]) for leaf in leaves])
        else:
            leaves, shape = tree_flatten(found)
            parts.append([leaf.detach() for leaf in leaves])
        done += ran
    assert shape is not None
    return tree_unflatten([cat(list(column)) for column in zip(*parts, strict=True)], shape)
