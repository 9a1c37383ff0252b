"""Dropout. What backward needs of the mask is kept as one bit per element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..declare.kinds import linear
from ..tensor.tensor import Tensor
from .generator import source

FUNCTIONS = "dropout alpha_dropout feature_dropout"


def _check_p(op: str, p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p} in {op}()")


def keep_mask(generator: Any, shape: tuple[int, ...], p: float) -> Any:
    """Random bools, False with probability `p`. Sixteen bits of randomness for each decide."""
    rng = source(generator)
    if not shape or p in (0.0, 1.0):
        return np.asarray(rng.random(shape) >= p)
    count = 1
    for n in shape:
        count *= n
    words = rng.integers(0, 2**64, (count + 3) // 4, dtype=np.uint64).view(np.uint16)[:count]
    return np.reshape(words >= round(p * 65536), shape)


def _masked(input: Any, kept: Any, scale: float) -> Any:
    """`input * scale` where `kept`, zero elsewhere (also where the input is inf or nan)."""
    return np.where(kept, input * scale, np.zeros((), input.dtype)) if scale else np.zeros_like(input)


@linear(
    input=lambda g, mask, input_shape, p: _apply_mask(g, mask, input_shape, p),
    extra=("mask",),
    jvp=lambda input_t, mask, input_shape, p: _apply_mask(input_t, mask, input_shape, p),
    node="NativeDropoutBackward0",
)
def _dropout(input: Any, p: float, generator: Any = None, kept: Any = None) -> Any:
    """Zero each element with probability `p`, scale the others by `1 / (1 - p)`."""
    kept = keep_mask(generator, input.shape, p) if kept is None else kept
    return _masked(input, kept, 1 / (1 - p) if p < 1 else 0.0), np.packbits(kept)


@linear(
    input=lambda g, mask, input_shape, p: _apply_mask(g, mask, input_shape, p), node="NativeDropoutBackwardBackward0"
)
def _apply_mask(input: Any, mask: Any, input_shape: Any, p: float) -> Any:
    """Dropout with a mask of packed bits."""
    kept = np.reshape(np.unpackbits(mask, count=input.size), input_shape).view(bool)
    return _masked(input, kept, 1 / (1 - p) if p < 1 else 0.0)


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, train: bool | None = None, inplace: bool = False
) -> Tensor:
    """Zero each element with probability `p` and scale the others by `1 / (1 - p)`, when training.

    Raises:
        ValueError: unless 0 <= p <= 1.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.dropout(torch.ones(2), p=0.5, training=False)
        tensor([1., 1.])
    """
    _check_p("dropout", p)
    training = training if train is None else train
    if not isinstance(input, Tensor):
        raise TypeError(f"dropout(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if not training or p == 0:
        return input
    if inplace:
        from ..declare.inplace import inplace as write_back

        return write_back(_dropout.op, "dropout_", [input, p, None, None])
    return _dropout(input, p)


def feature_dropout(input: Tensor, p: float, train: bool = True) -> Tensor:
    """Zero whole channels with probability `p`.

    Example::

        >>> import gradpack as torch
        >>> torch.feature_dropout(torch.ones(1, 2, 3), 0.5, train=False).shape
        gradpack.Size([1, 2, 3])
    """
    _check_p("feature_dropout", p)
    if not train or p == 0:
        return input
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    kept = keep_mask(None, input._shape[:2] + (1,) * (input.ndim - 2), p)
    return _dropout(input, p, None, np.broadcast_to(kept, input._shape))


def alpha_dropout(input: Tensor, p: float = 0.5, train: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of self-normalising activations (arXiv 1706.02515).

    Example::

        >>> import gradpack as torch
        >>> torch.alpha_dropout(torch.ones(2), 0.5, train=False)
        tensor([1., 1.])
    """
    _check_p("alpha_dropout", p)
    if not train or p == 0:
        return input
    if p == 1:
        return input * 0.0
    alpha = 1.7580993408473766
    a = ((alpha**2 * p + 1) * (1 - p)) ** -0.5
    kept = wrap(keep_mask(None, input._shape, p))
    return where(kept, input, -alpha) * a + alpha * a * p


from ..tensor.tensor import wrap  # noqa: E402
from .rounding import where  # noqa: E402 - adjoints name each other
