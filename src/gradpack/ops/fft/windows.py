"""Window functions: weights that fall off towards the ends of a frame.

These are periodic unless told otherwise, those of `torch.signal.windows` symmetric. All are
computed in double precision and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from ...backends.numpy import converted, quiet
from ...base import dtypes
from ...base.dtypes import as_dtype, dtype
from ...base.layouts import strided
from ...core.tensor import Tensor
from ...declare.generate.profiling import profiled
from ..create.making import _native, finish, with_parameters_of

FUNCTIONS = "hann_window hamming_window blackman_window bartlett_window kaiser_window"


def _window(shape: Callable[[Any, Any], Any]) -> Callable[..., Tensor]:
    """Make a window function of `shape(k, n)`: see `_weights`."""
    op = shape.__name__

    def window(
        window_length: int,
        periodic: bool = True,
        *,
        dtype: dtype | None = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
    ) -> Tensor:
        return _weights(op, window_length, periodic, shape, dtype, device, requires_grad)

    return with_parameters_of(shape, window)


def _weights(op: str, length: Any, periodic: bool, shape: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """`shape(k, n)` for k from 0 to `length`, where n is the number of steps from end to end."""
    dtype = as_dtype(op, dtype)
    d = dtype or dtypes.get_default_dtype()
    if not (d.is_floating_point or d.is_complex):
        raise RuntimeError(f"{op} expects floating point dtypes, got: {d.name}")
    if d.is_complex:
        raise NotImplementedError(f"{op}() is not implemented for complex numbers, got dtype={d.name}")
    if not hasattr(length, "__index__"):
        raise TypeError(f"{op}(): argument 'window_length' (position 1) must be int, not {type(length).__name__}")
    if length < 0:
        raise RuntimeError(f"{op} requires non-negative window_length, got window_length={length}")
    return finish(converted(_values(shape, length, periodic), _native(op, d, device)), requires_grad, device)


def _values(shape: Callable[..., Any], length: int, periodic: bool) -> Any:
    steps = length if periodic else length - 1
    with quiet():
        found = shape(np.arange(length, dtype=np.float64), float(steps) if steps > 0 else np.float64(steps))
    return np.ones(length) if length < 2 else found


def _cosines(k: Any, n: Any, weights: Iterable[float]) -> Any:
    """`a0 - a1 * cos(2 pi k / n) + a2 * cos(4 pi k / n) - ...`."""
    angle = k * (2 * math.pi / n)
    return sum(a * (-1) ** i * np.cos(i * angle) for i, a in enumerate(weights))


def _kaiser(k: Any, n: Any, beta: float) -> Any:
    from ..pointwise.exponential import special

    place = 2 * k / n - 1
    return special("i0", beta * np.sqrt(np.maximum(1 - place * place, 0))) / special("i0", beta)


@profiled
@_window
def hann_window(k: Any, n: Any) -> Any:
    """The Hann window: `sin(pi * k / n) ** 2`.

    Args:
        periodic: the first `window_length` values of a symmetric window that is one longer.

    Raises:
        RuntimeError: for a negative length or an integer dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.hann_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _cosines(k, n, (0.5, 0.5))


@profiled
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Hamming window: `alpha - beta * cos(2 * pi * k / n)`.

    Args:
        alpha, beta: the numbers of the formula: 0.54 and 0.46 unless given.

    Example::

        >>> import gradpack as torch
        >>> torch.hamming_window(4)
        tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    shape = partial(_cosines, weights=(alpha, beta))
    return _weights("hamming_window", window_length, periodic, shape, dtype, device, requires_grad)


@profiled
@_window
def blackman_window(k: Any, n: Any) -> Any:
    """The Blackman window: `0.42 - 0.5 * cos(2 * pi * k / n) + 0.08 * cos(4 * pi * k / n)`.

    Example::

        >>> import gradpack as torch
        >>> torch.blackman_window(4)[1:]
        tensor([0.3400, 1.0000, 0.3400])
    """
    return _cosines(k, n, (0.42, 0.5, 0.08))


@profiled
@_window
def bartlett_window(k: Any, n: Any) -> Any:
    """The Bartlett window, a triangle: `1 - abs(2 * k / n - 1)`.

    Example::

        >>> import gradpack as torch
        >>> torch.bartlett_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return 1 - np.abs(2 * k / n - 1)


@profiled
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Kaiser window: `i0(beta * sqrt(1 - (2 * k / n - 1) ** 2)) / i0(beta)`. Needs SciPy (the extra `special`).

    Args:
        beta: how narrow the window is: 0 for all ones.

    Example::

        >>> import gradpack as torch
        >>> torch.kaiser_window(4, True, 2.0)
        tensor([0.4387, 0.8348, 1.0000, 0.8348])
    """
    shape = partial(_kaiser, beta=beta)
    return _weights("kaiser_window", window_length, periodic, shape, dtype, device, requires_grad)


# -- `torch.signal.windows`, symmetric unless told otherwise --


