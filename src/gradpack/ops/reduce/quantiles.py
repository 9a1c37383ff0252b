"""Quantiles: values below which given shares of the elements lie."""

from __future__ import annotations

from typing import Any

from ...base import dtypes, late
from ...core.tensor import Tensor
from ...declare.annotations import Dim
from ..shape.shape import wrap_dim
from .dimensions import numpy_names
from .reduce import written

FUNCTIONS = "quantile nanquantile"
METHODS = FUNCTIONS

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


def _quantile(
    op: str, input: Tensor, q: Any, dim: Any, keepdim: bool, interpolation: str, out: Any, ignore_nan: bool
) -> Tensor:
    q = _check(op, input, q, interpolation)
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
