"""Helpers of distributions: broadcasting of parameters, lazy attributes, probabilities and logits."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from numbers import Number
from operator import attrgetter
from typing import Any

from ..autograd.grad_mode import enable_grad
from ..base.dtypes import get_default_dtype
from ..base.errors import is_foreign, mixed
from ..base.info import finfo
from ..core.tensor import Tensor
from ..ops.create.create import tensor
from ..ops.create.fill import zeros
from ..ops.create.ranges import arange
from ..ops.random.floats import rand, randn
from ..ops.shape.broadcasting import broadcast_tensors
from ..ops.shape.diagonal import tril_indices

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "euler_constant",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.57721566490153286060


def _is_tensor_like(value: Any) -> bool:
    if is_foreign(value):
        raise mixed("broadcast_all")
    return isinstance(value, Tensor) or hasattr(value, "__torch_function__")


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors of one shape from numbers and tensors. Numbers get the dtype and the device of the first tensor.

    Args:
        values: numbers and tensors.

    Raises:
        ValueError: for anything else than numbers and tensors.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions.utils import broadcast_all
        >>> broadcast_all(torch.zeros(2), 1.0)
        (tensor([0., 0.]), tensor([1., 1.]))
    """
    if not all(_is_tensor_like(v) or isinstance(v, Number) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    first = next((v for v in values if isinstance(v, Tensor)), None)
    if first is None:
        made = [v if _is_tensor_like(v) else tensor(v, dtype=get_default_dtype()) for v in values]
    else:
        made = [v if _is_tensor_like(v) else tensor(v, dtype=first.dtype, device=first.device) for v in values]
    return tuple(broadcast_tensors(*made))


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities away from 0 and 1 by the precision of their dtype.

    Args:
        probs: probabilities.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.utils.clamp_probs(torch.tensor([0.0, 0.5])).log()
        tensor([-15.9424,  -0.6931])
    """
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities from log-odds (binary), or from unnormalised logarithms along the last dimension.

    Args:
        logits: log-odds, or logarithms of probabilities up to a constant.
        is_binary: whether each number is the log-odds of an event of its own.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions.utils import logits_to_probs
        >>> logits = torch.tensor([0.0, 1.0])
        >>> logits_to_probs(logits)
        tensor([0.2689, 0.7311])
        >>> logits_to_probs(logits, is_binary=True)
        tensor([0.5000, 0.7311])
    """
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds of probabilities (binary), or their logarithms; both finite, at 0 and 1 too.

    Args:
        probs: probabilities: numbers between 0 and 1.
        is_binary: whether each number is the probability of an event of its own.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions.utils import probs_to_logits
        >>> probs_to_logits(torch.tensor([0.25, 0.75]))
        tensor([-1.3863, -0.2877])
        >>> probs_to_logits(torch.tensor([0.25, 0.75]), is_binary=True)
        tensor([-1.0986,  1.0986])
    """
    inside = clamp_probs(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


def _sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last `dim` dimensions."""
    return value.sum(tuple(range(-dim, 0))) if dim else value


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Return standard normal samples."""
    return randn(shape, dtype=dtype, device=device)


def standard_uniform(shape: Any, like: Tensor) -> Tensor:
    """Return uniform samples in the dtype and on the device of a tensor."""
    return rand(shape, dtype=like.dtype, device=like.device)


def enumerated(n: int, batch_shape: Any, expand: bool, dtype: Any, device: Any) -> Tensor:
    """The numbers below `n` along a first dimension, before those of a batch."""
    values = arange(n, dtype=dtype, device=device).reshape((n,) + (1,) * len(batch_shape))
    return values.expand((n, *batch_shape)) if expand else values


class lazy_property:  # noqa: N801 - torch's name
    """An attribute that is computed when it is first asked for, with gradients enabled, and kept.

    Args:
        wrapped: the method that computes it.

    Example::

        >>> import gradpack as torch
        >>> class Angle:
        ...     def __init__(self, degrees):
        ...         self.degrees = degrees
        ...     @torch.distributions.utils.lazy_property
        ...     def radians(self):
        ...         print("computed")
        ...         return torch.deg2rad(self.degrees)
        >>> angle = Angle(torch.tensor(180.0))
        >>> angle.radians
        computed
        tensor(3.1416)
        >>> angle.radians
        tensor(3.1416)
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__
        self.__name__ = wrapped.__name__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        instance.__dict__[self.__name__] = value
        return value


def needs(holds: bool, message: str) -> None:
    """Raise AssertionError with a message unless something holds."""
    if not holds:
        raise AssertionError(message)


def same_as(path: str) -> Any:
    """Return a property that reads another attribute, which may be one of a part: `same_as("base_dist.scale")`."""
    return property(attrgetter(path), doc="")  # not that of `attrgetter`


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The entries of matrices on and below a diagonal, row by row, as vectors.

    Args:
        mat: a square matrix, or a batch of them.
        diag: the last diagonal that belongs to it: 0 for the main one, positive ones above it.

    Raises:
        ValueError: for a diagonal that the matrix does not have.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.utils.tril_matrix_to_vec(torch.tensor([[1, 2], [3, 4]]))
        tensor([1, 3, 4])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]


def _entries(size: int, diag: int) -> int:
    """Return the number of entries of a square matrix on and below a diagonal."""
    return sum(min(max(row + diag + 1, 0), size) for row in range(size))


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Matrices with these entries on and below a diagonal, zeros elsewhere.

    Args:
        vec: the entries, row by row: a vector, or a batch of them.
        diag: the last diagonal that belongs to it: 0 for the main one, positive ones above it.

    Raises:
        ValueError: for a number of entries that fills no square matrix.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.utils.vec_to_tril_matrix(torch.tensor([1.0, 3.0, 4.0]))
        tensor([[1., 0.],
                [3., 4.]])
    """
    length = vec.shape[-1]
    if diag < 0:  # rows of 1, 2, ... entries, below -diag empty ones
        size = (isqrt(8 * length + 1) - 1) // 2 - diag
    else:  # n² less the triangle above, of n - diag - 1 rows
        odd = 2 * diag + 1
        size = (isqrt(odd * odd + 8 * length + 4 * diag * (diag + 1)) - odd) // 2
    if _entries(size, diag) != length:
        raise ValueError(
            f"The size of last dimension is {length} which cannot be expressed as the lower triangular part of a "
            "square D x D matrix."
        )
    rows, columns = tril_indices(size, size, diag, device=vec.device)
    out = zeros(*vec.shape[:-1], size, size, dtype=vec.dtype, device=vec.device)
    out[..., rows, columns] = vec
    return out