def _signal(values: Callable[..., Any], op: str = "") -> Callable[..., Tensor]:
    """Make a window function of `values(k, n, ...)`, k from 0 to M and n the number of steps from end to end.

    Args:
        op: the name in messages, if not its own.
    """
    op = op or values.__name__

    def window(
        M: int,
        *,
        sym: bool = True,
        dtype: dtype | None = None,
        layout: Any = strided,
        device: Any = None,
        requires_grad: bool = False,
        **shape: Any,
    ) -> Tensor:
        if not hasattr(M, "__index__"):
            raise TypeError(f"{op}(): argument 'M' must be int, not {type(M).__name__}")
        if M < 0:
            raise ValueError(f"{op} requires non-negative window length, got M={M}")
        if layout is not None and layout is not strided:
            raise ValueError(f"{op} is implemented for strided tensors only, got: {layout}")
        d = dtypes.get_default_dtype() if dtype is None else dtype
        if d not in (dtypes.float32, dtypes.float64):
            raise ValueError(f"{op} expects float32 or float64 dtypes, got: {d}")
        found = _values(lambda k, n: values(k, n, **shape), M, not sym)
        return finish(converted(found, _native(op, d, device)), requires_grad, device)

    return with_parameters_of(values, window)


_of_cosines = partial(_signal, op="general_cosine")  # as torch's messages call them


@_signal
def general_cosine(k: Any, n: Any, *, a: Any) -> Any:
    """A sum of cosines: `a[0] - a[1] * cos(2 * pi * k / n) + a[2] * cos(4 * pi * k / n) - ...`.

    Args:
        M: how many values.
        a: a list of weights.
        sym: a symmetric window; False for a periodic one, the first M values of a symmetric one of M + 1.

    Raises:
        ValueError: for a negative length, no weights, or any dtype but float32 and float64.
        TypeError: if `a` is not a list or tuple.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.general_cosine(5, a=[0.5, 0.3, 0.2])
        tensor([0.4000, 0.3000, 1.0000, 0.3000, 0.4000])
    """
    if not isinstance(a, list | tuple):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return _cosines(k, n, a)


@_of_cosines
def general_hamming(k: Any, n: Any, *, alpha: float = 0.54) -> Any:
    """`alpha - (1 - alpha) * cos(2 * pi * k / n)`.

    Args:
        alpha: the constant of the formula.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.general_hamming(3, alpha=0.7)
        tensor([0.4000, 1.0000, 0.4000])
    """
    return _cosines(k, n, (alpha, 1.0 - alpha))


@_of_cosines
def hamming(k: Any, n: Any) -> Any:
    """The Hamming window: `0.54 - 0.46 * cos(2 * pi * k / n)`.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.hamming(3)
        tensor([0.0800, 1.0000, 0.0800])
    """
    return _cosines(k, n, (0.54, 1.0 - 0.54))


@_of_cosines
def hann(k: Any, n: Any) -> Any:
    """The Hann window: `0.5 - 0.5 * cos(2 * pi * k / n)`.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.hann(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _cosines(k, n, (0.5, 0.5))


@_signal
def blackman(k: Any, n: Any) -> Any:
    """The Blackman window: a sum of cosines with weights 0.42, 0.5 and 0.08.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.blackman(5)[1:4]
        tensor([0.3400, 1.0000, 0.3400])
    """
    return _cosines(k, n, (0.42, 0.5, 0.08))


@_of_cosines
def nuttall(k: Any, n: Any) -> Any:
    """Nuttall's four-term window of smallest side lobes.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.nuttall(5)[1:4]
        tensor([0.2270, 1.0000, 0.2270])
    """
    return _cosines(k, n, (0.3635819, 0.4891775, 0.1365995, 0.0106411))


@_signal
def bartlett(k: Any, n: Any) -> Any:
    """The Bartlett window, a triangle: `1 - abs(2 * k / n - 1)`.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.bartlett(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return 1 - np.abs(2 * k / n - 1)


@_signal
def cosine(k: Any, n: Any) -> Any:
    """The cosine window: `sin(pi * (k + 0.5) / (n + 1))`.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.cosine(3)
        tensor([0.5000, 1.0000, 0.5000])
    """
    return np.sin((k + 0.5) * (math.pi / (n + 1)))


@_signal
def exponential(k: Any, n: Any, *, center: float | None = None, tau: float = 1.0) -> Any:
    """The exponential window: `exp(-abs(k - center) / tau)`.

    Args:
        center: where the maximum is; the middle unless given, which a symmetric window does not allow.
        tau: how far from the maximum the window falls to 1/e.

    Raises:
        ValueError: for a `tau` that is not positive, or a `center` of a symmetric window.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.exponential(3)
        tensor([0.3679, 1.0000, 0.3679])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if n < len(k) and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return np.exp(-np.abs(k - (n / 2 if center is None else center)) / tau)


@_signal
def gaussian(k: Any, n: Any, *, std: float = 1.0) -> Any:
    """The Gaussian window: `exp(-((k - n / 2) / std) ** 2 / 2)`.

    Raises:
        ValueError: for a `std` that is not positive.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.gaussian(3)
        tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return np.exp(-(((k - n / 2) / std) ** 2) / 2)


@_signal
def kaiser(k: Any, n: Any, *, beta: float = 12.0) -> Any:
    """The Kaiser window: `i0(beta * sqrt(1 - (2 * k / n - 1) ** 2)) / i0(beta)`. Needs SciPy (the extra `special`).

    Args:
        beta: how narrow the window is: 0 for all ones; a negative one is a ValueError.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.kaiser(3, beta=2.0)
        tensor([0.4387, 1.0000, 0.4387])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _kaiser(k, n, beta)
