"""Covariances, and combinations of elements of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...base.callers import depth_of_user
from ...base.dtypes import BOOL, FLOATING, INTEGRAL
from ...base.errors import scalar_type
from ...core.tensor import Tensor, wrap
from ...declare.batching.batch_tensor import is_batched
from ...declare.generate.profiling import noted
from ..pointwise.operands import is_complex

FUNCTIONS = "cov corrcoef cartesian_prod combinations"
METHODS = "cov corrcoef"


def _check_weights(label: str, weights: Tensor, n: int, whole: bool) -> None:
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {label} to have one or fewer dimensions but got {label} with {weights.ndim} dimensions"
        )
    category = weights._spec.dtype.category
    if (category != INTEGRAL) if whole else (category != FLOATING):
        raise RuntimeError(
            f"cov(): expected {label} to have {'integral' if whole else 'floating point'} dtype but got {label} with "
            f"{scalar_type(weights._spec.dtype)} dtype"
        )
    if weights.numel() != n:
        raise RuntimeError(
            f"cov(): expected {label} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {n}"
        )
    if n and not is_batched(weights) and bool((weights.detach() < 0).any()):
        raise RuntimeError(f"cov(): {label} cannot be negative")


def cov(input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariance matrix of variables (rows), from observations (columns).

    Args:
        input: of shape (variables, observations), or one variable.
        correction: what is subtracted from the number of observations before dividing by it.
        fweights: how often each observation was made: integers.
        aweights: how much each observation counts.

    Example::

        >>> import gradpack as torch
        >>> torch.cov(torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    if input._spec.dtype.category == BOOL:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input if input.ndim == 2 else late.reshape(input, (1, input.numel()))
    n = x._shape[1]
    weights: Any = None
    if fweights is not None:
        _check_weights("fweights", fweights, n, True)
        weights = fweights
    if aweights is not None:
        _check_weights("aweights", aweights, n, False)
        weights = aweights if weights is None else weights * aweights
    total: Any = n if weights is None else late.sum(weights)
    if weights is not None and not is_batched(total) and not float(total.detach()):
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = late.sum(x if weights is None else x * weights, 1)
    mean = mean / total if weights is not None or n else mean / wrap(np.zeros((), mean._data.dtype))
    if aweights is not None and correction != 0:
        factor: Any = total - correction * late.sum(weights * aweights) / total
    else:
        factor = total - correction
    if not is_batched(factor) and float(factor.detach() if isinstance(factor, Tensor) else factor) <= 0:
        import warnings

        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            UserWarning,
            stacklevel=depth_of_user(),
        )
        factor = factor if isinstance(factor, Tensor) else wrap(np.zeros((), np.int64))
    if isinstance(factor, Tensor):
        factor = late.clamp(factor, min=0)  # a negative divisor would flip the sign of infinite results
    away = x - late.unsqueeze(mean, 1)
    weighted = away if weights is None else away * weights
    return late.squeeze(late.mm(away, late.conj(late.transpose(weighted, 0, 1)).to(away.dtype)) / factor)


def corrcoef(input: Tensor) -> Any:
    """The matrix of correlation coefficients of variables (rows), from observations (columns).

    Example::

        >>> import gradpack as torch
        >>> torch.corrcoef(torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    c = cov(input)
    if not c.ndim:
        return c / c
    size = late.sqrt(late.real(late.diagonal(c)))
    c = c / late.unsqueeze(size, 1) / late.unsqueeze(size, 0)
    if is_complex(c):
        return late.complex(late.clamp(late.real(c), -1, 1), late.clamp(late.imag(c), -1, 1))
    return late.clamp(c, -1, 1)


def _check_vectors(*tensors: Tensor) -> None:
    for t in tensors:
        if t.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t._shape)}")


@noted
def cartesian_prod(*tensors: Any) -> Any:
    """All ways to choose one element of each vector, one a row.

    Example::

        >>> import gradpack as torch
        >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
        tensor([[1, 3],
                [1, 4],
                [2, 3],
                [2, 4]])
    """
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    _check_vectors(*tensors)
    if len(tensors) == 1:
        return tensors[0][:]
    return late.stack([late.flatten(t) for t in late.meshgrid(*tensors, indexing="ij")], 1)


@noted
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Any:
    """All ways to choose `r` elements of a vector, in the order of their places, one a row.

    Example::

        >>> import gradpack as torch
        >>> torch.combinations(torch.tensor([1, 2, 3]))
        tensor([[1, 2],
                [1, 3],
                [2, 3]])
    """
    _check_vectors(input)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.zeros((0,), dtype=input._data.dtype))
    places = np.indices((input._shape[0],) * r).reshape(r, -1)
    rising = places[:-1] <= places[1:] if with_replacement else places[:-1] < places[1:]
    chosen = places[:, np.all(rising, axis=0)]
    return late.stack([input[wrap(np.ascontiguousarray(row))] for row in chosen], 1)
