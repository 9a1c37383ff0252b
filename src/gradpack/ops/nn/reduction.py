"""Helpers of losses: reductions, the deprecated flags `size_average` and `reduce`, and argument checks.

Inside, a reduction is torch's number: 0 for none, 1 for the mean, 2 for the sum.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...base import late
from ...base.callers import depth_of_user
from ...base.modes import MODE
from ...core.tensor import Tensor
from ..reduce.kernels import add_up

NONE, MEAN, SUM = 0, 1, 2
_NUMBERS = {"none": NONE, "mean": MEAN, "sum": SUM}


def number_of(reduction: Any) -> int:
    """The number of a reduction given by name.

    Raises:
        ValueError: for another name.
    """
    found = _NUMBERS.get(reduction) if isinstance(reduction, str) else None
    if found is not None:
        return found
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.",
            stacklevel=depth_of_user(),
        )
        return MEAN
    raise ValueError(f"{reduction} is not a valid value for reduction")


def kind_of(reduction: Any) -> int:
    """The number of a reduction given by number or name."""
    return reduction if isinstance(reduction, int) else number_of(reduction)


def legacy(size_average: Any, reduce: Any, reduction: str) -> str:
    """Return `reduction`, or what `size_average` and `reduce` mean if given, with torch's deprecation warning."""
    if size_average is None and reduce is None:
        return reduction
    meant = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.",
        stacklevel=depth_of_user(),
    )
    return meant


def reduced(loss: Any, reduction: Any) -> Any:
    """The loss of each element, their mean, or their sum; the reduction by name or number."""
    kind = kind_of(reduction)
    return late.mean(loss) if kind == MEAN else late.sum(loss) if kind == SUM else loss


def reduce_array(each: Any, reduction: int) -> Any:
    """Reduce the array of losses; the mean of no elements is nan."""
    if reduction == NONE:
        return each
    return averaged(add_up(each), each.shape, reduction)


def averaged(total: Any, shape: Any, reduction: int) -> Any:
    """Return the sum over elements of `shape` as it is, or divided by their number."""
    return total if reduction == SUM else total / count(shape)


def count(shape: Any) -> float:
    """The number of elements; nan for none, of which there is no mean."""
    return math.prod(shape) or math.nan


def spread_back(g: Any, shape: Any, reduction: int) -> Any:
    """The gradient of each element's loss, from that of the reduced one (broadcasts to `shape`)."""
    return g * (1 / count(shape)) if reduction == MEAN else g


def check_name(reduction: Any) -> None:
    """Raise if `reduction` is not "none", "mean" or "sum": for losses that are composite in torch.

    Raises:
        ValueError: for an unknown name.
        TypeError: for a value that is not a str.
    """
    if reduction not in _NUMBERS:
        kind = ValueError if isinstance(reduction, str) else TypeError
        raise kind(f"{reduction} is not valid: a reduction is 'none', 'mean' or 'sum'")


def same_size(input: Tensor, target: Tensor) -> None:
    """Warn of a target of another shape, which is broadcast."""
    if input._shape != target._shape:
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=depth_of_user(),
        )


def refuse_gradient(op: str, **tensors: Any) -> None:
    """Raise if an argument that an operation does not differentiate by requires a gradient.

    Raises:
        RuntimeError: as torch does.
    """
    for name, value in tensors.items():
        if isinstance(value, Tensor) and value.requires_grad and MODE.get().grad:
            raise RuntimeError(
                f"The function '{op}' is not differentiable with respect to argument '{name}'. "
                "This input cannot have requires_grad True."
            )
