"""Fourier transforms over several dimensions, and their sample frequencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.dtypes import FLOATING, as_dtype
from ...base.errors import not_implemented_for
from ...core.tensor import Tensor
from ..create.making import _into_out, _native, finish, with_parameters_of
from ..reduce.dimensions import numpy_names
from ..shape.dims import wrap_dim
from .fourier import (
    _fft_c2c,
    _fft_c2r,
    _fft_r2c,
    check_size,
    complex_operand,
    fitted,
    given,
    normalization_of,
    place_of,
    real_operand,
)


def _ints_of(op: str, name: str, value: Any) -> tuple[int, ...] | None:
    if value is None:
        return None
    if hasattr(value, "__index__"):
        return (int(value),)
    if not isinstance(value, tuple | list):
        raise TypeError(f"fft_{op}(): argument '{name}' must be tuple of ints, not {type(value).__name__}")
    return tuple(int(v) for v in value)


def _dims(op: str, input: Tensor, s: Any, dim: Any, least: int = 1) -> tuple[tuple[int, ...], list[int], bool]:
    """The dimensions counted from the front, their sizes, and whether the last one was given."""
    sizes, dims = _ints_of(op, "s", s), _ints_of(op, "dim", dim)
    shape = input._shape
    if dims is not None:
        dims = tuple(place_of(d, shape) for d in dims)
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"FFT dims must be unique, got {list(dims)} in {op}()")
    if sizes is not None:
        if dims is not None and len(dims) != len(sizes):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(sizes) > len(shape):
            raise RuntimeError(f"Got shape with {len(sizes)} values but input tensor only has {len(shape)} dimensions.")
        dims = tuple(range(len(shape) - len(sizes), len(shape))) if dims is None else dims
    dims = tuple(range(len(shape))) if dims is None else dims
    if len(dims) < least:
        raise RuntimeError(f"{op} must transform at least one axis")
    asked = [-1] * len(dims) if sizes is None else list(sizes)
    return dims, [shape[d] if n == -1 else n for d, n in zip(dims, asked, strict=True)], bool(asked) and asked[-1] != -1


def _all_c2c(op: str, input: Any, s: Any, dim: Any, norm: Any, forward: bool, out: Any) -> Tensor:
    x = complex_operand(op, input)
    dims, sizes, _ = _dims(op, x, s, dim, least=0)
    how = normalization_of(op, norm, forward)
    return given(op, out, _fft_c2c(_fitted(x, dims, sizes), dims, how, forward), input)


def _all_r2c(op: str, input: Any, s: Any, dim: Any, norm: Any, out: Any) -> Tensor:
    x = real_operand(op, input, f"{op} expects a real-valued input tensor, but got ")
    dims, sizes, _ = _dims(op, x, s, dim)
    how = normalization_of(op, norm, True)
    return given(op, out, _fft_r2c(_fitted(x, dims, sizes), dims, how, True), input)


def _last_dims(op: str, x: Tensor, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int], int]:
    """The dimensions, the sizes to truncate or pad the input to, and the size of the result in the last dimension."""
    dims, sizes, said = _dims(op, x, s, dim)
    last = sizes[-1] if said else 2 * (sizes[-1] - 1)
    check_size(last)
    sizes[-1] = last // 2 + 1
    return dims, sizes, last


def _fitted(x: Tensor, dims: tuple[int, ...], sizes: list[int]) -> Tensor:
    """Truncate or zero-pad to sizes, which are checked."""
    for n in sizes:
        check_size(n)
    return fitted(x, dims, tuple(sizes))


@numpy_names
def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The discrete Fourier transform over several dimensions.

    Args:
        s: the sizes to truncate or zero-pad the input to; -1 keeps a size.
        dim: the dimensions; unless given, the last `len(s)`, or all.
        norm: "forward" divides by the number of points, "ortho" by its root, "backward" (the default) not at all.

    Raises:
        RuntimeError: for dimensions given twice, `s` and `dim` of different lengths, and as `fft` does.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.fftn(torch.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    return _all_c2c("fftn", input, s, dim, norm, True, out)


@numpy_names
def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The inverse of `fftn`.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.ifftn(torch.ones(2, 2))
        tensor([[1.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    return _all_c2c("ifftn", input, s, dim, norm, False, out)


@numpy_names
def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The transform of real numbers over several dimensions, onesided in the last of them.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.rfftn(torch.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    return _all_r2c("rfftn", input, s, dim, norm, out)


@numpy_names
def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The inverse of `rfftn`, in real numbers.

    Args:
        s: the sizes of the result; the last is by default `2 * (size - 1)`.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.irfftn(torch.ones(2, 2))
        tensor([[1., 0.],
                [0., 0.]])
    """
    x = complex_operand("irfftn", input)
    dims, sizes, last = _last_dims("irfftn", x, s, dim)
    how = normalization_of("irfftn", norm, False)
    return given("irfftn", out, _fft_c2r(_fitted(x, dims, sizes), dims, how, last), input, "floating point")


