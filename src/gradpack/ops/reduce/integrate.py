"""Differences of neighbouring elements; integrals and derivatives of sampled functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...base import dtypes, late
from ...core.tensor import Tensor
from ..shape.dims import wrap_dim, wrap_dims
from .dimensions import numpy_names
from .reduce import written

FUNCTIONS = "trapezoid trapz cumulative_trapezoid gradient diff"
METHODS = "diff"


def _part(x: Tensor, dim: int, start: int | None, stop: int | None) -> Tensor:
    """`x[start:stop]` along a dimension counted from the front."""
    return x[(slice(None),) * dim + (slice(start, stop),)]


def _at(x: Tensor, dim: int, k: int) -> Tensor:
    """The element `k` along a dimension, which is kept."""
    return _part(x, dim, k, k + 1 if k != -1 else None)


# -- integrals --


def _steps(op: str, y: Tensor, x: Any, dx: Any, dim: int) -> tuple[int, Any]:
    """The dimension counted from the front, and the spacing of samples, as a factor that broadcasts."""
    if not isinstance(y, Tensor):
        raise TypeError(f"{op}(): argument 'y' (position 1) must be Tensor, not {type(y).__name__}")
    if x is not None and dx is not None:
        raise TypeError(
            f"{op}() received an invalid combination of arguments: either x, the places of the samples, or dx, "
            "their distance"
        )
    d = wrap_dim(dim, y.ndim)
    if y._spec.dtype is dtypes.bool_ or (isinstance(x, Tensor) and x._spec.dtype is dtypes.bool_):
        raise RuntimeError(f"{op}: received a bool input for `x` or `y`, but bool is not supported")
    if x is None:
        if isinstance(dx, complex):
            raise RuntimeError(f"{op}: Currently, we only support dx as a real number.")
        return d, 1 if dx is None else dx
    if not isinstance(x, Tensor):
        raise TypeError(f"{op}(): argument 'x' (position 2) must be Tensor, not {type(x).__name__}")
    if x.ndim == 1:
        if x._shape[0] != y._shape[d]:
            raise RuntimeError(
                f"{op}: There must be one `x` value for each sample point: got {x._shape[0]} for {y._shape[d]}"
            )
        x = late.reshape(x, (1,) * d + (x._shape[0],) + (1,) * (y.ndim - d - 1))
    elif x.ndim < y.ndim:
        x = late.reshape(x, (1,) * (y.ndim - x.ndim) + x._shape)
    place = wrap_dim(dim, x.ndim)
    return d, _part(x, place, 1, None) - _part(x, place, None, -1)


@numpy_names
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral along a dimension of a function sampled there, by the trapezoid rule.

    Args:
        y: the samples.
        x: the coordinates of the samples: a vector along `dim`, or a tensor that broadcasts with `y`.
        dx: instead of `x`, the constant spacing; 1 unless given.

    Raises:
        RuntimeError: for bool, or another number of places than of samples.

    Example::

        >>> import gradpack as torch
        >>> torch.trapezoid(torch.tensor([1.0, 5.0, 10.0])), torch.trapezoid(torch.tensor([1.0, 5.0]), dx=2)
        (tensor(10.5000), tensor(6.))
    """
    d, steps = _steps("trapezoid", y, x, dx, dim)
    if not y._shape[d]:
        return late.zeros(y._shape[:d] + y._shape[d + 1 :], dtype=y._spec.dtype, device=y.device)
    if not isinstance(steps, Tensor):
        return (late.sum(y, d) - (late.select(y, d, 0) + late.select(y, d, -1)) * 0.5) * steps
    return late.sum((_part(y, d, None, -1) + _part(y, d, 1, None)) * steps, d) / 2.0


