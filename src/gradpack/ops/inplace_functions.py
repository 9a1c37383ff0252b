"""In-place methods as functions: `fill_(x, 1)` beside `x.fill_(1)`."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..declare.signature.shown import showing


def _method(example: Any) -> Any:
    """Return a function that calls the method of the same name; the parameters and the text are those of `example`."""
    name = example.__name__

    @showing(example)
    def function(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        changed: Tensor = getattr(input, name)(*args, **kwargs)
        return changed

    function.__name__ = function.__qualname__ = name
    function.__doc__ = example.__doc__
    return function


@_method
def fill_(input: Tensor, value: Any) -> Any:
    """Write a value into all elements of `input` and return it: `input.fill_(value)` as a function.

    Args:
        value: a number, or a tensor without dimensions, through which gradients go.

    Raises:
        RuntimeError: for a value that has dimensions, or a leaf that requires grad.

    Example::

        >>> import gradpack as torch
        >>> x = torch.zeros(3)
        >>> torch.fill_(x, 2.5)
        tensor([2.5000, 2.5000, 2.5000])
        >>> x
        tensor([2.5000, 2.5000, 2.5000])
    """


@_method
def zero_(input: Tensor) -> Any:
    """Write zeros into all elements of `input` and return it: `input.zero_()` as a function.

    Raises:
        RuntimeError: for a leaf that requires grad, outside of `no_grad`.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.zero_(x)
        tensor([0., 0.])
        >>> x
        tensor([0., 0.])
    """


@_method
def detach_(input: Tensor) -> Any:
    """Take `input` out of the graph that made it, in place, and return it: `input.detach_()` as a function.

    It is a leaf afterwards and does not require grad. `detach` leaves the tensor as it is and returns another.

    Raises:
        RuntimeError: for a view, whose base would not be detached.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> y = x * 2
        >>> torch.detach_(y)
        tensor([2., 2.])
        >>> y.requires_grad, x.requires_grad
        (False, True)
    """


@_method
def as_strided_(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """Give `input` another size, stride and offset in its storage, in place: `input.as_strided_(...)` as a function.

    No element moves: what the tensor shows of its storage changes.

    Args:
        size: the new shape.
        stride: by dimension, how many elements of the storage lie between neighbours.
        storage_offset: the position of the first element in the storage; None for that which `input` has.

    Raises:
        RuntimeError: if the storage is too small for that.

    Example::

        >>> import gradpack as torch
        >>> x = torch.arange(6)
        >>> torch.as_strided_(x, (2, 2), (3, 1), 1)
        tensor([[1, 2],
                [4, 5]])
    """


@_method
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Any:
    """Resize `input` to the shape of another tensor, in place: `input.resize_as_(the_template)` as a function.

    Elements keep their order in memory; see `Tensor.resize_` for what becomes of a storage that is too small.

    Args:
        the_template: the tensor whose shape is taken; its dtype does not matter.
        memory_format: the order of the dimensions in memory: contiguous unless given; `torch.preserve_format` for
            that of `the_template`.

    Raises:
        RuntimeError: if `input` requires grad.

    Example::

        >>> import gradpack as torch
        >>> torch.resize_as_(torch.arange(6), torch.ones(2, 2))
        tensor([[0, 1],
                [2, 3]])
    """
