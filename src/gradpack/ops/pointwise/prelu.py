"""The rectifier whose slope below zero is learned."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.compiled import ENOUGH, loops
from ...base import late
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from .blockwise import is_numpy
from .selection import LARGE, select

FUNCTIONS = METHODS = "prelu"


@elementwise(
    input=lambda g, input, weight: late.where(input > 0, g, g * weight),
    weight=lambda g, input: late.where(input > 0, 0.0, g * input),
    node="PreluKernelBackward0",
    dtypes="f",
    blocks=False,
    flat=True,
    autocast="lower",
    compares=True,
)
def _prelu(input: Array, weight: Array) -> Any:
    """`input` above zero, `weight * input` elsewhere."""
    found = _by_channels(input, weight)
    if found is not None:
        return found
    return select(input > 0, input, weight * input)


_WIDE = 256  # elements of a channel
_FEW = 16  # elements of a channel, for a compiled loop


def _by_channels(input: Any, weight: Any) -> Any:
    """`_prelu` of a large array, channel by channel; None if the arrays do not suit this path.

    The result is `max(x, weight * x)` for a weight up to 1, and `min(x, weight * x)` above.
    """
    if not is_numpy(input) or not is_numpy(weight) or input.size < LARGE or input.dtype.char not in "fd":
        return None
    channels = weight.size
    width = math.prod(input.shape[2:]) if channels > 1 else 1 << 15
    if weight.dtype != input.dtype or not input.flags.c_contiguous:
        return None
    fast = loops("gated", input, weight) if input.size >= ENOUGH and width >= _FEW else None
    if fast is not None:
        out = np.empty_like(input)
        shape = (-1, channels, width) if channels > 1 else (1, 1, -1)
        fast.prelu(input.reshape(shape), weight.reshape(-1), out.reshape(shape))
        return out
    if width < _WIDE:
        return None
    slopes = weight.reshape(-1).tolist()
    if not all(slopes) or not np.isfinite(slopes).all():  # infinity * 0 would be NaN
        return None
    out = np.empty_like(input)
    source, target = input.reshape(-1), out.reshape(-1)
    for nr, start in enumerate(range(0, source.size, width)):
        x, made, slope = source[start : start + width], target[start : start + width], slopes[nr % channels]
        np.multiply(x, slope, out=made)
        (np.maximum if slope <= 1 else np.minimum)(x, made, out=made)
    return out


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input`, and `weight * input` below zero; one weight, or one for each channel (dimension 1).

    Example::

        >>> import gradpack as torch
        >>> torch.prelu(torch.tensor([-1.0, 2.0]), torch.tensor(0.5))
        tensor([-0.5000,  2.0000])
    """
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if weight.numel() != 1:
        if input.ndim < 1:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input._shape[1] if input.ndim > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found "
                f"parameter numbers = {weight.numel()} and channel size = {channels}."
            )
        weight = late.reshape(weight, (1, channels) + (1,) * (input.ndim - 2)) if input.ndim > 1 else weight
    elif weight.ndim:
        weight = late.reshape(weight, (1,) * max(input.ndim, 0))
    return _prelu(input, weight)
