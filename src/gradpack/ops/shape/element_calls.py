"""`apply_`, `map_` and `map2_`: a function of Python's called with each element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.memory_layout import writable
from ...base import late
from ...core.tensor import Tensor

INPLACE = "apply_ map_ map2_"


def _refuse_grad(name: str, *tensors: Tensor) -> None:
    for t in tensors:
        if isinstance(t, Tensor) and t.requires_grad:
            raise RuntimeError(
                f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
            )


def _mapped(name: str, target: Tensor, others: tuple[Tensor, ...], function: Any) -> Tensor:
    _refuse_grad(name, target, *others)
    if not callable(function):
        raise TypeError(f"{name}(): '{type(function).__name__}' object is not callable")
    for which, other in zip(("other",) if len(others) < 2 else ("x", "y"), others, strict=False):
        if other._spec is not target._spec:
            raise TypeError(f"{name}: expected {target.type()} for '{which}' (got {other.type()})")
    columns = [late.expand(o.detach(), target._shape).tolist() if target._shape else o.item() for o in others]
    array = writable(target._data)
    if not target._shape:
        array[...] = _number(function(target.item(), *columns), target)
        return target
    for place in np.ndindex(target._shape):
        given = [_at(c, place) for c in columns]
        array[place] = _number(function(array[place].item(), *given), target)
    return target


def _number(value: Any, target: Tensor) -> Any:
    """Convert the result of a user's callable to a number for `target`; TypeError if it does not fit the dtype."""
    if isinstance(value, Tensor):
        value = value.item()
    kind = target._spec.dtype
    if kind.is_complex or isinstance(value, int | float):
        return value
    wanted = (
        "must be real number, not {}" if kind.is_floating_point else "{!r} object cannot be interpreted as an integer"
    )
    raise TypeError(wanted.format(type(value).__name__))


def _at(nested: Any, place: tuple[int, ...]) -> Any:
    for i in place:
        nested = nested[i]
    return nested


def _method_apply_(self: Tensor, callable: Any) -> Tensor:
    """Replace each element x by `callable(x)`, in place. Slow: it is called with Python numbers, one by one.

    Args:
        callable: a function of one number that returns a number.

    Raises:
        RuntimeError: if the tensor requires grad.
        TypeError: for what cannot be called, or a result that does not fit the dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1.0, 4.0]).apply_(lambda x: x + 0.5)
        tensor([1.5000, 4.5000])
    """
    return _mapped("apply_", self, (), callable)


def _method_map_(self: Tensor, tensor: Tensor, callable: Any) -> Tensor:
    """Replace each element by `callable(element, other)`, where `other` is that of `tensor`, in place. Slow.

    Args:
        tensor: of the same dtype, and of a shape that broadcasts to that of this tensor.
        callable: a function of two numbers that returns a number.

    Raises:
        RuntimeError: if one of the tensors requires grad.
        TypeError: for tensors of different dtypes, or a result that does not fit the dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([3, 1]).map_(torch.tensor([5, 6]), lambda a, b: a * 10 + b)
        tensor([35, 16])
    """
    return _mapped("map_", self, (tensor,), callable)


def _method_map2_(self: Tensor, x: Tensor, y: Tensor, callable: Any) -> Tensor:
    """Replace each element by `callable(element, x_element, y_element)`, in place. Slow.

    Args:
        x: the tensor of the second argument: of the same dtype, and of a shape that broadcasts to that of this tensor.
        y: the tensor of the third argument, likewise.
        callable: a function of three numbers that returns a number.

    Raises:
        RuntimeError: if one of the tensors requires grad.
        TypeError: for tensors of different dtypes, or a result that does not fit the dtype.

    Example::

        >>> import gradpack as torch
        >>> x, y = torch.tensor([5.0, 6.0]), torch.tensor([1.0, 2.0])
        >>> torch.tensor([3.0, 1.0]).map2_(x, y, lambda a, b, c: a * b + c)
        tensor([16.,  8.])
    """
    return _mapped("map2_", self, (x, y), callable)
