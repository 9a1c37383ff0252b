"""Faster versions of SciPy's functions for large arrays: `erfinv` of float32, and zeta(2, x), which is trigamma."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels.dispatch import accelerated
from ..pointwise.blockwise import blockwise, is_numpy
from ..pointwise.error_function import _polynomial

_LARGE = 4096  # elements: below this SciPy is as fast

# erfinv(x) / x in powers of w - 2.5 with w = -log((1 - x) (1 + x)), for w < 5: minimax, relative error 5.6e-9.
_INVERSE = (
    1.501409359, 0.2466402862, -0.00417738679, -0.001252741888, 0.0002183444486, -4.963341683e-06, -3.462707615e-06,
    4.661691656e-07, 2.323291376e-08, -8.790937431e-09,
)  # fmt: skip
_CENTRAL = 0.9966  # |x|, up to which w < 5
# zeta(2, x) = 1 / x + 1 / (2 x^2) + the sum of B_2k / x^(2k + 1) with the Bernoulli numbers B_2k, an asymptotic
# series: after _STEPS steps of the recurrence x -> x + 1 its remainder is below 1e-16.
_STEPS = 8
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


@accelerated
def erfinv_of(x: Any, plain: Callable[[Any], Any]) -> Any:
    """The inverse of the error function for large float32 arrays; calls `plain` near +-1, and for other arrays."""
    if not is_numpy(x) or x.dtype.char != "f" or x.size < _LARGE:
        return plain(x)

    def step(x: Any, out: Any, w: Any) -> None:
        np.subtract(1, x, w)
        np.add(x, 1, out)
        np.multiply(w, out, w)
        np.log(w, w)
        np.negative(w, w)
        np.subtract(w, 2.5, w)
        np.multiply(_polynomial(_INVERSE, w), x, out)
        far = np.flatnonzero(~(np.abs(x) <= _CENTRAL))
        if far.size:
            out[far] = plain(x[far])

    return blockwise(step, x, 1)


@accelerated
def lgamma_of(x: Any, plain: Callable[[Any], Any]) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    return plain(x)


@accelerated
def digamma_of(x: Any, plain: Callable[[Any], Any]) -> Any:
    """The derivative of `lgamma_of`."""
    return plain(x)


@accelerated
def trigamma_of(x: Any, plain: Callable[[Any], Any]) -> Any:
    """The derivative of `digamma_of`."""
    return plain(x)


def zeta_two_of(x: Any, plain: Callable[[Any], Any]) -> Any:
    """zeta(2, x) for x of at least 1/2: the sum of `1 / (x + k) ** 2`; calls `plain` unless `x` is large."""
    if not is_numpy(x) or x.dtype.char not in "fd" or x.size < _LARGE:
        return plain(x)
    return blockwise(_zeta_two, np.astype(x, np.float64, copy=False), 3).astype(x.dtype, copy=False)


def _zeta_two(x: Any, out: Any, y: Any, spare: Any, rest: Any) -> None:
    np.square(x, y)
    np.divide(1, y, out)
    for k in range(1, _STEPS):
        np.add(x, k, y)
        np.square(y, y)
        np.divide(1, y, y)
        np.add(out, y, out)
    np.add(x, _STEPS, y)
    np.divide(1, y, y)
    np.square(y, spare)
    np.multiply(_polynomial(_BERNOULLI, spare), spare, rest)  # x times the sum
    np.multiply(y, 0.5, spare)
    np.add(rest, spare, rest)
    np.add(rest, 1, rest)
    np.multiply(rest, y, rest)
    np.add(out, rest, out)
