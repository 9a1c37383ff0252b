"""Discrete Fourier transforms: three linear operations, and the one-dimensional functions made of them.

`_fft_c2c` takes complex to complex numbers, `_fft_r2c` real to complex ones and `_fft_c2r` back,
each over any dimensions. A transform is a symmetric matrix, so each one's adjoint is made of another;
gradients of complex numbers follow torch's convention (the conjugate transpose).

`normalization` is torch's code: 0 for none, 1 to divide by the root of the number of points, 2 by that number.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from ...base import dtypes, late
from ...base.dtypes import FLOATING
from ...base.errors import _SCALAR_TYPES, not_a_tensor
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import linear
from ...declare.dispatch.out_argument import put
from ...declare.inplace.write_checks import refuse_grad
from ..pointwise.blockwise import is_numpy
from ..reduce.dimensions import numpy_names
from ..reduce.kernels import SMALL
from ..shape.dims import wrap_dim

_FORWARD: Any = ("backward", "ortho", "forward")  # NumPy's `norm` by torch's code, for forward transforms
_INVERSE: Any = ("forward", "ortho", "backward")


@cache
def _library(numpy: bool) -> Any:
    """The module `scipy.fft`, which takes a fifth of the time of `numpy.fft` for batches; None if not installed."""
    if not numpy:
        return None
    try:
        import scipy.fft
    except ImportError:
        return None
    return scipy.fft


# -- the operations --


_transform = partial(linear, holomorphic=False, cost="dear")


@_transform(
    input=lambda g, dim, normalization, forward: _fft_c2c(g, dim, normalization, not forward),
    dtypes="c",
    node="FftC2CBackward0",
)
def _fft_c2c(input: Array, dim: Any = (), normalization: int = 0, forward: bool = True) -> Any:
    """The transform of complex numbers over dimensions."""
    if not dim:
        return np.asarray(input, copy=True)
    if 0 in input.shape:
        return np.zeros_like(input)
    library = _library(is_numpy(input)) or np.fft
    norm = (_FORWARD if forward else _INVERSE)[normalization]
    if len(dim) == 1 and is_numpy(input):  # half the time of `fftn` for few elements
        return (library.fft if forward else library.ifft)(input, axis=dim[0], norm=norm)
    return (library.fftn if forward else library.ifftn)(input, axes=tuple(dim), norm=norm)


def _fft_r2c_backward(g: Any, input_shape: Any, dim: Any, normalization: int, onesided: bool) -> Any:
    if onesided:
        g = resized(g, (dim[-1],), (input_shape[dim[-1]],))
    return late._real(_fft_c2c(g, dim, normalization, False))


@_transform(input=_fft_r2c_backward, result="complex", dtypes="f", node="FftR2CBackward0")
def _fft_r2c(input: Array, dim: Any = (-1,), normalization: int = 0, onesided: bool = True) -> Any:
    """The transform of real numbers; `onesided` omits the redundant (conjugate) half of the last dimension."""
    if 0 in input.shape:
        shape = list(input.shape)
        if onesided:
            shape[dim[-1]] = shape[dim[-1]] // 2 + 1
        return np.zeros(tuple(shape), dtype=np.complex64 if input.dtype == np.float32 else np.complex128)
    norm = _FORWARD[normalization]
    library = _library(is_numpy(input)) or np.fft
    if len(dim) == 1 and is_numpy(input) and (onesided or input.size < SMALL):
        if not onesided:  # converted to complex, so that zeros are not negative
            input = np.astype(input, np.complex64 if input.dtype == np.float32 else np.complex128)
        return (library.rfft if onesided else library.fft)(input, axis=dim[0], norm=norm)
    if not onesided and len(dim) > 1:
        complex_input = np.astype(input, np.complex64 if input.dtype == np.float32 else np.complex128)
        return library.fftn(complex_input, axes=tuple(dim), norm=norm)
    half = library.rfftn(input, axes=tuple(dim), norm=norm)
    if onesided:
        return half
    n = input.shape[dim[0]]
    before = (slice(None),) * dim[0]
    rest = np.conj(np.flip(half[(*before, slice(1, (n + 1) // 2))], axis=dim[0]))
    return np.concat([half, rest], axis=dim[0])


@_transform(
    input=lambda g, dim, normalization, last_dim_size: _doubled(
        _fft_r2c(g, dim, normalization, True), dim[-1], last_dim_size
    ),
    result="real",
    dtypes="c",
    node="FftC2RBackward0",
)
def _fft_c2r(input: Array, dim: Any = (-1,), normalization: int = 0, last_dim_size: int = 1) -> Any:
    """The inverse of a onesided spectrum, as real numbers; the last dimension gets the size `last_dim_size`."""
    sizes = [input.shape[d] for d in dim]
    sizes[-1] = last_dim_size
    if 0 in input.shape:
        shape = list(input.shape)
        shape[dim[-1]] = last_dim_size
        return np.zeros(tuple(shape), dtype=np.float32 if input.dtype == np.complex64 else np.float64)
    library = _library(is_numpy(input)) or np.fft
    if len(dim) == 1 and is_numpy(input):
        return library.irfft(input, n=last_dim_size, axis=dim[0], norm=_INVERSE[normalization])
    return library.irfftn(input, s=tuple(sizes), axes=tuple(dim), norm=_INVERSE[normalization])


@linear(
    input=lambda g, dim, size: _doubled(g, dim, size),
    holomorphic=False,
    dtypes="fc",
    node="MulBackward0",
    name="_fft_doubled",
)
def _doubled(input: Array, dim: int = -1, size: int = 1) -> Any:
    """Double the values of a onesided spectrum whose conjugates were omitted."""
    out = np.asarray(input, copy=True)
    place: list[Any] = [slice(None)] * len(input.shape)
    place[dim] = slice(1, 1 + size - input.shape[dim])
    out[tuple(place)] *= 2
    return out


@linear(
    input=lambda g, input_shape, dim: resized(g, dim, tuple(input_shape[d] for d in dim)),
    data_movement=True,
    node="ConstantPadNdBackward0",
    name="_fft_resized",
)
def resized(input: Array, dim: Any = (), sizes: Any = ()) -> Any:
    """Truncate or zero-pad dimensions at the end, to `sizes`."""
    place: list[Any] = [slice(None)] * len(input.shape)
    shape = list(input.shape)
    for d, n in zip(dim, sizes, strict=True):
        place[d], shape[d] = slice(0, min(n, shape[d])), n
    out = np.zeros(tuple(shape), dtype=input.dtype)
    out[tuple(place)] = input[tuple(place)]
    return out


# -- shared by the functions --


def operand(op: str, input: Any) -> Tensor:
    """Check the input; integers are converted to the default floating-point dtype.

    Raises:
        TypeError: for anything but a tensor.
        RuntimeError: for float16 and bfloat16.
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor(f"fft_{op}", "input", 1, input)
    d = input._spec.dtype
    if d.low:
        raise RuntimeError(f"Unsupported dtype {_SCALAR_TYPES[d.name]}: {op}() takes float32 and float64")
    return late._to_copy(input, dtypes.get_default_dtype()) if d.category < FLOATING else input


