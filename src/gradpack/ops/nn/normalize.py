"""Normalisation over the last dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.compiled import loops
from ...base import dtypes, late
from ...base.dtypes import float32
from ...base.errors import refuse
from ...core.tensor import Tensor
from ...declare.annotations import Array, Sizes
from ...declare.decorators import general
from ..pointwise.blockwise import aligned
from ..reduce.kernels import SMALL, _array_type, add_up, mean_of_rows, reshaped
from ..reduce.row_products import add_multiples

FUNCTIONS = "layer_norm rms_norm"


def _layer_norm_meaning(input: Any, weight: Any, normalized_shape: Any, eps: float) -> Any:
    """Layer normalisation without its bias, composed of other operations."""
    dims = tuple(range(-len(normalized_shape), 0))
    centred = input - late.mean(input, dims, True)
    out = centred * late.rsqrt(late.mean(centred * centred, dims, True) + eps)
    return out if weight is None else out * weight


# Elements of a block of rows: what is computed from them stays in the second-level cache.
_BLOCK = 1 << 16
_TOGETHER = 2  # blocks whose rows get their means and deviations in one go
# Rows whose mean is within two standard deviations of zero lose nothing in sums of what is not centred.
_FAR = 4.0


def _by_blocks(rows: Any) -> bool:
    """Return whether a matrix fits the blocked functions below."""
    if type(rows) is not _array_type or rows.size < SMALL or rows.dtype.char not in "fd":
        return False
    return rows.flags.c_contiguous and 8 <= rows.shape[1] <= 4096


def _blocks(rows: Any) -> list[slice]:
    """Return slices of rows that fit the cache, of equal size except the last."""
    count = rows.shape[0]
    step = math.ceil(count / math.ceil(rows.size / _BLOCK))
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def _repeated(row: Any, count: int) -> Any:
    """Repeat a row `count` times: NumPy broadcasts a short vector slower than it reads a block."""
    out = aligned(count * row.size, row.dtype).reshape(count, row.size)
    out[:] = row
    return out


def _layer_norm_compiled(rows: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Result, mean and 1 / standard deviation of each row by a compiled loop; None where there is none."""
    fast = loops("row_norms", rows, weight, bias)
    if fast is None:
        return None
    count, length = rows.shape
    out, mean, rstd = np.empty_like(rows), np.empty((count, 1), rows.dtype), np.empty((count, 1), rows.dtype)
    by = np.ones(length, rows.dtype) if weight is None else weight
    plus = np.zeros(0, rows.dtype) if bias is None else bias
    fast.layer_norm(rows, by, plus, float(eps), out, mean.reshape(-1), rstd.reshape(-1))
    return out, mean, rstd


def _gradients_compiled(g: Any, rows: Any, weight: Any, mean: Any, rstd: Any) -> Any:
    """The gradients of rows, weight and bias by a compiled loop; None where there is none."""
    fast = loops("row_norms", rows, g, weight, mean, rstd)
    if fast is None:
        return None
    by = np.ones(rows.shape[1], rows.dtype) if weight is None else weight
    made = np.empty_like(rows), np.empty_like(by), np.empty_like(by)
    fast.layer_norm_gradients(g, rows, by, mean.reshape(-1), rstd.reshape(-1), *made)
    return made


