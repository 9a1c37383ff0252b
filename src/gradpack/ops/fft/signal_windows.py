"""The windows of `torch.signal.windows`, symmetric unless told otherwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.numpy import converted, quiet
from ...base import dtypes
from ...base.dtypes import dtype
from ...base.layouts import strided
from ...core.tensor import Tensor
from ..create.making import _native, finish
from .windows import _cosines, _kaiser

FUNCTIONS = ""


def _signal(
    op: str, M: Any, sym: bool, shape: Any, dtype: Any, layout: Any, device: Any, requires_grad: bool
) -> Tensor:
    """`shape(k, n)` for k from 0 to M, where n is the number of steps from end to end."""
    if not hasattr(M, "__index__"):
        raise TypeError(f"{op}(): argument 'M' must be int, not {type(M).__name__}")
    if M < 0:
        raise ValueError(f"{op} requires non-negative window length, got M={M}")
    if layout is not None and layout is not strided:
        raise ValueError(f"{op} is implemented for strided tensors only, got: {layout}")
    d = dtypes.get_default_dtype() if dtype is None else dtype
    if d not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{op} expects float32 or float64 dtypes, got: {d}")
    if M < 2:
        values = np.ones(M)
    else:
        with quiet():
            values = shape(np.arange(M, dtype=np.float64), M - 1 if sym else M)
    return finish(converted(values, _native(op, d, device)), requires_grad, device)


def general_cosine(
    M: int,
    *,
    a: Any,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
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
    return _signal("general_cosine", M, sym, lambda k, n: _cosines(k, n, *a), dtype, layout, device, requires_grad)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`alpha - (1 - alpha) * cos(2 * pi * k / n)`.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.general_hamming(3, alpha=0.7)
        tensor([0.4000, 1.0000, 0.4000])
    """
    return general_cosine(
        M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Hamming window: `0.54 - 0.46 * cos(2 * pi * k / n)`.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.hamming(3)
        tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Hann window: `0.5 - 0.5 * cos(2 * pi * k / n)`.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.hann(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return general_hamming(
        M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Blackman window: a sum of cosines with weights 0.42, 0.5 and 0.08.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.blackman(5)[1:4]
        tensor([0.3400, 1.0000, 0.3400])
    """
    return _signal(
        "blackman", M, sym, lambda k, n: _cosines(k, n, 0.42, 0.5, 0.08), dtype, layout, device, requires_grad
    )


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Nuttall's four-term window of smallest side lobes.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.nuttall(5)[1:4]
        tensor([0.2270, 1.0000, 0.2270])
    """
    weights = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(M, a=weights, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Bartlett window, a triangle: `1 - abs(2 * k / n - 1)`.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.bartlett(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _signal("bartlett", M, sym, lambda k, n: 1 - np.abs(2 * k / n - 1), dtype, layout, device, requires_grad)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The cosine window: `sin(pi * (k + 0.5) / (n + 1))`.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.cosine(3)
        tensor([0.5000, 1.0000, 0.5000])
    """
    return _signal(
        "cosine", M, sym, lambda k, n: np.sin((k + 0.5) * (math.pi / (n + 1))), dtype, layout, device, requires_grad
    )


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The exponential window: `exp(-abs(k - center) / tau)`.

    Args:
        center: where the maximum is; the middle unless given, which a symmetric window does not allow.

    Raises:
        ValueError: for a `tau` that is not positive, or a `center` of a symmetric window.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.exponential(3)
        tensor([0.3679, 1.0000, 0.3679])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _signal(
        "exponential",
        M,
        sym,
        lambda k, n: np.exp(-np.abs(k - (n / 2 if center is None else center)) / tau),
        dtype,
        layout,
        device,
        requires_grad,
    )


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
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
    return _signal(
        "gaussian", M, sym, lambda k, n: np.exp(-(((k - n / 2) / std) ** 2) / 2), dtype, layout, device, requires_grad
    )


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Kaiser window: `i0(beta * sqrt(1 - (2 * k / n - 1) ** 2)) / i0(beta)`. Needs SciPy (the extra `special`).

    Raises:
        ValueError: for a negative `beta`.

    Example::

        >>> import gradpack as torch
        >>> torch.signal.windows.kaiser(3, beta=2.0)
        tensor([0.4387, 1.0000, 0.4387])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _signal("kaiser", M, sym, lambda k, n: _kaiser(k, n, beta), dtype, layout, device, requires_grad)