@numpy_names
def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The transform over several dimensions of a signal that is Hermitian in the last one, given by half of it.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.hfftn(torch.ones(2, 2))
        tensor([[4., 0.],
                [0., 0.]])
    """
    x = complex_operand("hfftn", input)
    dims, sizes, last = _last_dims("hfftn", x, s, dim)
    how = normalization_of("hfftn", norm, True)
    x = _fitted(x, dims, sizes)
    if len(dims) > 1:
        x = _fft_c2c(x, dims[:-1], how, True)
    made = _fft_c2r(late.conj_physical(x), dims[-1:], how, last)
    return given("hfftn", out, made, input, "floating point")


@numpy_names
def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The inverse of `hfftn`: half of the signal along the last dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.ihfftn(torch.ones(2, 2)).real
        tensor([[1., 0.],
                [0., 0.]])
    """
    x = real_operand("ihfftn", input, "Only supports floating-point dtypes, but found: ")
    dims, sizes, _ = _dims("ihfftn", x, s, dim)
    how = normalization_of("ihfftn", norm, False)
    made = late.conj_physical(_fft_r2c(_fitted(x, dims, sizes), dims[-1:], how, True))
    return given("ihfftn", out, _fft_c2c(made, dims[:-1], how, False) if len(dims) > 1 else made, input)


@numpy_names
def fft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Tensor:
    """The discrete Fourier transform over two dimensions: `fftn`.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.fft2(torch.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    return fftn(input, s, dim, norm, out=out)


@numpy_names
def ifft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Tensor:
    """The inverse of `fft2`.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.ifft2(torch.ones(2, 2))
        tensor([[1.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    return ifftn(input, s, dim, norm, out=out)


@numpy_names
def rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Tensor:
    """The transform of real numbers over two dimensions: `rfftn`.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.rfft2(torch.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    return rfftn(input, s, dim, norm, out=out)


@numpy_names
def irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Tensor:
    """The inverse of `rfft2`, in real numbers.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.irfft2(torch.ones(2, 2))
        tensor([[1., 0.],
                [0., 0.]])
    """
    return irfftn(input, s, dim, norm, out=out)


@numpy_names
def hfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Tensor:
    """`hfftn` over two dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.hfft2(torch.ones(2, 2))
        tensor([[4., 0.],
                [0., 0.]])
    """
    return hfftn(input, s, dim, norm, out=out)


@numpy_names
def ihfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None) -> Tensor:
    """The inverse of `hfft2`.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.ihfft2(torch.ones(2, 2)).real
        tensor([[1., 0.],
                [0., 0.]])
    """
    return ihfftn(input, s, dim, norm, out=out)


# -- frequencies --


def _frequencies(places: Callable[[int, float], Any]) -> Callable[..., Tensor]:
    """Make a function of frequencies: the multiples `places(n, d)` of `1 / (n * d)`."""
    op = places.__name__

    def frequencies(
        n: int,
        d: float = 1.0,
        *,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Tensor:
        dtype = as_dtype(f"fft_{op}", dtype)
        wanted = dtype or (dtypes.get_default_dtype() if out is None else out._spec.dtype)
        if wanted.category < FLOATING:
            raise RuntimeError(f"{op} requires a floating point or complex dtype")
        if wanted.is_complex:
            raise not_implemented_for("arange_cpu", wanted)
        if not hasattr(n, "__index__"):
            raise TypeError(f"fft_{op}(): argument 'n' (position 1) must be int, not {type(n).__name__}")
        if n < 0 and op == "fftfreq":
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
        found = places(n, d) * (1.0 / (n * d) if n * d else np.inf)
        return _into_out(out, finish(found.astype(_native(op, wanted, device)), requires_grad, device))

    return with_parameters_of(places, frequencies)


@_frequencies
def fftfreq(n: int, d: float) -> Any:
    """The sample frequencies of an `fft` of `n` points with spacing `d`.

    Args:
        n: the number of points.
        d: the distance between samples: frequencies are in cycles per unit of it.

    Raises:
        RuntimeError: for an integer dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.fftfreq(4)
        tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
        >>> torch.fft.fftfreq(4, d=0.5)
        tensor([ 0.0000,  0.5000, -1.0000, -0.5000])
    """
    return np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)])


@_frequencies
def rfftfreq(n: int, d: float) -> Any:
    """The sample frequencies of an `rfft` of `n` points with spacing `d`.

    Args:
        n: the number of points of the signal; the result has `n // 2 + 1`.
        d: the distance between samples: frequencies are in cycles per unit of it.

    Raises:
        RuntimeError: for an integer dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.rfftfreq(4)
        tensor([0.0000, 0.2500, 0.5000])
    """
    return np.arange(n // 2 + 1)


def _shifted(op: str, input: Tensor, dim: Any, back: bool) -> Tensor:
    dims = _ints_of(op, "dim", dim)
    dims = tuple(range(input.ndim)) if dims is None else tuple(wrap_dim(d, input.ndim) for d in dims)
    shape = input._shape
    if not dims:
        raise RuntimeError(f"`shifts` required: {op}() needs a dimension to shift along")
    out: Tensor = late.roll(input, tuple((shape[d] + back) // 2 for d in dims), dims)
    return out


@numpy_names
def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Shift the zero frequency to the middle, so that frequencies are in increasing order.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.fftshift(torch.fft.fftfreq(4))
        tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _shifted("fftshift", input, dim, False)


@numpy_names
def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The inverse of `fftshift`.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.ifftshift(torch.tensor([-2, -1, 0, 1, 2]))
        tensor([ 0,  1,  2, -2, -1])
    """
    return _shifted("ifftshift", input, dim, True)
