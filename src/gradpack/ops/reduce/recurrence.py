"""Linear recurrences along a dimension: the gradients of cumulative products without divisions."""

from __future__ import annotations

import math
from math import prod
from typing import Any

import numpy as np

from ...declare.annotations import Array
from ...declare.decorators import general
from ...kernels.dispatch import accelerated
from .dimensions import axis


@general(
    input=lambda g, dim, step: shifted(g, dim, -step, 0),
    jvp=lambda input_t, dim, step: shifted(input_t, dim, step, 0),
    cost="cheap",
)
def shifted(input: Array, dim: int, step: int, fill: Array) -> Any:
    """Shift elements by `step` (1 or -1) along a dimension; `fill` enters at the other end."""
    place = axis(dim, len(input.shape))
    if not len(input.shape) or not input.shape[place]:
        return np.full(input.shape, fill, dtype=input.dtype)
    ahead, edge = (slice(None),) * place, list(input.shape)
    edge[place] = 1
    end = np.full(tuple(edge), fill, dtype=input.dtype)
    if step > 0:
        return np.concatenate((end, input[(*ahead, slice(None, -1), ...)]), axis=place)
    return np.concatenate((input[(*ahead, slice(1, None), ...)], end), axis=place)


@general(
    a=lambda g, a, out, dim, backwards: _turned(g, a, dim, backwards) * shifted(out, dim, -1 if backwards else 1, 0),
    b=lambda g, a, dim, backwards: _turned(g, a, dim, backwards),
)
def recurrence(a: Array, b: Array, dim: int, backwards: bool = False) -> Any:
    """`y[k] = b[k] + a[k] * y[k - 1]` along a dimension, with `y[0] = b[0]`; backwards with `y[k + 1]`.

    Its adjoint is a recurrence in the other direction, so it can be differentiated to any order.
    """
    place = axis(dim, len(b.shape))
    if not len(b.shape) or b.shape[place] < 2:
        return np.asarray(b, copy=True)
    return recurrence_along(a, b, place, backwards)


@accelerated
def recurrence_along(a: Any, b: Any, place: int, backwards: bool) -> Any:
    """`recurrence`, of two elements at least."""
    lines = [np.moveaxis(x, place, 0) for x in (a, b)]
    if backwards:
        out = np.flip(_solved(*(np.flip(x, axis=0) for x in lines)), axis=0)
    else:
        out = _solved(*lines)
    return np.moveaxis(out, 0, place)


def _turned(g: Any, a: Any, dim: int, backwards: bool) -> Any:
    return recurrence(shifted(a, dim, 1 if backwards else -1, 0), g, dim, not backwards)


def _solved(a: Any, b: Any) -> Any:
    """The recurrence along the first dimension.

    A long line is cut into pieces that are solved side by side; what each piece hands to the next
    is then a recurrence over the pieces.
    """
    n, rest = b.shape[0], tuple(b.shape[1:])
    if n < 256 or prod(rest) > 256:
        return _step_by_step(a, b)
    length = math.isqrt(n)
    pieces = -(-n // length)
    missing = np.zeros((pieces * length - n, *rest), dtype=b.dtype)
    a, b = (
        np.swapaxes(np.reshape(np.concatenate((x, missing), axis=0), (pieces, length, *rest)), 0, 1) for x in (a, b)
    )
    within, reach = _step_by_step(a, b), np.cumprod(a, axis=0)
    handed = _solved(reach[-1, ...], within[-1, ...])
    later = within[:, 1:, ...] + reach[:, 1:, ...] * handed[:-1, ...]
    joined = np.swapaxes(np.concatenate((within[:, :1, ...], later), axis=1), 0, 1)
    return np.reshape(joined, (pieces * length, *rest))[:n, ...]


def _step_by_step(a: Any, b: Any) -> Any:
    y = b[0, ...]
    out = [y]
    for k in range(1, b.shape[0]):
        y = a[k, ...] * y + b[k, ...]
        out.append(y)
    return np.stack(out)
