"""Window functions: weights that fall off towards the ends of a frame.

These are periodic unless told otherwise, those of `torch.signal.windows` symmetric. All are
computed in double precision and rounded once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.numpy import converted, quiet
from ...base import dtypes
from ...base.dtypes import as_dtype, dtype
from ...core.tensor import Tensor
from ...declare.generate.profiling import noted
from ..create.making import _native, finish

FUNCTIONS = "hann_window hamming_window blackman_window bartlett_window kaiser_window"


def _window(op: str, length: Any, periodic: bool, shape: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
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
    if length < 2:
        values = np.ones(length)
    else:
        with quiet():
            values = shape(np.arange(length, dtype=np.float64), length if periodic else length - 1)
    return finish(converted(values, _native(op, d, device)), requires_grad, device)


def _cosines(k: Any, n: int, *weights: float) -> Any:
    """`a0 - a1 * cos(2 pi k / n) + a2 * cos(4 pi k / n) - ...`."""
    angle = k * (2 * math.pi / n)
    return sum(a * (-1) ** i * np.cos(i * angle) for i, a in enumerate(weights))


def _kaiser(k: Any, n: int, beta: float) -> Any:
    from ..pointwise.exponential import special

    place = 2 * k / n - 1
    return special("i0", beta * np.sqrt(np.maximum(1 - place * place, 0))) / special("i0", beta)


@noted
def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
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
    return _window(
        "hann_window", window_length, periodic, lambda k, n: _cosines(k, n, 0.5, 0.5), dtype, device, requires_grad
    )


@noted
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

    Example::

        >>> import gradpack as torch
        >>> torch.hamming_window(4)
        tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    return _window(
        "hamming_window",
        window_length,
        periodic,
        lambda k, n: _cosines(k, n, alpha, beta),
        dtype,
        device,
        requires_grad,
    )


@noted
def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Blackman window: `0.42 - 0.5 * cos(2 * pi * k / n) + 0.08 * cos(4 * pi * k / n)`.

    Example::

        >>> import gradpack as torch
        >>> torch.blackman_window(4)[1:]
        tensor([0.3400, 1.0000, 0.3400])
    """
    return _window(
        "blackman_window",
        window_length,
        periodic,
        lambda k, n: _cosines(k, n, 0.42, 0.5, 0.08),
        dtype,
        device,
        requires_grad,
    )


@noted
def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The Bartlett window, a triangle: `1 - abs(2 * k / n - 1)`.

    Example::

        >>> import gradpack as torch
        >>> torch.bartlett_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window(
        "bartlett_window", window_length, periodic, lambda k, n: 1 - np.abs(2 * k / n - 1), dtype, device, requires_grad
    )


@noted
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

    Example::

        >>> import gradpack as torch
        >>> torch.kaiser_window(4, True, 2.0)
        tensor([0.4387, 0.8348, 1.0000, 0.8348])
    """
    return _window(
        "kaiser_window", window_length, periodic, lambda k, n: _kaiser(k, n, beta), dtype, device, requires_grad
    )
