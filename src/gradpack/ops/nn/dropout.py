"""Dropout. What backward needs of the mask is kept as one bit per element."""

from __future__ import annotations

from functools import partial, update_wrapper
from math import prod
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import FLOATING
from ...base.errors import scalar_type
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...declare.annotations import Array, Setting
from ...declare.decorators import linear
from ...declare.inplace.inplace import inplace
from ..conv.spatial import check_tensor
from ..create.making import RECORDERS, beside, on_device
from ..pointwise.relu_bits import keep_bits
from ..random.generator import source
from ..reduce.kernels import broadcast, reshaped
from .dropped import masked

FUNCTIONS = (
    "dropout dropout_ feature_dropout feature_dropout_ alpha_dropout alpha_dropout_ feature_alpha_dropout "
    "feature_alpha_dropout_ native_dropout"
)


def _check(op: str, input: Any, p: float) -> None:
    check_tensor(op, input=input)
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")


def _active(op: str, input: Any, p: float, train: bool) -> bool:
    """Check the arguments, and return whether there is something to drop."""
    _check(op, input, p)
    return bool(train and p and input.numel())


def keep_mask(generator: Any, shape: tuple[int, ...], p: float) -> Any:
    """Random bools, False with probability `p`. Sixteen bits of randomness for each decide."""
    rng = source(generator)
    if not shape or p in (0.0, 1.0):
        return np.asarray(rng.random(shape) >= p)
    count = prod(shape)
    words, bits = (count + 3) // 4, getattr(rng, "bit_generator", None)  # whole words are all bits as they are
    drawn = rng.integers(0, 2**64, words, dtype=np.uint64) if bits is None else bits.random_raw(words)
    return reshaped(drawn.view(np.uint16)[:count] >= round(p * 65536), shape)


def _drawn_mask(shape: tuple[int, ...], p: float) -> Any:
    """A keep mask of the default generator; a program that is being made draws it again at each call."""
    mask = partial(keep_mask, None)
    return on_device(update_wrapper(mask, keep_mask), None)(shape, p) if RECORDERS else mask(shape, p)


def _mask(shape: tuple[int, ...], p: float, where: Any) -> Any:
    """Which elements are kept, under `vmap`: for each example or for all, as `randomness` says."""
    return late.ge(late.rand(shape, device=where), p)


def _check_floating(op: Any, values: Any, common: Any) -> None:
    if common.category < FLOATING and values[1] != 1:  # then all elements are zero
        raise RuntimeError(f"result type Float can't be cast to the desired output type {scalar_type(common)}")


@linear(
    input=lambda g, mask, input_shape, p: _apply_mask(g, mask, input_shape, p),
    residuals=("mask",),
    check=_check_floating,
    jvp=lambda input_t, mask, input_shape, p: _apply_mask(input_t, mask, input_shape, p),
    node="MulBackward0",
    draws="p",
)
def _dropout(input: Array, p: float, generator: Setting = None, kept: Array = None) -> Any:
    """Zero each element with probability `p`, scale the others by `1 / (1 - p)`."""
    kept = keep_mask(generator, input.shape, p) if kept is None else kept
    return masked(input, kept, 1 / (1 - p) if p < 1 else 0.0), np.packbits(kept)


