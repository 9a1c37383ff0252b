"""`torch.utils.swap_tensors`."""

from __future__ import annotations

import weakref
from typing import Any

from ..graph.node import AccumulateGrad
from .tensor import Tensor

_SLOTS = ("_data", "_shape", "_spec", "_edge", "_counter", "_view", "_leaf_state", "__dict__", "__class__")


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange everything that two tensor objects are: values, history, gradient, attributes and class.

    Example::

        >>> import gradpack as torch
        >>> a, b = torch.tensor([1]), torch.tensor([2])
        >>> torch.utils.swap_tensors(a, b)
        >>> a, b
        (tensor([2]), tensor([1]))
    """
    for tensor in (t1, t2):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"swap_tensors() takes two tensors, not {type(tensor).__name__}")
    for name in _SLOTS:
        first: Any = getattr(t1, name, None)
        setattr(t1, name, getattr(t2, name, None))
        setattr(t2, name, first)
    for tensor in (t1, t2):
        if type(tensor._edge) is AccumulateGrad:
            tensor._edge.tensor = weakref.ref(tensor)
            tensor._leaf_state.follow(tensor)


__all__ = ["swap_tensors"]
