"""Covariances, quantiles, and combinations of elements of vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.callers import depth_of_user
from ...base.dtypes import BOOL, FLOATING, INTEGRAL
from ...base.errors import scalar_type
from ...base.modes import MODE
from ...core.tensor import Tensor, wrap
from ...declare.annotations import Array, Dim
from ...declare.batching.batch_tensor import is_batched
from ...declare.decorators import nondifferentiable
from ...declare.generate.profiling import profiled
from ..pointwise.operands import is_complex
from ..shape.dims import wrap_dim
from .dimensions import dropped, kept, numpy_names
from .kernels import _array_type
from .reduce import written

FUNCTIONS = "cov corrcoef quantile nanquantile cartesian_prod combinations"
METHODS = "cov corrcoef quantile nanquantile"


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


@profiled
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


@profiled
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Any:
    """All ways to choose `r` elements of a vector, in the order of their places, one a row.

    Args:
        r: how many elements to choose.
        with_replacement: whether an element may be chosen several times.

    Raises:
        RuntimeError: for a negative `r`, or other than one dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.combinations(torch.tensor([1, 2, 3]))
        tensor([[1, 2],
                [1, 3],
                [2, 3]])
        >>> torch.combinations(torch.tensor([1, 2]), with_replacement=True)
        tensor([[1, 1],
                [1, 2],
                [2, 2]])
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


# -- quantiles --


_WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


@numpy_names
def quantile(
    input: Tensor, q: Any, dim: Dim = None, keepdim: bool = False, *, interpolation: str = "linear", out: Any = None
) -> Tensor:
    """The quantiles of all elements, or along a dimension; NaN where there is any.

    Args:
        input: of float32 or float64.
        q: a number from 0 to 1, or a tensor of them, of at most one dimension, which comes first in the result.
        interpolation: between two neighbours: "linear", "lower", "higher", "midpoint" or "nearest".

    Raises:
        RuntimeError: for no elements, another dtype, a `q` that is out of range or of another dtype than `input`.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([4.0, 1.0, 3.0, 2.0])
        >>> torch.quantile(x, 0.5), torch.quantile(x, torch.tensor([0.0, 1.0]))
        (tensor(2.5000), tensor([1., 4.]))
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, out, False)


@numpy_names
def nanquantile(
    input: Tensor, q: Any, dim: Dim = None, keepdim: bool = False, *, interpolation: str = "linear", out: Any = None
) -> Tensor:
    """The quantiles of the elements that are not NaN: as `quantile`. NaN where all are NaN.

    Example::

        >>> import gradpack as torch
        >>> torch.nanquantile(torch.tensor([1.0, float("nan"), 3.0]), 0.5)
        tensor(2.)
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, out, True)


def _check(op: str, input: Tensor, q: Any, interpolation: str) -> Tensor:
    """Check the arguments of `quantile`; returns `q` as a tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{op}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    d = input._spec.dtype
    if isinstance(q, Tensor):
        if q.ndim > 1:
            raise RuntimeError(f"{op}() q must be a scalar or 1D tensor, got shape {list(q._shape)}")
    elif not isinstance(q, int | float):
        raise TypeError(f"{op}(): argument 'q' (position 2) must be Tensor or float, not {type(q).__name__}")
    elif not 0 <= q <= 1:
        raise RuntimeError(f"{op}() q must be in the range [0, 1] but got {q}")
    if not input.numel():
        raise RuntimeError(f"{op}() input tensor must be non-empty, got shape {list(input._shape)}")
    if d not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{op}() input tensor must be either float or double dtype, not {d.name}")
    if not isinstance(q, Tensor):
        q = late.scalar_tensor(q, dtype=d, device=input.device)
    elif q._spec.dtype is not d:
        raise RuntimeError(f"{op}() q tensor must be same dtype as the input tensor: {q._spec.dtype.name}, {d.name}")
    elif not bool(late.all((q >= 0) & (q <= 1))):
        raise RuntimeError(f"{op}() q values must be in the range [0, 1]")
    if interpolation not in _WAYS:
        raise RuntimeError(
            f"{op}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    return q


def _is_alone(input: Tensor) -> bool:
    """Return whether a tensor is one of NumPy's, and neither autograd, forward mode nor a `vmap` level tracks it."""
    mode = MODE.get()
    tracked = (mode.grad and input.requires_grad) or mode.forward or mode.levels
    return type(input._data) is _array_type and not tracked


@nondifferentiable(promote=("input",), dtypes="f")
def _linear_quantile(input: Array, q: float, dim: Dim = None, keepdim: bool = False) -> Any:
    """One quantile, between two neighbours, where no gradient is wanted: the same steps on arrays."""
    place = None if dim is None or not input.ndim else wrap_dim(dim, input.ndim)
    rows = np.sort(input, axis=place)
    shape = kept(input.shape, dim) if keepdim else dropped(input.shape, dim)
    if place is not None and place != input.ndim - 1:
        rows = np.moveaxis(rows, place, -1)
    rank = input.dtype.type(q) * input.dtype.type(rows.shape[-1] - 1)
    below, last = int(rank), rows[..., -1]
    low, high = rows[..., below], rows[..., math.ceil(rank)]
    weight = rank - input.dtype.type(below)
    step = high - low
    made = low + weight * step if weight < 0.5 else high - step * (1 - weight)
    missing = last != last  # noqa: PLR0124 - only NaN differs from itself
    return np.reshape(np.where(missing, last, made), shape)


def _quantile(
    op: str, input: Tensor, q: Any, dim: Any, keepdim: bool, interpolation: str, out: Any, ignore_nan: bool
) -> Tensor:
    number = float(q) if type(q) is float or type(q) is int else None
    q = _check(op, input, q, interpolation)
    if number is not None and interpolation == "linear" and not ignore_nan and out is None and _is_alone(input):
        return _linear_quantile(input, number, dim, keepdim)
    if dim is None:
        rows = late.reshape(input, (input.numel(),))
        shape = (1,) * input.ndim if keepdim else ()
    else:
        d = wrap_dim(dim, input.ndim)
        rows = late.movedim(input, d, -1) if input.ndim else late.reshape(input, (1,))
        kept = (1,) if keepdim and input.ndim else ()
        shape = input._shape[:d] + kept + input._shape[d + 1 :]
    rows = late.sort(rows, -1).values
    last = rows._shape[-1] - 1
    points = late.reshape(q, (-1,))
    if ignore_nan:
        numbers = late.sum(late.logical_not(late.isnan(rows)), -1, keepdim=True)
        rank = late.maximum(points * (numbers - 1), late.zeros((), dtype=rows._spec.dtype, device=rows.device))
    else:
        rank = late.expand(points * last, (*rows._shape[:-1], points._shape[0]))
        rank = late.where(late.any(late.isnan(rows), -1, keepdim=True), float(last), rank)
    if interpolation in ("lower", "higher", "nearest"):
        places = {"lower": late.floor, "higher": late.ceil, "nearest": late.round}[interpolation](rank)
        found = late.gather(rows, -1, places.detach().to(dtypes.int64))
    else:
        below = rank.detach().to(dtypes.int64)
        above = late.ceil(rank).detach().to(dtypes.int64)
        weight = 0.5 if interpolation == "midpoint" else rank - below
        found = late.lerp(late.gather(rows, -1, below), late.gather(rows, -1, above), weight)
    made = late.reshape(late.movedim(found, -1, 0), (points._shape[0], *shape) if q.ndim else shape)
    return written(op, made, out, input, q)
