"""Products for each example of a batch, as `vmap` makes them: factors may be the same for all examples.

Such a factor is an array that repeats one matrix without a copy (its first stride is 0). One large
product with that matrix is faster than many small ones, and so is a product of a column and a row
as an elementwise one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import late
from ...declare.annotations import Array
from ...declare.decorators import bilinear, general
from ..reduce.kernels import _array_type


def _each(a: Any, b: Any) -> Any:
    """`a[i] @ b[i]` for arrays of three dimensions."""
    if a.shape[2] == 1:
        return a * b
    if type(b) is _array_type and type(a) is _array_type:
        if not b.strides[0] and b.shape[0] > 1:
            rows, columns = a.shape[0] * a.shape[1], a.shape[2]
            return np.reshape(np.matmul(np.reshape(a, (rows, columns)), b[0]), (*a.shape[:2], b.shape[2]))
        if not a.strides[0] and a.shape[0] > 1 and a.shape[1] > 1 and b.shape[2] == 1:
            return np.reshape(np.matmul(b[:, :, 0], a[0].mT), (a.shape[0], a.shape[1], 1))
    return np.matmul(a, b)


@bilinear(
    input=lambda g, other: product_each(g, other.mT),
    other=lambda g, input: product_each(input.mT, g),
    uniform=True,
    broadcasts=False,
    node="BmmBackward0",
)
def product_each(input: Array, other: Array) -> Any:
    """`input[i] @ other[i]`: shapes (B, n, k) and (B, k, m)."""
    return _each(input, other)


@general(
    input=lambda g, weight: product_each(g, weight),
    weight=lambda g, input: product_each(g.mT, input),
    bias=lambda g: late._sum_dim(g, 1),
    jvp=lambda input, weight, input_t, weight_t, bias_t: _tangent(input, weight, input_t, weight_t, bias_t),
    uniform=True,
    broadcasts=False,
    node="AddmmBackward0",
)
def linear_each(input: Array, weight: Array, bias: Array = None) -> Any:
    """`input[i] @ weight[i].T + bias[i]`: shapes (B, n, k), (B, m, k) and (B, m)."""
    out = _each(input, weight.mT)
    return out if bias is None else out + bias[:, None, :]


def _tangent(input: Any, weight: Any, input_t: Any, weight_t: Any, bias_t: Any) -> Any:
    made: Any = None
    if input_t is not None:
        made = product_each(input_t, weight.mT)
    if weight_t is not None:
        term = product_each(input, weight_t.mT)
        made = term if made is None else made + term
    if bias_t is not None:
        shape = (*input.shape[:2], weight.shape[1])
        term = late.expand(late.reshape(bias_t, (bias_t.shape[0], 1, bias_t.shape[1])), shape)
        made = term if made is None else made + term
    return made
