"""Sums and means that ignore NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dtypes, late
from ...core.tensor import Tensor
from ...declare.annotations import Array, Dim
from ...declare.decorators import general
from ...declare.dispatch.out_dtypes import check_out
from .dimensions import axes, spread_over
from .kernels import _array_type, add_up, float_kind
from .reduce import checked, in_dtype, written

FUNCTIONS = "nansum nanmean"
METHODS = FUNCTIONS


@general(
    input=lambda g, input, dim, keepdim: late.where(
        late.eq(input, input), spread_over(g, input.shape, dim, keepdim), 0.0
    ),
    jvp=lambda input_t, input, dim, keepdim: _nansum(late.where(late.eq(input, input), input_t, 0.0), dim, keepdim),
    result="sum",
    dtypes="bif",
    name="nansum",
    contiguous=True,
    saved_as="self dim=(dim) keepdim",
)
def _nansum(input: Array, dim: Dim = None, keepdim: bool = False) -> Any:
    """The sum, NaN counting as zero."""
    over = axes(dim, len(input.shape))
    if type(input) is _array_type and float_kind(input):
        total = add_up(input, over, keepdim)
        if not np.isnan(total).any():  # most arrays have no NaN
            return total
    numbers = np.where(input == input, input, np.zeros_like(input)) if float_kind(input) else input  # noqa: PLR0124
    return add_up(numbers, over, keepdim)


def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The sum of all elements or over some dimensions, NaN counting as zero.

    Example::

        >>> import gradpack as torch
        >>> torch.nansum(torch.tensor([1.0, float("nan"), 2.0]))
        tensor(3.)
    """
    dim = checked("nansum", dim, keepdim)
    if dtype is None and out is not None:
        check_out("nansum", out, input)
        dtype = out.dtype
    if dtype is not None and not input.dtype.is_complex:
        whole = input.dtype.category < dtypes.FLOATING  # integers have no NaN
        return in_dtype(late.sum if whole else nansum, "nansum", input, dtype, out, dim, keepdim)
    return _nansum(input, dim, keepdim)


def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None) -> Any:
    """The mean of those elements that are not NaN.

    Raises:
        RuntimeError: for integers and bool.

    Example::

        >>> import gradpack as torch
        >>> torch.nanmean(torch.tensor([1.0, float("nan"), 2.0]))
        tensor(1.5000)
    """
    dim = checked("nanmean", dim, keepdim)
    if isinstance(input, Tensor) and input._spec.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype}: use mean()"
        )
    made = late.true_divide(nansum(input, dim, keepdim, dtype=dtype), late.sum(late.eq(input, input), dim, keepdim))
    return written("nansum", made, out)