def complex_operand(op: str, input: Any) -> Tensor:
    """The input, converted to complex."""
    input = operand(op, input)
    d = input._spec.dtype
    return input if d.is_complex else late._to_copy(input, d.to_complex())


def real_operand(op: str, input: Any, message: str) -> Tensor:
    """The input; raises a RuntimeError with `message` and its dtype if it is complex."""
    input = operand(op, input)
    if input._spec.dtype.is_complex:
        raise RuntimeError(message + _SCALAR_TYPES[input._spec.dtype.name])
    return input


def normalization_of(op: str, norm: Any, forward: bool) -> int:
    """torch's code (0, 1 or 2) for a normalization.

    Raises:
        RuntimeError: unless it is "backward", "ortho", "forward" or None.
    """
    if norm is not None and not issubclass(type(norm), str | bytes):
        raise TypeError(f"fft_{op}(): argument 'norm' must be str, not {type(norm).__name__}")
    if norm == "ortho":
        return 1
    if norm is None or norm == "backward":
        return 0 if forward else 2
    if norm == "forward":
        return 2 if forward else 0
    raise RuntimeError(f'Invalid normalization mode: "{norm}": {op}() knows "backward", "ortho" and "forward"')


def check_size(n: int) -> None:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")


def fitted(input: Tensor, dim: tuple[int, ...], sizes: tuple[int, ...]) -> Tensor:
    """Truncate or zero-pad `input` to these sizes; itself if it has them."""
    if all(input._shape[d] == n for d, n in zip(dim, sizes, strict=True)):
        return input
    out: Tensor = resized(input, dim, sizes)
    return out


def given(op: str, out: Any, made: Tensor, input: Tensor, kind: str = "complex") -> Tensor:
    """Return the result, or write it into `out`.

    Raises:
        RuntimeError: for an `out` that is real instead of complex or vice versa, or if the input requires grad.
    """
    if out is None:
        return made
    if not isinstance(out, Tensor):
        raise TypeError(f"fft_{op}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if out._spec.dtype.is_complex != (kind == "complex") or out._spec.dtype.category < FLOATING:
        raise RuntimeError(f"{op} expects a {kind} output tensor, but got {_SCALAR_TYPES[out._spec.dtype.name]}")
    refuse_grad(op, input, out)
    # as in torch: the `ifft` of real input is computed as a conjugate, which `out` must match in dtype
    put("ifft_of_real" if op == "ifft" and not input._spec.dtype.is_complex else op, out, made)
    return out


def place_of(dim: Any, shape: tuple[int, ...]) -> int:
    """The dimension counted from the front; raises for a 0-dim tensor."""
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, len(shape))