@linear(
    input=lambda g, mask, input_shape, p: _apply_mask(g, mask, input_shape, p), node="NativeDropoutBackwardBackward0"
)
def _apply_mask(input: Array, mask: Array, input_shape: Array, p: float) -> Any:
    """Dropout with a mask of packed bits."""
    kept = reshaped(np.unpackbits(mask, count=input.size), input_shape).view(bool)
    return masked(input, kept, 1 / (1 - p) if p < 1 else 0.0)


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Zero each element with probability `p` and scale the others by `1 / (1 - p)`, if `train`.

    Args:
        p: the probability of a zero.
        train: whether to drop anything: without, the input is returned as it is.

    Raises:
        RuntimeError: unless 0 <= p <= 1.

    Example::

        >>> import gradpack as torch
        >>> torch.dropout(torch.ones(2), 0.5, False)
        tensor([1., 1.])
    """
    if not _active("dropout", input, p, train):
        return input
    out = _dropout(input, p)
    keep_bits(input)
    return out


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place form of `dropout`."""
    _check("dropout_", input, p)
    return inplace(_dropout.op, "dropout_", [input, p, None, None]) if train and p else input


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """`dropout`, and which elements it keeps: a tuple of two tensors.

    Args:
        p: the probability of a zero.
        train: whether to drop anything: without, the input is returned as it is.

    Example::

        >>> import gradpack as torch
        >>> torch.native_dropout(torch.ones(2), 0.0, True)
        (tensor([1., 1.]), tensor([True, True]))
    """
    _check("native_dropout", input, p)
    if train is not None and not train:
        return late.clone(input), beside(np.ones(input._shape, bool), input)
    if MODE.get().levels:
        mask = _mask(input._shape, p, input.device)
        return late.where(mask, input / (1 - p) if p < 1 else input, 0.0), mask
    kept = beside(_drawn_mask(input._shape, p), input)
    return _dropout(input, p, None, kept._data), kept


def _by_channel(input: Tensor, p: float) -> Any:
    """Return the keep mask of feature dropout: one draw for each (batch, channel)."""
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    shape = input._shape[:2] + (1,) * (input.ndim - 2)
    if MODE.get().levels:
        return _mask(shape, p, input.device)
    return beside(broadcast(_drawn_mask(shape, p), input._shape), input)._data


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Zero whole channels (dimension 1) with probability `p`, if `train`.

    Args:
        p: the probability of dropping a channel.
        train: whether to drop anything: without, the input is returned as it is.

    Example::

        >>> import gradpack as torch
        >>> torch.feature_dropout(torch.ones(1, 2, 3), 0.5, train=False).shape
        gradpack.Size([1, 2, 3])
    """
    if not _active("feature_dropout", input, p, train):
        return input
    kept = _by_channel(input, p)
    if isinstance(kept, Tensor):
        return late.where(kept, input / (1 - p) if p < 1 else input, 0.0)
    return _dropout(input, p, None, kept)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place form of `feature_dropout`."""
    _check("feature_dropout_", input, p)
    if not train or not p:
        return input
    if MODE.get().levels:
        return _into(input, feature_dropout(input, p, train))
    return inplace(_dropout.op, "feature_dropout_", [input, p, None, _by_channel(input, p)])


def _alpha(input: Tensor, p: float, kept: Any) -> Tensor:
    """Set dropped elements to the value that selu saturates at, then restore mean and variance by an affine map."""
    if p == 1:
        return input * 0
    _check_floating(None, (input, p), input._spec.dtype)
    alpha = 1.7580993408473766
    a = ((alpha**2 * p + 1) * (1 - p)) ** -0.5
    return late.where(kept if isinstance(kept, Tensor) else beside(kept, input), input, -alpha) * a + alpha * a * p


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout that keeps mean and variance of self-normalising activations (arXiv 1706.02515).

    Args:
        p: the probability of dropping an element.
        train: whether to drop anything: without, the input is returned as it is.

    Example::

        >>> import gradpack as torch
        >>> torch.alpha_dropout(torch.ones(2), 0.5, train=False)
        tensor([1., 1.])
    """
    if not _active("alpha_dropout", input, p, train):
        return input
    batched = MODE.get().levels
    return _alpha(input, p, _mask(input._shape, p, input.device) if batched else _drawn_mask(input._shape, p))


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place form of `alpha_dropout`."""
    return _into(input, alpha_dropout(input, p, train))


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` of whole channels (dimension 1).

    Example::

        >>> import gradpack as torch
        >>> torch.feature_alpha_dropout(torch.ones(1, 2, 3), 0.5, train=False).shape
        gradpack.Size([1, 2, 3])
    """
    if not _active("feature_alpha_dropout", input, p, train):
        return input
    return _alpha(input, p, _by_channel(input, p))


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place form of `feature_alpha_dropout`."""
    return _into(input, feature_alpha_dropout(input, p, train))


def _into(input: Tensor, result: Tensor) -> Tensor:
    return input if result is input else input.copy_(result)
