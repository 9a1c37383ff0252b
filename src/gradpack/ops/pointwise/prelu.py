"""The rectifier whose slope below zero is learned."""

from __future__ import annotations

from typing import Any

from ...base import late
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import elementwise
from ...kernels.dispatch import accelerated
from .selection import select

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
    return rectified(input, weight)


@accelerated
def rectified(input: Any, weight: Any) -> Any:
    """`input` above zero, `weight * input` elsewhere, with one weight or one for each channel (dimension 1)."""
    return select(input > 0, input, weight * input)


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
