"""Functions of operations that XLA has as one: convolutions, and sums into rows."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .arrays import TracedArray, plain
from .backend import own


def _pads(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, count: Any) -> list[tuple[int, int]]:
    """Return the padding before and after, by which there are `count` places."""
    return [
        (p, (c - 1) * s + (k - 1) * d + 1 - n - p)
        for n, k, s, p, d, c in zip(size, kernel, stride, padding, dilation, count, strict=True)
    ]


def _correlated(x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int, count: Any) -> Any:
    pads = _pads(x.shape[2:], weight.shape[2:], stride, padding, dilation, count)
    return jax.lax.conv_general_dilated(
        x, weight, tuple(stride), pads, rhs_dilation=tuple(dilation), feature_group_count=groups
    )


def _pair(a: Any, b: Any) -> tuple[Any, Any]:
    a, b = plain(a), plain(b)
    native = np.result_type(a.dtype, b.dtype)
    return a.astype(native), b.astype(native)


@own("ops.conv.correlate.correlate")
def correlate(
    x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int, count: Any, bias: Any = None
) -> Any:
    """The convolution at `count` places, plus a bias per channel."""
    made = _correlated(*_pair(x, weight), stride, padding, dilation, groups, count)
    return TracedArray(made if bias is None else made + jnp.reshape(plain(bias), (-1, *(1,) * len(count))))


@own("ops.conv.correlate.correlate_input")
def correlate_input(y: Any, weight: Any, size: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """The derivative of a convolution with respect to its input."""
    y, weight = _pair(y, weight)
    count = y.shape[2:]
    given = jax.ShapeDtypeStruct((y.shape[0], weight.shape[1] * groups, *size), y.dtype)
    run = jax.linear_transpose(lambda x: _correlated(x, weight, stride, padding, dilation, groups, count), given)
    return TracedArray(run(y)[0])


@own("ops.conv.correlate.correlate_weight")
def correlate_weight(x: Any, y: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """The derivative of a convolution with respect to its weight."""
    x, y = _pair(x, y)
    count = y.shape[2:]
    given = jax.ShapeDtypeStruct((y.shape[1], x.shape[1] // groups, *kernel), y.dtype)
    run = jax.linear_transpose(lambda w: _correlated(x, w, stride, padding, dilation, groups, count), given)
    return TracedArray(run(y)[0])


# -- sums into rows, which NumPy is given in an order that suits it --


@own("ops.nn.embedding.add_rows")
def summed_rows(rows: Any, index: Any, count: int) -> Any:
    """Sum of the rows that share an index."""
    rows = plain(rows)
    return TracedArray(jnp.zeros((count, *rows.shape[1:]), rows.dtype).at[plain(index)].add(rows))


@own("ops.index.accumulate.add_rows")
def add_rows(out: Any, rows: Any, values: Any) -> Any:
    """`out[rows[k]] += values[k]` for every k; repeated rows accumulate."""
    if not isinstance(out, TracedArray):
        out = TracedArray(jnp.asarray(out))
    out.write(out.value.at[plain(rows)].add(plain(values)))
    return out


@own("ops.index.accumulate.add_wide")
def add_wide(values: Any, out: Any, rows: Any) -> Any:
    """`add_rows` with its arguments in another order."""
    return add_rows(out, rows, values)


# -- elimination, which goes row by row in NumPy --


@own("ops.linalg.lapack.lu_factor")
def lu_factor(a: Any) -> tuple[Any, Any, Any]:
    """Both factors in one matrix, the rows exchanged (from 1), and the first zero of the diagonal (from 1, or 0)."""
    packed, pivots, _ = jax.lax.linalg.lu(plain(a))
    zero = jnp.diagonal(packed, axis1=-2, axis2=-1) == 0
    info = jnp.where(zero.any(-1), zero.argmax(-1) + 1, 0) if zero.shape[-1] else jnp.zeros(zero.shape[:-1])
    return TracedArray(packed), TracedArray(pivots + 1), TracedArray(info.astype(np.int32))


@own("ops.linalg.lapack.permutation")
def permutation(pivots: Any, m: int) -> Any:
    """The rows of L @ U in the order of those of the matrix: `a[perm] = l @ u`."""
    return TracedArray(jax.lax.linalg.lu_pivots_to_permutation(plain(pivots).astype(np.int32) - 1, m).astype(np.int64))