def _layer_norm_blocks(rows: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Result, mean and 1 / standard deviation of each row, in few passes; None where that would lose digits.

    The result is (bias - mean * rstd * weight) + rstd * (x * weight). The bracket is a product of matrices with two
    columns and two rows, which takes BLAS a third of the time of an addition in which NumPy repeats a vector.
    """
    count, length = rows.shape
    dtype = rows.dtype
    average = np.full(length, 1 / length, dtype)
    blocks = _blocks(rows)
    ends = np.ones((2, length), dtype)
    ends[1] = 0 if bias is None else bias
    if weight is not None:
        ends[0] = weight
        factor = _repeated(weight, blocks[0].stop)
        buffer = aligned(factor.size, dtype).reshape(factor.shape)
    mean, rstd = np.empty((count, 1), dtype), np.empty((count, 1), dtype)
    shift = np.ones((count, 2), dtype)
    out = aligned(rows.size, dtype).reshape(rows.shape)
    for nr in range(0, len(blocks), _TOGETHER):
        some = slice(blocks[nr].start, blocks[nr : nr + _TOGETHER][-1].stop)
        centre = np.matmul(rows[some], average, out=mean[some, 0])
        variance = np.vecdot(rows[some], rows[some])
        variance /= length
        variance -= centre * centre
        variance += eps
        spread = np.divide(1, np.sqrt(variance, out=variance), out=rstd[some, 0])
        np.multiply(np.multiply(centre, spread, out=variance), -1, out=shift[some, 0])
        if not np.maximum.reduce(np.square(variance, out=variance)) <= _FAR:
            return None
        for block in blocks[nr : nr + _TOGETHER]:
            x, part = rows[block], out[block]
            weighted = x if weight is None else np.multiply(x, factor[: len(x)], out=buffer[: len(x)])
            np.matmul(shift[block], ends, out=part)
            add_multiples(part, rstd[block, 0], weighted)
    return out, mean, rstd


def _layer_norm_gradient_blocks(g: Any, rows: Any, weight: Any, mean: Any, rstd: Any, needs: Any) -> Any:
    """The gradients, from the sums of g and of g * rows over rows and columns, which are products with vectors.

    With y = (x - mean) * rstd, the sum of g * y is that of g * x, less that of g * mean, both times rstd.
    """
    count, length = rows.shape
    dtype = rows.dtype
    weight_g = np.zeros(length, dtype) if needs[1] else None
    bias_g = np.zeros(length, dtype) if needs[2] else None
    input_g = aligned(rows.size, dtype).reshape(rows.shape) if needs[0] else None
    mean, rstd = mean[:, 0], rstd[:, 0]
    centre = mean * rstd
    blocks = _blocks(rows)
    ones = np.ones(max(length, blocks[0].stop), dtype)
    both = np.ones((2, length), dtype)
    vector = ones[:length] if weight is None else np.ascontiguousarray(weight)
    factor = None if weight is None or input_g is None else _repeated(vector, blocks[0].stop)
    buffer = aligned(blocks[0].stop * length, dtype).reshape(-1, length)
    of_along, of_total = rstd**3 / -length, rstd / -length
    level = np.zeros((count, 2), dtype)
    for block in blocks:
        x, d, r, m = rows[block], g[block], rstd[block], mean[block]
        dx = np.multiply(d, x, out=buffer[: len(x)])
        if weight_g is not None:
            weight_g += r @ dx
            weight_g -= centre[block] @ d
        if bias_g is not None:
            bias_g += ones[: len(x)] @ d
        if input_g is not None:
            total, along = d @ vector, dx @ vector
            # rstd * (d * weight - total / n - (x - mean) * rstd * along / n): what multiplies x, and what stands alone
            along -= total * m
            along *= of_along[block]
            total *= of_total[block]
            np.subtract(total, along * m, out=level[block, 0])
            part = input_g[block]
            np.matmul(level[block], both, out=part)
            add_multiples(part, r, d if factor is None else np.multiply(d, factor[: len(x)], out=dx))
            add_multiples(part, along, x)
    return input_g, weight_g, bias_g


def _layer_norm_gradients(
    g: Any,
    input: Any,
    weight: Any,
    bias_shape: Any,
    normalized_shape: Any,
    eps: float,
    mean: Any,
    rstd: Any,
    needs: Any,
) -> Any:
    """Gradients of input, weight and bias; with y the normalised input and d = g * weight, that of the
    input is rstd * (d - average(d) - y * average(d * y)).
    """
    count = math.prod(normalized_shape)
    shape = input.shape
    outer = shape[: len(shape) - len(normalized_shape)]
    rows = reshaped(input, (math.prod(outer), count))
    g = reshaped(g, rows.shape)
    found = None
    if type(rows) is _array_type and rows.size >= SMALL:
        vector = None if weight is None else reshaped(weight, (count,))
        found = _gradients_compiled(g, rows, vector, mean, rstd)
        if found is None and _by_blocks(rows) and g.dtype == rows.dtype and g.flags.c_contiguous:
            if np.square(mean * rstd).max() <= _FAR:
                found = _layer_norm_gradient_blocks(g, rows, vector, mean, rstd, needs)
    if found is not None:
        shapes = (shape, tuple(normalized_shape), tuple(normalized_shape))
        return tuple(reshaped(a, s) if n else None for a, s, n in zip(found, shapes, needs, strict=True))
    y = rows - mean
    y *= rstd
    weight_g = bias_g = input_g = None
    if needs[1]:
        weight_g = reshaped(add_up(g * y, 0), tuple(normalized_shape))
    if needs[2]:
        bias_g = reshaped(add_up(g, 0), tuple(normalized_shape))
    if needs[0]:
        d = g if weight is None else g * reshaped(weight, (count,))
        along = mean_of_rows(d * y)
        y *= along
        input_g = d - y
        input_g -= mean_of_rows(d)
        input_g *= rstd
        input_g = reshaped(input_g, shape)
    return input_g, weight_g, bias_g


@general(
    inputs=("input", "weight", "bias"),
    joint=_layer_norm_gradients,
    meaning=_layer_norm_meaning,
    bias=lambda g, bias_shape: late.sum_to_size(g, bias_shape),
    extra=("mean", "rstd"),
    node="NativeLayerNormBackward0",
    dtypes="f",
    uniform=True,
    cost="cheap",
    saved_as="input normalized_shape result1=mean result2=rstd weight",
)
def _layer_norm(
    input: Array, normalized_shape: Sizes, weight: Array = None, bias: Array = None, eps: float = 1e-05
) -> Any:
    """Layer normalisation, with mean and 1 / standard deviation of each row for backward."""
    count = math.prod(normalized_shape)
    rows = reshaped(input, (math.prod(input.shape[: len(input.shape) - len(normalized_shape)]), count))
    if type(rows) is _array_type and rows.size >= SMALL:
        by, plus = (None if v is None else reshaped(v, (count,)) for v in (weight, bias))
        found = _layer_norm_compiled(rows, by, plus, eps)
        if found is None and _by_blocks(rows):
            found = _layer_norm_blocks(rows, by, plus, eps)
        if found is not None:
            return reshaped(found[0], input.shape), *found[1:]
    mean = mean_of_rows(rows)
    out = rows - mean
    rstd = 1 / np.sqrt(mean_of_rows(out * out) + eps)
    out *= rstd
    if weight is not None:
        out *= reshaped(weight, (count,))
    if bias is not None:
        out += reshaped(bias, (count,))
    return reshaped(out, input.shape), mean, rstd


def _check_normalized(op: str, input: Tensor, shape: Any, weight: Any, bias: Any = None) -> tuple[int, ...]:
    if isinstance(shape, int):
        raise TypeError(f"{op}(): argument 'normalized_shape' (position 2) must be tuple of ints, not int")
    shape = tuple(shape)
    fits = input._shape[-len(shape) :] == shape and (weight is None or weight._shape == shape)
    if fits and shape and (bias is None or bias._shape == shape):
        return shape
    for n in shape:
        if isinstance(n, bool) or not hasattr(n, "__index__") or not -(1 << 63) <= n < 1 << 63:
            raise TypeError(
                f"{op}(): argument 'normalized_shape' (position 2) must be tuple of ints of 64 bits, but found {n!r}"
            )
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            f"normalized_shape = {list(shape)}: {op}()"
        )
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and value._shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(value._shape)} and normalized_shape = {list(shape)} in {op}()"
            )
    if input._shape[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{'' if op == 'rms_norm' else ', '}"
            f"{', '.join(map(str, shape))}], but got input of size{list(input._shape)}: {op}()"
        )
    return shape


def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Tensor:
    """Bring the last dimensions to mean 0 and variance 1, then scale and shift.

    Args:
        input: shape (..., *normalized_shape).
        weight, bias: shape `normalized_shape`, or None.

    Raises:
        RuntimeError: if the shapes do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.layer_norm(torch.tensor([[1.0, 3.0]]), (2,))
        tensor([[-1.0000,  1.0000]])
    """
    shape = _check_normalized("layer_norm", input, normalized_shape, weight, bias)
    if input._spec.dtype.low:
        given = [t.dtype for t in (weight, bias) if t is not None]
        if given and all(d is dtypes.float32 for d in given):  # as under autocast
            return _layer_norm(input.to(dtypes.float32), shape, weight, bias, eps).to(input.dtype)
    return _layer_norm(input, shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """Divide by the root of the mean square over the last dimensions (arXiv 1910.07467).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.rms_norm(torch.tensor([3.0, 4.0]), (2,))
        tensor([0.8485, 1.1314])
    """
    from ...base.info import finfo

    shape = _check_normalized("rms_norm", input, normalized_shape, weight)
    refuse("rms_norm", input._spec.dtype, "biul")
    dims = tuple(range(-len(shape), 0))
    small = finfo(dtypes.computed_in(input._spec.dtype)).eps if eps is None else eps
    low = input._spec.dtype.low  # squares of half precision numbers overflow
    wide = input.to(float32) if low else input
    out = wide * late.rsqrt(late.mean(wide * wide, dims, True) + small)
    out = out if weight is None else out * (weight.to(float32) if low else weight)
    out = out.to(input.dtype) if low else out
    return out if out.is_contiguous() else out.contiguous()
