"""Tensors brought to a common shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.errors import shapes_do_not_broadcast
from ...core.tensor import Tensor
from ...declare.generate.profiling import profiled
from .dims import ints_of
from .shape import expand

FUNCTIONS = "broadcast_to broadcast_tensors broadcast_shapes"
METHODS = "broadcast_to"


def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """Broadcast to a shape without copying.

    Example::

        >>> import gradpack as torch
        >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
        tensor([[1, 2],
                [1, 2]])
    """
    return expand(input, tuple(size))


def _method_broadcast_to(self: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """Broadcast to a shape without copying.

    Args:
        sizes: the shape: ints, or one sequence of them.
        size: the shape, by name.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1, 2]).broadcast_to(2, 2)
        tensor([[1, 2],
                [1, 2]])
    """
    return expand(self, ints_of(sizes if size is None else (size,), "expand"))


def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that several shapes broadcast to.

    Args:
        shapes: sequences of ints, or ints for shapes of one dimension.

    Raises:
        RuntimeError: if they do not broadcast.
        ValueError: for negative sizes.

    Example::

        >>> import gradpack as torch
        >>> torch.broadcast_shapes((2, 1), (3,))
        gradpack.Size([2, 3])
    """
    from ...base.size import Size

    sizes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    if any(n < 0 for size in sizes for n in size):
        raise ValueError(f"Attempting to broadcast a dimension with negative length! The shapes are {sizes}")
    try:
        return Size(np.broadcast_shapes(*sizes))
    except ValueError:
        raise _mismatch(sizes) from None


def _mismatch(sizes: Sequence[tuple[int, ...]]) -> RuntimeError:
    """The error for the first shape that does not broadcast with those before it."""
    known = list(reversed(sizes[0]))
    for index, size in enumerate(sizes):
        for back, n in enumerate(reversed(size)):
            if back >= len(known):
                known.append(n)
            elif known[back] == 1:
                known[back] = n
            elif n not in (1, known[back]):
                return RuntimeError(
                    f"Attempting to broadcast a dimension of length {n} at {-back - 1}! Mismatching argument at index "
                    f"{index} had {size}; but expected shape should be broadcastable to {known[::-1]}"
                )
    return RuntimeError(f"the shapes {', '.join(str(list(size)) for size in sizes)} have no common shape")


@profiled
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Expand tensors to their common shape; those that have it are returned as they are.

    Example::

        >>> import gradpack as torch
        >>> [t.shape for t in torch.broadcast_tensors(torch.ones(2, 1), torch.ones(3))]
        [gradpack.Size([2, 3]), gradpack.Size([2, 3])]
    """
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    check_broadcast("broadcast_tensors", *tensors)
    shape = tuple(broadcast_shapes(*[t._shape for t in tensors]))
    return tuple(t if t._shape == shape else expand(t, shape) for t in tensors)


def check_broadcast(op: str, *tensors: Tensor) -> None:
    """Raise the error of an operation for the first two tensors that have no common shape."""
    known: tuple[int, ...] = ()
    for t in tensors:
        try:
            known = np.broadcast_shapes(known, t._shape)
        except ValueError:
            raise shapes_do_not_broadcast(op, known, t._shape) from None
