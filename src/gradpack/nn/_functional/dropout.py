"""Dropout of `torch.nn.functional`, and other functions that draw random numbers."""

from __future__ import annotations

import warnings
from typing import Any

from ...base.callers import depth_of_user
from ...core.tensor import Tensor
from ...ops.create.fill_like import empty_like, zeros_like
from ...ops.nn import dropout as ops
from ...ops.pointwise import gated
from .._public import give_all


def _check(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability `p` and scale the others by `1 / (1 - p)`, when training.

    Args:
        p: the probability of a zero.
        training: whether to drop anything: without, the input is returned as it is.

    Raises:
        ValueError: unless 0 <= p <= 1.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(1000)
        >>> y = torch.nn.functional.dropout(x, p=0.75)
        >>> y.unique(), bool((y.mean() - 1).abs() < 0.3)
        (tensor([0., 4.]), True)
        >>> torch.equal(torch.nn.functional.dropout(x, training=False), x)
        True
    """
    _check(p)
    return (ops.dropout_ if inplace else ops.dropout)(input, p, training)


def _by_channel(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    """Whole channels, of one item or a batch of them."""
    call = ops.feature_dropout_ if inplace else ops.feature_dropout
    if batched:
        return call(input, p, training)
    if inplace:
        return call(input.unsqueeze_(0), p, training).squeeze_(0)
    return call(input.unsqueeze(0), p, training).squeeze(0)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels with probability `p` and scale the others by `1 / (1 - p)`, when training.

    Args:
        input: shape (N, C, L) or (C, L).
        p: the probability of dropping a channel.
        training: whether to drop anything: without, the input is returned as it is.

    Raises:
        RuntimeError: for other numbers of dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.dropout1d(torch.ones(2, 3), training=False).shape
        gradpack.Size([2, 3])
    """
    _check(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    return _by_channel(input, p, training, inplace, input.ndim == 3)


def _warn_of(name: str, ndim: int, space: int) -> None:
    warnings.warn(
        f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a future "
        "release. To retain the behavior and silence this warning, please use dropout instead. Note that "
        f"{name} exists to provide channel-wise dropout on inputs with {space} spatial dimensions, a channel "
        f"dimension, and an optional batch dimension (i.e. {space + 1}D or {space + 2}D inputs).",
        stacklevel=depth_of_user(),
    )


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels with probability `p` and scale the others by `1 / (1 - p)`, when training.

    Args:
        input: shape (N, C, H, W); also (N, C, L), of which torch warns.
        p: the probability of dropping a channel.
        training: whether to drop anything: without, the input is returned as it is.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.dropout2d(torch.ones(1, 2, 3, 3), training=False).shape
        gradpack.Size([1, 2, 3, 3])
    """
    _check(p)
    if input.ndim not in (3, 4):
        _warn_of("dropout2d", input.ndim, 2)
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain "
            "the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=depth_of_user(),
        )
    return _by_channel(input, p, training, inplace, True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels with probability `p` and scale the others by `1 / (1 - p)`, when training.

    Args:
        input: shape (N, C, D, H, W) or (C, D, H, W).
        p: the probability of dropping a channel.
        training: whether to drop anything: without, the input is returned as it is.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.dropout3d(torch.ones(2, 3, 3, 3), training=False).shape
        gradpack.Size([2, 3, 3, 3])
    """
    _check(p)
    if input.ndim not in (4, 5):
        _warn_of("dropout3d", input.ndim, 3)
    return _by_channel(input, p, training, inplace, input.ndim == 5)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of self-normalising activations.

    Args:
        p: the probability of dropping an element.
        training: whether to drop anything: without, the input is returned as it is.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.alpha_dropout(torch.ones(2))
        tensor([1., 1.])
    """
    _check(p)
    return (ops.alpha_dropout_ if inplace else ops.alpha_dropout)(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels.

    Args:
        p: the probability of dropping a channel.
        training: whether to drop anything: without, the input is returned as it is.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.feature_alpha_dropout(torch.ones(1, 2)).tolist()
        [[1.0, 1.0]]
    """
    _check(p)
    return (ops.feature_alpha_dropout_ if inplace else ops.feature_alpha_dropout)(input, p, training)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """`input` above zero; below it times a random number of `[lower, upper)` in training, else times their mean.

    Args:
        lower, upper: the bounds of the slopes of negative elements.
        training: whether slopes are random; without, they are the mean of the bounds.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.rrelu(torch.tensor([-1.0, 1.0]), 0.25, 0.75)
        tensor([-0.5000,  1.0000])
    """
    return (gated.rrelu_ if inplace else gated.rrelu)(input, lower, upper, training)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random point of the simplex near its corners, drawn so that gradients go through (arXiv 1611.01144).

    Args:
        logits: unnormalised log-probabilities along `dim`.
        tau: the temperature: the lower, the nearer to a corner.
        hard: give back the corner itself; gradients are those of the point.
        eps: of no effect: deprecated.
        dim: the dimension of the classes.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.gumbel_softmax(torch.zeros(3), hard=True).sum().item()
        1.0
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=depth_of_user())
    drawn: Any = -empty_like(logits).exponential_().log()
    soft = ((logits + drawn) / tau).softmax(dim)
    if not hard:
        return soft
    corner = zeros_like(logits).scatter_(dim, soft.max(dim, keepdim=True)[1], 1.0)
    return corner - soft.detach() + soft


give_all(globals())
