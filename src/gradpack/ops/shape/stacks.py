"""Stacks by the name of a direction (hstack, vstack, dstack), and `atleast_1d` to `atleast_3d`."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...declare.generate.profiling import noted
from .join import _some, cat
from .shape import reshape, unsqueeze

FUNCTIONS = "atleast_1d atleast_2d atleast_3d hstack vstack row_stack dstack column_stack"


@noted
def atleast_1d(*tensors: Any) -> Any:
    """Tensors of at least one dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.atleast_1d(torch.tensor(1))
        tensor([1])
    """
    return _at_least(tensors, lambda x: reshape(x, (1,)) if x.ndim < 1 else x)


@noted
def atleast_2d(*tensors: Any) -> Any:
    """Tensors of at least two dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.atleast_2d(torch.tensor([1]))
        tensor([[1]])
    """
    return _at_least(tensors, lambda x: x if x.ndim > 1 else reshape(x, (1, 1)) if x.ndim < 1 else unsqueeze(x, 0))


@noted
def atleast_3d(*tensors: Any) -> Any:
    """Tensors of at least three dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.atleast_3d(torch.tensor([1]))
        tensor([[[1]]])
    """
    return _at_least(tensors, lambda x: x if x.ndim > 2 else unsqueeze(atleast_2d(x), -1))


def _at_least(tensors: Any, change: Any) -> Any:
    if len(tensors) == 1:
        return change(tensors[0]) if isinstance(tensors[0], Tensor) else tuple(map(change, tensors[0]))
    return tuple(map(change, tensors))


def hstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Join along the second dimension, vectors along their only one.

    Example::

        >>> import gradpack as torch
        >>> torch.hstack((torch.tensor([1]), torch.tensor([2, 3])))
        tensor([1, 2, 3])
    """
    parts = [atleast_1d(t) for t in _some("hstack", tensors)]
    return cat(parts, 0 if parts[0].ndim == 1 else 1, out=out)


def vstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Join as rows.

    Example::

        >>> import gradpack as torch
        >>> torch.vstack((torch.tensor([1, 2]), torch.tensor([3, 4])))
        tensor([[1, 2],
                [3, 4]])
    """
    return cat([atleast_2d(t) for t in _some("vstack", tensors)], 0, out=out)


row_stack = vstack


def dstack(tensors: Any, *, out: Any = None) -> Tensor:
    """Join along the third dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.dstack((torch.tensor([1, 2]), torch.tensor([3, 4]))).shape
        gradpack.Size([1, 2, 2])
    """
    return cat([atleast_3d(t) for t in _some("dstack", tensors)], 2, out=out)


def column_stack(tensors: Any, *, out: Any = None) -> Tensor:
    """Join along the second dimension, vectors as columns.

    Example::

        >>> import gradpack as torch
        >>> torch.column_stack((torch.tensor([1, 2]), torch.tensor([3, 4])))
        tensor([[1, 3],
                [2, 4]])
    """
    parts = [reshape(t, (t.numel(), 1)) if t.ndim < 2 else t for t in _some("column_stack", tensors)]
    return cat(parts, 1, out=out)