def one_dim(op: str, input: Tensor, n: Any, dim: Any) -> tuple[int, int]:
    """The dimension counted from the front, and the number of points `n` of the transform."""
    if n is not None and not hasattr(n, "__index__"):
        raise TypeError(f"fft_{op}(): argument 'n' must be int, not {type(n).__name__}")
    if not hasattr(dim, "__index__"):
        raise TypeError(f"fft_{op}(): argument 'dim' must be int, not {type(dim).__name__}")
    d = place_of(dim, input._shape)
    return d, input._shape[d] if n is None else int(n)


def _c2c(op: str, input: Any, n: Any, dim: Any, norm: Any, forward: bool, out: Any) -> Tensor:
    input = x = operand(op, input)
    d, size = one_dim(op, x, n, dim)
    how = normalization_of(op, norm, forward)
    check_size(size)
    x = fitted(x, (d,), (size,))
    if x._spec.dtype.is_complex:
        made = _fft_c2c(x, (d,), how, forward)
    else:
        made = _fft_r2c(x, (d,), how, False)
        made = made if forward else late.conj_physical(made)
    return given(op, out, made, input)


def _r2c(op: str, input: Any, n: Any, dim: Any, norm: Any, forward: bool, out: Any) -> Tensor:
    input = x = real_operand(op, input, f"{op} expects a real input tensor, but got ")
    d, size = one_dim(op, x, n, dim)
    how = normalization_of(op, norm, forward)
    check_size(size)
    made = _fft_r2c(fitted(x, (d,), (size,)), (d,), how, True)
    return given(op, out, made if forward else late.conj_physical(made), input)


def _c2r(op: str, input: Any, n: Any, dim: Any, norm: Any, forward: bool, out: Any) -> Tensor:
    input = x = complex_operand(op, input)
    d, size = one_dim(op, x, n, dim)
    how = normalization_of(op, norm, forward)
    size = 2 * (size - 1) if n is None else size
    check_size(size)
    x = fitted(x, (d,), (size // 2 + 1,))
    return given(op, out, _fft_c2r(late.conj_physical(x) if forward else x, (d,), how, size), input, "floating point")


# -- the functions of one dimension --


@numpy_names
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The discrete Fourier transform along a dimension: `X[k] = sum(x[j] * exp(-2j * pi * j * k / n))`.

    Args:
        input: real or complex; integers count as the default floating-point dtype. Not float16 and bfloat16.
        n: the number of points; the input is first truncated or zero-padded to it.
        norm: "forward" divides the result by n, "ortho" by its root, "backward" (the default) not at all.

    Raises:
        RuntimeError: for less than one point, an unknown `norm`, or float16 and bfloat16.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.fft(torch.tensor([1.0, 2.0]))
        tensor([ 3.+0.j, -1.+0.j])
    """
    return _c2c("fft", input, n, dim, norm, True, out)


@numpy_names
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The inverse of `fft` along a dimension: `x[j] = sum(X[k] * exp(2j * pi * j * k / n)) / n`.

    Args:
        n: the number of points: the signal is cut, or filled with zeros, to it; None for its size.
        norm: "backward" (the default) divides by n, "ortho" by its root, "forward" not at all.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.ifft(torch.fft.fft(torch.tensor([1.0, 2.0])))
        tensor([1.+0.j, 2.+0.j])
    """
    return _c2c("ifft", input, n, dim, norm, False, out)


@numpy_names
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The transform of real numbers along a dimension: the first `n // 2 + 1` values; the rest are their conjugates.

    Args:
        n: the number of points: the signal is cut, or filled with zeros, to it; None for its size.

    Raises:
        RuntimeError: for complex numbers, and as `fft` does.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.rfft(torch.tensor([1.0, 0.0, -1.0, 0.0]))
        tensor([0.+0.j, 2.+0.j, 0.+0.j])
    """
    return _r2c("rfft", input, n, dim, norm, True, out)


@numpy_names
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The inverse of `rfft` along a dimension, in real numbers.

    Args:
        n: the size of the result; by default `2 * (size - 1)`, which is wrong if the original size was odd.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.irfft(torch.fft.rfft(torch.tensor([1.0, 2.0, 3.0])), n=3)
        tensor([1., 2., 3.])
    """
    return _c2r("irfft", input, n, dim, norm, False, out)


@numpy_names
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The transform along a dimension of a Hermitian signal, given by its first half: real numbers.

    Args:
        n: the size of the result; by default `2 * (size - 1)`.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.hfft(torch.tensor([1.0, 0.0, -1.0]))
        tensor([0., 2., 0., 2.])
    """
    return _c2r("hfft", input, n, dim, norm, True, out)


@numpy_names
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None) -> Tensor:
    """The inverse of `hfft` along a dimension: the first half of the signal.

    Args:
        n: the number of points: the signal is cut, or filled with zeros, to it; None for its size.

    Example::

        >>> import gradpack as torch
        >>> torch.fft.ihfft(torch.tensor([0.0, 2.0, 0.0, 2.0]))
        tensor([ 1.-0.j,  0.-0.j, -1.-0.j])
    """
    return _r2c("ihfft", input, n, dim, norm, False, out)
