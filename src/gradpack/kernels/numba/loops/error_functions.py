"""The error function, its complement and inverse, and the Gaussian error linear unit: loops over float32.

All of the first ones rest on

    erfc(y) exp(y^2) = t Q(t) with t = 1 / (1 + 0.35 y)

for y >= 0, where a polynomial is enough. Coefficients are minimax fits; the comments say what error
is left, relative to the function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions import bits_of_float, exp, exp_beside_1, exp_of_negative, float_of_bits, log_of_normal, with_sign
from .loop import inlined, loop, use_widest_vectors

_f = np.float32
_SQRT_HALF, _INV_SQRT_TWO_PI = _f(0.7071067811865476), _f(0.3989422804014327)


@inlined
def _scaled(y: Any) -> Any:
    """erfc(y) exp(y^2) for y >= 0: 7.4e-9."""
    t = _f(1.0) / (_f(1.0) + _f(0.35) * y)
    q = _f(0.038812855885)
    q = q * t + _f(-0.16122677405)
    q = q * t + _f(0.18703181243)
    q = q * t + _f(-0.03538683173)
    q = q * t + _f(0.093648027115)
    q = q * t + _f(0.1423349208)
    q = q * t + _f(0.15252729689)
    q = q * t + _f(0.18760024254)
    q = q * t + _f(0.1971767783)
    q = q * t + _f(0.19748167933)
    return q * t


@inlined
def _erf_near(x: Any) -> Any:
    """erf(x) for |x| < 0.8: 3e-9."""
    s = x * x
    p = _f(-0.00065352257261)
    p = p * s + _f(0.0050851285083)
    p = p * s + _f(-0.026820805602)
    p = p * s + _f(0.11283112788)
    p = p * s + _f(-0.37612601385)
    p = p * s + _f(0.1283791637)
    return x + x * p


@loop
def erf(x: Any, out: Any) -> None:
    use_widest_vectors()
    for i in range(x.size):
        v = x[i]
        y = abs(v)
        near = _erf_near(y)
        far = _f(1.0) - _scaled(y) * exp_of_negative(-(y * y))
        out[i] = with_sign(near if y < _f(0.8) else far, v)


@loop
def erfc(x: Any, out: Any) -> None:
    """The square of y is made of half of the bits, exactly, and the rest: its error would be multiplied by it."""
    use_widest_vectors()
    for i in range(x.size):
        v = x[i]
        y = abs(v)
        y = _f(10.3) if y > _f(10.3) else y
        high = float_of_bits(bits_of_float(y) & np.int32(-4096))
        rest = exp_beside_1((high - y) * (high + y))
        e = exp(-(high * high))
        far = _scaled(y) * (e + e * rest)
        far = _f(2.0) - far if v < _f(0.0) else far
        out[i] = _f(1.0) - _erf_near(v) if y < _f(0.8) else far


@inlined
def _probability(x: Any, e: Any) -> Any:
    """P(X <= x) of a standard normal X, given exp(-x^2 / 2)."""
    tail = _f(0.5) * _scaled(abs(x) * _SQRT_HALF) * e
    return tail if x < _f(0.0) else _f(1.0) - tail


@loop
def gelu(x: Any, out: Any) -> None:
    """x P(X <= x)."""
    use_widest_vectors()
    for i in range(x.size):
        v = x[i]
        out[i] = v * _probability(v, exp_of_negative(_f(-0.5) * (v * v)))


@loop
def gelu_gradient(g: Any, x: Any, out: Any) -> None:
    """g (P(X <= x) + x exp(-x^2 / 2) / sqrt(2 pi))."""
    use_widest_vectors()
    for i in range(x.size):
        v = x[i]
        e = exp_of_negative(_f(-0.5) * (v * v))
        out[i] = g[i] * (_probability(v, e) + v * (e * _INV_SQRT_TWO_PI))


_CENTRAL = _f(0.9966)  # |x|, up to which w = -log(1 - x^2) is below 5


@loop
def erfinv(x: Any, out: Any) -> None:
    """x times a polynomial in w below 5 (5.6e-9), and above, where few elements are, in sqrt(w) (1.6e-8)."""
    use_widest_vectors()
    far = 0
    for i in range(x.size):
        v = x[i]
        n = _f(-2.5) - log_of_normal((_f(1.0) - v) * (_f(1.0) + v), _f(0.0))
        p = _f(-8.790937431e-09)
        p = p * n + _f(2.323291376e-08)
        p = p * n + _f(4.661691656e-07)
        p = p * n + _f(-3.462707615e-06)
        p = p * n + _f(-4.963341683e-06)
        p = p * n + _f(0.0002183444486)
        p = p * n + _f(-0.001252741888)
        p = p * n + _f(-0.00417738679)
        p = p * n + _f(0.2466402862)
        p = p * n + _f(1.501409359)
        out[i] = v * p
        far += 1 if abs(v) > _CENTRAL else 0
    if far:
        for i in range(x.size):
            if abs(x[i]) > _CENTRAL:
                out[i] = _inverse_far_out(x[i])


@inlined
def _inverse_far_out(x: Any) -> Any:
    """erfinv(x) for `_CENTRAL` < |x| < 1, infinite at 1 and NaN beyond."""
    n = np.sqrt(-log_of_normal((_f(1.0) - x) * (_f(1.0) + x), _f(0.0))) - _f(3.0)
    p = _f(0.00010254061432)
    p = p * n + _f(-0.00029584024789)
    p = p * n + _f(-3.8503487169e-5)
    p = p * n + _f(0.0014678267395)
    p = p * n + _f(-0.0036066406457)
    p = p * n + _f(0.0056936727316)
    p = p * n + _f(-0.0076353514175)
    p = p * n + _f(0.0094444850039)
    p = p * n + _f(1.0016748459)
    p = p * n + _f(2.832976815)
    if abs(x) == _f(1.0):
        return x * _f(np.inf)
    return x * p if abs(x) < _f(1.0) else _f(np.nan)