@numpy_names
def trapz(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """Another name of `trapezoid`.

    Args:
        y: the samples.
        x: the coordinates of the samples: a vector along `dim`, or a tensor that broadcasts with `y`.
        dx: instead of `x`, the constant spacing; 1 unless given.

    Example::

        >>> import gradpack as torch
        >>> torch.trapz(torch.tensor([1.0, 5.0, 10.0]), torch.tensor([0.0, 1.0, 3.0]))
        tensor(18.)
    """
    return trapezoid(y, x, dx=dx, dim=dim)


@numpy_names
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integrals up to each sample but the first, by the trapezoid rule: see `trapezoid`.

    Args:
        y: the samples.
        x: the coordinates of the samples: a vector along `dim`, or a tensor that broadcasts with `y`.
        dx: instead of `x`, the constant spacing; 1 unless given.

    Raises:
        RuntimeError: for bool, or another number of places than of samples.
        TypeError: for both `x` and `dx`.

    Example::

        >>> import gradpack as torch
        >>> torch.cumulative_trapezoid(torch.tensor([1.0, 5.0, 10.0]))
        tensor([ 3.0000, 10.5000])
    """
    d, steps = _steps("cumulative_trapezoid", y, x, dx, dim)
    pairs = _part(y, d, None, -1) + _part(y, d, 1, None)
    if not isinstance(steps, Tensor):
        return late.cumsum(pairs, d) * (steps / 2.0)
    return late.cumsum(pairs * steps, d) / 2.0


# -- derivatives --


@numpy_names
def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The derivative of a sampled function along each dimension, by central differences.

    Args:
        spacing: the distance of samples, one for all dimensions or a list with one for each; or the places of the
            samples, a list with a 1-dim tensor for each dimension.
        dim: the dimensions, all unless given.
        edge_order: 1 or 2, the order of the differences at both ends.

    Raises:
        RuntimeError: for uint8, dimensions with less than `edge_order + 1` samples, or `spacing` of another length.

    Example::

        >>> import gradpack as torch
        >>> torch.gradient(torch.tensor([1.0, 4.0, 9.0, 16.0]))
        (tensor([3., 4., 6., 7.]),)
        >>> torch.gradient(torch.tensor([1.0, 4.0, 9.0, 16.0]), spacing=0.5, edge_order=2)
        (tensor([ 4.,  8., 12., 16.]),)
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"gradient(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    spacing = 1 if spacing is None else spacing
    dims = list(range(input.ndim)) if dim is None else [dim] if hasattr(dim, "__index__") else list(dim)
    if isinstance(spacing, Tensor):
        raise TypeError("gradient(): argument 'spacing' must be a number, or a list of numbers or of tensors")
    spaces = list(spacing) if isinstance(spacing, Sequence) else [spacing] * len(dims)
    if len(spaces) != len(dims):
        what = (
            f", or a list with its length equal to 'self.dim() = {input.ndim}'"
            if dim is None
            else " or it's spacing and dim arguments to have the same length"
        )
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, a scalar{what}, but got a spacing argument of length "
            f"{len(spaces)}" + ("." if dim is None else f" and a dim argument of length {len(dims)}.")
        )
    _check_gradient(input, dims, edge_order, spaces)
    made = []
    for d, space in zip(wrap_dims(dims, input.ndim), spaces, strict=True):
        find = _slopes_at if isinstance(space, Tensor) else _slopes
        made.append(late.cat(find(input, d, space, edge_order), d))
    return tuple(made)


def _check_gradient(input: Tensor, dims: list[int], edge_order: int, spaces: list[Any]) -> None:
    if input._spec.dtype is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for d, space in zip(wrap_dims(dims, input.ndim), spaces, strict=True):
        if not input.ndim or input._shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
        if isinstance(space, Tensor) and (space.ndim != 1 or space._shape[0] != input._shape[d]):
            raise RuntimeError(
                "torch.gradient expected each spacing tensor to be 1-dimensional, with one place for each sample: got "
                f"{list(space._shape)} for {input._shape[d]} samples"
            )


def _slopes(x: Tensor, d: int, step: Any, order: int) -> list[Tensor]:
    """The slopes at the beginning, in the middle and at the end, of samples at one distance."""
    at = partial(_at, x, d)
    middle = (_part(x, d, 2, None) - _part(x, d, None, -2)) / (2 * step)
    if order == 1:
        return [(at(1) - at(0)) / step, middle, (at(-1) - at(-2)) / step]
    first = (at(0) * -1.5 + at(1) * 2 - at(2) * 0.5) / step
    last = (at(-3) * 0.5 - at(-2) * 2 + at(-1) * 1.5) / step
    return [first, middle, last]


def _slopes_at(x: Tensor, d: int, places: Tensor, order: int) -> list[Tensor]:
    """The slopes at the beginning, in the middle and at the end, of samples at given places."""
    h = late.reshape(_part(places, 0, 1, None) - _part(places, 0, None, -1), (-1,) + (1,) * (x.ndim - d - 1))
    at, h1, h2 = partial(_at, x, d), h[:-1], h[1:]
    middle = (
        _part(x, d, None, -2) * (-h2 / (h1 * (h1 + h2)))
        + _part(x, d, 1, -1) * ((h2 - h1) / (h1 * h2))
        + _part(x, d, 2, None) * (h1 / (h2 * (h1 + h2)))
    )
    if order == 1:
        return [(at(1) - at(0)) / h[:1], middle, (at(-1) - at(-2)) / h[-1:]]
    a, b = h[:1], h[1:2]
    first = at(0) * (-(a * 2 + b) / (a * (a + b))) + at(1) * ((a + b) / (a * b)) - at(2) * (a / (b * (a + b)))
    a, b = h[-2:-1], h[-1:]
    last = at(-3) * (b / (a * (a + b))) - at(-2) * ((a + b) / (a * b)) + at(-1) * ((a + b * 2) / (b * (a + b)))
    return [first, middle, last]


# -- differences --


def diff(
    input: Tensor,
    n: int = 1,
    dim: Any = None,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Any = None,
    axis: Any = None,
) -> Tensor:
    """Each element minus the one before it, along a dimension, `n` times over. For bool, whether they differ.

    Args:
        n: how many times over.
        dim: -1 by default.
        prepend: joined in front of `input` along `dim` first; of the same shape in all other dimensions.
        append: likewise, behind it.

    Raises:
        RuntimeError: for a 0-dim tensor, a negative `n`, and shapes that do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.diff(torch.tensor([1, 3, 2]))
        tensor([ 2, -1])
    """
    place = -1 if dim is None and axis is None else axis if dim is None else dim
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    d = wrap_dim(place, input.ndim)
    for more in (prepend, append):
        if more is not None:
            _check_joined(input, more, d)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}: diff() takes differences n times")
    joined = [x for x in (prepend, input, append) if x is not None]
    if not n:
        return written("diff", late.clone(input), out, input)
    result = late.cat(joined, d) if len(joined) > 1 else input
    for _ in range(min(n, result._shape[d])):
        size = result._shape[d] - 1
        after, before = late.narrow(result, d, 1, size), late.narrow(result, d, 0, size)
        result = late.ne(after, before) if result.dtype is dtypes.bool_ else late.sub(after, before)
    return written("diff", result, out, input)


def _check_joined(input: Tensor, more: Tensor, d: int) -> None:
    if more.ndim != input.ndim:
        raise RuntimeError(
            "diff expects prepend or append to be the same dimension as input: "
            f"got {more.ndim} dimensions for {input.ndim}"
        )
    for i, (m, size) in enumerate(zip(more._shape, input._shape, strict=True)):
        if i != d and m != size:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({i}) = {size}, but got tensor.size({i}) = {m}"
            )
