"""Cross entropy of a linear layer, some rows at a time: the matrix of all logits never exists.

Forward keeps nothing of the logits; backward computes those of a few rows again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.numpy import product
from ...base import late
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.batching.vmap_fallback import each_example
from ...declare.decorators import general
from ..reduce.kernels import add_up, largest
from .loss import _take_by_class, counted
from .reduction import number_of


def _logits(input: Any, linear_weight: Any, linear_bias: Any, rows: slice) -> Any:
    found = product(input[rows], linear_weight.mT)
    return found if linear_bias is None else found + linear_bias


def _pieces(count: int, size: int) -> list[slice]:
    return [slice(start, start + size) for start in range(0, count, size)]


def _gradients(
    g: Any, input: Any, linear_weight: Any, linear_bias: Any, target: Any, each: Any, divisor: Any, size: int,
    needs: Any,
) -> Any:  # fmt: skip
    scale = each * g if divisor is None else each * (g / divisor)
    inputs = (input, linear_weight, linear_bias)
    grads: list[Any] = [np.zeros_like(x) if need else None for x, need in zip(inputs, needs, strict=True)]
    for rows in _pieces(input.shape[0], size):
        p = _logits(input, linear_weight, linear_bias, rows)
        p = np.exp(p - largest(p, 1, True))
        p /= add_up(p, 1, True)
        p[np.arange(p.shape[0]), target[rows]] -= 1
        p *= scale[rows][:, None]
        if needs[0]:
            grads[0][rows] = product(p, linear_weight)
        if needs[1]:
            grads[1] += product(p.mT, input[rows])
        if needs[2]:
            grads[2] += add_up(p, 0)
    return tuple(grads)


def _meaning(input: Any, linear_weight: Any, linear_bias: Any, target: Any, each: Any, divisor: Any) -> Any:
    """The same, composed of other operations."""
    return _take_by_class(late.log_softmax(late.linear(input, linear_weight, linear_bias), 1), target, each, divisor)


@general(
    inputs=("input", "linear_weight", "linear_bias"),
    joint_vjp=_gradients,
    decomposition=_meaning,
    node="LinearCrossEntropyBackward0",
    dtypes="f",
)
def _linear_cross_entropy(
    input: Array,
    linear_weight: Array,
    target: Array,
    each: Array,
    linear_bias: Array = None,
    divisor: Array = None,
    size: int = 1,
) -> Any:
    """The loss of each row times its weight, or the sum of that, divided."""
    out = np.empty(target.shape, input.dtype)
    for rows in _pieces(input.shape[0], size):
        logits = _logits(input, linear_weight, linear_bias, rows)
        right = np.take_along_axis(logits, target[rows][:, None], axis=1)[:, 0]
        top = largest(logits, 1, True)
        logits -= top
        out[rows] = np.log(add_up(np.exp(logits), 1)) + top[:, 0] - right
    out *= each
    return out if divisor is None else add_up(out) / divisor


@each_example
def chunked_cross_entropy(
    input: Tensor, linear_weight: Tensor, linear_bias: Any, target: Tensor, weight: Any, reduction: str,
    ignore_index: int, size: int,
) -> Tensor:  # fmt: skip
    """The cross entropy of classes, with the logits of `size` rows at a time.

    Args:
        input: shape (N, features) or (features).
        linear_weight: shape (C, features).
        linear_bias: shape (C), or None.
        target: shape (N) or ().
    """
    rows, flat = (input, target) if input.ndim == 2 else (late.reshape(input, (1, -1)), late.reshape(target, (1,)))
    if flat._shape != rows._shape[:1]:
        raise ValueError(
            f"Expected input batch_size ({rows._shape[0]}) to match target batch_size ({(flat._shape or (0,))[0]})."
        )
    facts = counted(input._spec, linear_weight._shape[0], flat, weight, ignore_index, number_of(reduction))
    out = _linear_cross_entropy(rows, linear_weight, *facts[:2], linear_bias, facts[2], size)
    return late.reshape(out, target._shape) if reduction == "none" else out
