"""The part of `torch.masked` that counts unmasked elements: means, variances, norms and normalizations."""

from __future__ import annotations

import math
from typing import Any

from ...base import dtypes, late
from ...base.dtypes import FLOATING
from ...core.tensor import Tensor
from .masked_reductions import _dims, _in, _kept, _mask_for, _one, sum

FUNCTIONS = ""


def _hits(input: Tensor, dim: Any, keepdim: Any, mask: Any) -> Tensor:
    """The number of unmasked elements (mask True)."""
    counted = (
        late.ones(input._shape, dtype=dtypes.int64, device=input.device) if mask is None else _mask_for(input, mask)
    )
    return late.sum(counted, _dims(dim, input.ndim), bool(keepdim), dtype=dtypes.int64)


def mean(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The mean of the unmasked elements (mask True); NaN where there are none.

    Raises:
        ValueError: for integers without `dtype`, or a `dtype` of integers.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.mean(torch.tensor([1.0, 9.0, 3.0]), 0, mask=torch.tensor([True, False, True]))
        tensor(2.)
    """
    d = input._spec.dtype if dtype is None else dtype
    if d.category < FLOATING:
        raise ValueError(
            f"mean(): Could not infer output dtype. {'Input' if dtype is None else 'Optional'} dtype must be either a "
            f"floating point or complex dtype. Got: {d}"
        )
    return sum(input, dim, keepdim=keepdim, dtype=d, mask=mask) / _hits(input, dim, keepdim, mask)


def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The median of the unmasked elements along a dimension; NaN where there are none.

    Raises:
        ValueError: for integers where there are none.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.median(torch.tensor([1.0, 9.0, 3.0]), 0, mask=torch.tensor([True, False, True]))
        tensor(1.)
    """
    d = input._spec.dtype
    x = input if d.is_floating_point else input.to(dtypes.float32)
    if mask is not None:
        x = late.where(_mask_for(x, mask), x, late.scalar_tensor(math.nan, dtype=x._spec.dtype, device=x.device))
    made: Tensor = late.nanmedian(x, _one(dim, x.ndim), keepdim).values
    if d.is_floating_point:
        return made
    if bool(late.any(late.isnan(made))):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return _in(made, input, dtype)


def norm(
    input: Tensor, ord: Any = 2.0, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The norm of the vector of unmasked elements: `sum(abs(input) ** ord) ** (1 / ord)`.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.norm(torch.tensor([3.0, 9.0, 4.0]), 2, 0, mask=torch.tensor([True, False, True]))
        tensor(5.)
    """
    x = _kept("norm", input, mask, "smallest" if ord == -math.inf else "sum")
    over = _dims(dim, x.ndim)
    if not over:
        x, over = late.reshape(x, (1,)), (0,)
        return late.reshape(late.norm(x, 2.0 if ord is None else ord, over, False, dtype=dtype), ())
    return late.norm(x, 2.0 if ord is None else ord, over, bool(keepdim), dtype=dtype)


def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: Any = None,
    keepdim: Any = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The variance of the unmasked elements.

    Args:
        unbiased: False divides by the number of elements; else by one less, if `correction` does not say how much.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.var(torch.tensor([1.0, 9.0, 3.0]), 0, mask=torch.tensor([True, False, True]))
        tensor(2.)
    """
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    less = float(correction) if correction is not None else 0.0 if unbiased is False else 1.0
    d = input._spec.dtype if dtype is None else dtype
    if dtype is None and d.category < FLOATING:
        d = dtypes.float32
    compute = d if d.category >= FLOATING else dtypes.float32
    count = _hits(input, dim, True, mask)
    apart = input - sum(input, dim, keepdim=True, dtype=d, mask=mask) / count
    total = sum(apart * late.conj(apart), dim, keepdim=keepdim, dtype=compute, mask=mask)
    count = late.reshape(count, total._shape)
    if less:
        count = late.clamp_min(count.to(compute.to_real()) - less, 0)
    return (total / count).to(d)


def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: Any = None,
    keepdim: Any = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The standard deviation of the unmasked elements: the root of `var`.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.std(torch.tensor([1.0, 9.0, 3.0]), 0, mask=torch.tensor([True, False, True]))
        tensor(1.4142)
    """
    return late.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask))


# -- normalizations --


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The softmax of the unmasked elements, 0 elsewhere.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.softmax(torch.tensor([1.0, 9.0, 1.0]), 0, mask=torch.tensor([True, False, True]))
        tensor([0.5000, 0.0000, 0.5000])
    """
    x = _kept("softmax", input, mask, "largest")
    return late.softmax(x, _one(dim, x.ndim), dtype=dtype or input._spec.dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The logarithm of the softmax of the unmasked elements, -inf elsewhere.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.log_softmax(torch.tensor([1.0, 9.0, 1.0]), 0, mask=torch.tensor([True, False, True]))
        tensor([-0.6931,    -inf, -0.6931])
    """
    x = _kept("log_softmax", input, mask, "largest")
    return late.log_softmax(x, _one(dim, x.ndim), dtype=dtype or input._spec.dtype)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The softmax of the negated unmasked elements, 0 elsewhere.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.softmin(torch.tensor([1.0, 9.0, 1.0]), 0, mask=torch.tensor([True, False, True]))
        tensor([0.5000, 0.0000, 0.5000])
    """
    x = _kept("softmin", input, mask, "smallest")
    return late.softmax(-x, _one(dim, x.ndim), dtype=dtype or input._spec.dtype)


def normalize(input: Tensor, ord: Any, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None) -> Tensor:
    """The unmasked elements divided by their norm along a dimension, 0 elsewhere.

    Args:
        eps: the least number to divide by.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.normalize(torch.tensor([3.0, 9.0, 4.0]), 2.0, 0, mask=torch.tensor([True, False, True]))
        tensor([0.6000, 0.0000, 0.8000])
    """
    x = _kept("normalize", input, mask, "sum")
    length = norm(input, ord, dim, keepdim=True, dtype=dtype or input._spec.dtype, mask=mask)
    return x / late.maximum(length, late.scalar_tensor(eps, dtype=length._spec.dtype, device=length.device))
