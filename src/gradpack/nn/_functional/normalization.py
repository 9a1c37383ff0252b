"""Normalisations with the signatures of `torch.nn.functional`."""

from __future__ import annotations

from math import prod
from typing import Any

from ...base.size import Size
from ...core.tensor import Tensor
from ...ops.nn import batch_norm as batch
from ...ops.nn import group_norm as group
from ...ops.nn.instance_norm import instance_norm as instance
from .._public import give_all


def _more_than_one(count: int, size: Any, what: str = "value per channel") -> None:
    if count == 1:
        raise ValueError(f"Expected more than 1 {what} when training, got input size {Size(size)}")


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Bring each channel, over batch and space, to mean 0 and variance 1, then scale and shift it.

    `(input - mean) / sqrt(var + eps) * weight + bias`. In training, mean and variance are those of the input, and the
    running ones move towards them; else the running ones are taken.

    Args:
        input: shape (batch, channels, *space).
        running_mean, running_var: shape (channels): changed in place in training; None for none.
        weight, bias: shape (channels), or None.
        training: normalise by the statistics of the input.
        momentum: how far the running statistics move: `running = (1 - momentum) * running + momentum * new`.
        eps: what is added to the variance.

    Raises:
        ValueError: in training, if there is one number for each channel only, or `eps` is not positive; for a
            negative one always.
        RuntimeError: if the shapes do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.batch_norm(torch.tensor([[1.0], [3.0]]), None, None, training=True)
        tensor([[-1.0000],
                [ 1.0000]])
    """
    if training:
        _more_than_one(prod((input._shape[0], *input._shape[2:])), input._shape)
    if eps <= 0 and (training or eps < 0):
        wanted = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {wanted}, but got {eps}")
    return batch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Bring each channel of each element of the batch, over space, to mean 0 and variance 1, then scale and shift it.

    Args:
        input: shape (batch, channels, *space).
        running_mean, running_var, weight, bias: shape (channels), or None.
        use_input_stats: normalise by the statistics of the input, and move the running ones towards their mean over the
            batch; else normalise by the running ones.
        momentum: how far the running statistics move.
        eps: what is added to the variance before its root is divided by.

    Raises:
        ValueError: if there is one number for each channel only.
        RuntimeError: if the shapes do not fit, or there are no running statistics to normalise by.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.instance_norm(torch.tensor([[[1.0, 3.0]]]))
        tensor([[[-1.0000,  1.0000]]])
    """
    if use_input_stats:
        _more_than_one(prod(input._shape[2:]), input._shape, "spatial element")
    return instance(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Bring each group of channels to mean 0 and variance 1, then scale and shift each channel.

    Args:
        input: shape (batch, channels, *space).
        num_groups: the number of groups: channels that follow one another are in one.
        weight, bias: shape (channels), or None.
        eps: what is added to the variance.

    Raises:
        ValueError: if there is one number in each group only.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.group_norm(torch.tensor([[1.0, 3.0], [2.0, 4.0]]), 1)
        tensor([[-1.0000,  1.0000],
                [-1.0000,  1.0000]])
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    shape = input._shape
    sizes = [shape[0] * shape[1] // num_groups, num_groups, *shape[2:]]
    _more_than_one(prod((sizes[0], *sizes[2:])), sizes)
    return group.group_norm(input, num_groups, weight, bias, eps)


give_all(globals())
