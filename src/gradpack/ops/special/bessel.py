"""Bessel functions and the Airy function. All but two need SciPy (the extra `special`).

Those that torch differentiates are the modified ones of the first kind: `i0`, `i1` and their scaled forms.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...base import late
from ...declare.annotations import Array
from ...declare.decorators import elementwise, nondifferentiable
from ..pointwise.exponential import special

FUNCTIONS = "i0"
METHODS = "i0"
INPLACE = "i0_"


_special = partial(elementwise, result="float", dtypes="bif", cost="dear")


@_special(input=lambda g, input: g * i1(input))
def i0(input: Array) -> Any:
    """The modified Bessel function of the first kind, of order 0.

    Example::

        >>> import gradpack as torch
        >>> torch.i0(torch.tensor([0.0, 1.0, 2.0]))
        tensor([1.0000, 1.2661, 2.2796])
    """
    return special("i0", input)


@_special(
    input=lambda g, input, out: g * (i1e(input) - late.sign(input) * out),
    name="special_i0e",
    node="SpecialI0EBackward0",
)
def i0e(input: Array) -> Any:
    """`exp(-abs(input)) * i0(input)`.

    Example::

        >>> import gradpack as torch
        >>> torch.special.i0e(torch.tensor([0.0, 1.0, 2.0]))
        tensor([1.0000, 0.4658, 0.3085])
    """
    return special("i0e", input)


@_special(input=lambda g, input, out: g * _slope_i1(input, out), name="special_i1")
def i1(input: Array) -> Any:
    """The modified Bessel function of the first kind, of order 1.

    Example::

        >>> import gradpack as torch
        >>> torch.special.i1(torch.tensor([0.0, 1.0, 2.0]))
        tensor([0.0000, 0.5652, 1.5906])
    """
    return special("i1", input)


@_special(input=lambda g, input, out: g * _slope_i1e(input, out), name="special_i1e", node="SpecialI1EBackward0")
def i1e(input: Array) -> Any:
    """`exp(-abs(input)) * i1(input)`.

    Example::

        >>> import gradpack as torch
        >>> torch.special.i1e(torch.tensor([0.0, 1.0, 2.0]))
        tensor([0.0000, 0.2079, 0.2153])
    """
    return special("i1e", input)


def _slope_i1(x: Any, value: Any) -> Any:
    """`i0(x) - i1(x) / x`, which is 1/2 at 0 (and, as in torch, at NaN)."""
    away = late.gt(late.abs(x), 0)
    safe = late.where(away, x, 1.0)  # so that the branch not taken is finite, and its derivatives are
    return late.where(away, i0(safe) - value / safe, 0.5)


def _slope_i1e(x: Any, value: Any) -> Any:
    away = late.gt(late.abs(x), 0)
    safe = late.where(away, x, 1.0)
    return late.where(away, i0e(safe) - value * (late.sign(safe) + 1 / safe), 0.5)


# -- those without derivatives in torch --


@nondifferentiable(result="float", promote=("x",), dtypes="biF", name="special_airy_ai")
def airy_ai(x: Array) -> Any:
    """The Airy function Ai, which solves `y'' = x * y` and vanishes for large x.

    Example::

        >>> import gradpack as torch
        >>> torch.special.airy_ai(torch.tensor([0.0, 1.0]))
        tensor([0.3550, 0.1353])
    """
    return np.where(np.isinf(x), np.nan, special("airy", x)[0])


@nondifferentiable(result="float", promote=("input",), dtypes="biF", name="special_bessel_j0")
def bessel_j0(input: Array) -> Any:
    """The Bessel function of the first kind, of order 0.

    Example::

        >>> import gradpack as torch
        >>> torch.special.bessel_j0(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 0.7652])
    """
    return np.where(np.isinf(input), np.nan, special("j0", input))


@nondifferentiable(result="float", promote=("input",), dtypes="biF", name="special_bessel_j1")
def bessel_j1(input: Array) -> Any:
    """The Bessel function of the first kind, of order 1.

    Example::

        >>> import gradpack as torch
        >>> torch.special.bessel_j1(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.4401])
    """
    return np.where(np.isinf(input), np.nan, special("j1", input))


@nondifferentiable(result="float", promote=("input",), dtypes="biF", name="special_bessel_y0")
def bessel_y0(input: Array) -> Any:
    """The Bessel function of the second kind, of order 0: -inf at 0, NaN below.

    Example::

        >>> import gradpack as torch
        >>> torch.special.bessel_y0(torch.tensor([0.0, 1.0]))
        tensor([  -inf, 0.0883])
    """
    return np.where(np.isinf(input), np.nan, special("y0", input))


@nondifferentiable(result="float", promote=("input",), dtypes="biF", name="special_bessel_y1")
def bessel_y1(input: Array) -> Any:
    """The Bessel function of the second kind, of order 1: -inf at 0, NaN below.

    Example::

        >>> import gradpack as torch
        >>> torch.special.bessel_y1(torch.tensor([0.0, 1.0]))
        tensor([   -inf, -0.7812])
    """
    return np.where(np.isinf(input), np.nan, special("y1", input))


@nondifferentiable(result="float", promote=("input",), dtypes="biF", name="special_modified_bessel_i0")
def modified_bessel_i0(input: Array) -> Any:
    """The modified Bessel function of the first kind, of order 0: `i0` without a derivative.

    Example::

        >>> import gradpack as torch
        >>> torch.special.modified_bessel_i0(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])
    """
    return special("i0", input)


@nondifferentiable(result="float", promote=("input",), dtypes="biF", name="special_modified_bessel_i1")
def modified_bessel_i1(input: Array) -> Any:
    """The modified Bessel function of the first kind, of order 1: `i1` without a derivative.

    Example::

        >>> import gradpack as torch
        >>> torch.special.modified_bessel_i1(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.5652])
    """
    return special("i1", input)


@nondifferentiable(result="float", promote=("input",), dtypes="biF", name="special_modified_bessel_k0")
def modified_bessel_k0(input: Array) -> Any:
    """The modified Bessel function of the second kind, of order 0: inf at 0, NaN below.

    Example::

        >>> import gradpack as torch
        >>> torch.special.modified_bessel_k0(torch.tensor([0.0, 1.0]))
        tensor([   inf, 0.4210])
    """
    return special("k0", input)


@nondifferentiable(result="float", promote=("input",), dtypes="biF", name="special_modified_bessel_k1")
def modified_bessel_k1(input: Array) -> Any:
    """The modified Bessel function of the second kind, of order 1: inf at 0, NaN below.

    Example::

        >>> import gradpack as torch
        >>> torch.special.modified_bessel_k1(torch.tensor([0.0, 1.0]))
        tensor([   inf, 0.6019])
    """
    return special("k1", input)


@nondifferentiable(result="float", promote=("x",), dtypes="biF", name="special_scaled_modified_bessel_k0")
def scaled_modified_bessel_k0(x: Array) -> Any:
    """`exp(x) * modified_bessel_k0(x)`.

    Example::

        >>> import gradpack as torch
        >>> torch.special.scaled_modified_bessel_k0(torch.tensor([0.0, 1.0]))
        tensor([   inf, 1.1445])
    """
    return special("k0e", x)


@nondifferentiable(result="float", promote=("x",), dtypes="biF", name="special_scaled_modified_bessel_k1")
def scaled_modified_bessel_k1(x: Array) -> Any:
    """`exp(x) * modified_bessel_k1(x)`.

    Example::

        >>> import gradpack as torch
        >>> torch.special.scaled_modified_bessel_k1(torch.tensor([0.0, 1.0]))
        tensor([   inf, 1.6362])
    """
    return special("k1e", x)


@nondifferentiable(result="float", promote=("x",), dtypes="biF", name="special_spherical_bessel_j0")
def spherical_bessel_j0(x: Array) -> Any:
    """The spherical Bessel function of the first kind, of order 0: `sin(x) / x`, and 1 at 0.

    Example::

        >>> import gradpack as torch
        >>> torch.special.spherical_bessel_j0(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 0.8415])
    """
    return np.where(x == 0, 1.0, np.where(np.isinf(x), 0.0, np.sin(x) / x))
