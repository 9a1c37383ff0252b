"""Orthogonal polynomials. Like torch's, they have no derivative.

Each family obeys p[k + 1] = (a * x + b) * p[k] - c * p[k - 1] with numbers a, b and c that depend on k. Elements of
different degrees take these steps together, each up to its degree. Chebyshev polynomials within (-1, 1) are
trigonometric functions, which are used for high degrees.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...declare.annotations import Array
from ...declare.decorators import nondifferentiable
from ..pointwise.operands import is_number

FUNCTIONS = ""


_CHEBYSHEV: dict[str, Callable[..., Any]] = {
    "t": lambda n, angle: np.cos(n * angle),
    "u": lambda n, angle: np.sin((n + 1) * angle) / np.sin(angle),
    "v": lambda n, angle: np.cos((n + 0.5) * angle) / np.cos(angle / 2),
    "w": lambda n, angle: np.sin((n + 0.5) * angle) / np.sin(angle / 2),
}
# The values at 1, and those at -1 without their factor (-1) ** n.
_ENDS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "t": (np.ones_like, np.ones_like),
    "u": (lambda n: n + 1, lambda n: n + 1),
    "v": (np.ones_like, lambda n: 2 * n + 1),
    "w": (lambda n: 2 * n + 1, np.ones_like),
    "p": (np.ones_like, np.ones_like),
}
# The polynomial of degree 1; below, a, b and c of the step from degree k to k + 1.
_FIRST: dict[str, Callable[..., Any]] = {
    "t": lambda x: x,
    "u": lambda x: 2 * x,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
    "h": lambda x: 2 * x,
    "he": lambda x: x,
    "l": lambda x: 1 - x,
    "p": lambda x: x,
}
_STEP: dict[str, Callable[..., Any]] = {
    "h": lambda k: (2, 0, 2 * k),
    "he": lambda k: (1, 0, k),
    "l": lambda k: (-1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1)),
    "p": lambda k: ((2 * k + 1) / (k + 1), 0, k / (k + 1)),
}
_MOST = 2**63  # beyond, and for NaN, a degree counts as a negative one
_LONG = 6  # above this degree by trigonometry, if possible


@nondifferentiable(result="float", promote=("x", "degree"), scalars=True, dtypes="biF")
def _polynomial(x: Array, degree: Array, family: str = "t", shifted: bool = False) -> Any:
    """The polynomial of a family and degree, 0 for a negative degree; with `shifted`, on [0, 1] instead of [-1, 1]."""
    if is_number(degree):
        degree = degree if abs(degree) < _MOST else -1
    if is_number(degree) and not shifted and (family not in _CHEBYSHEV or degree <= _LONG):
        return _climb(x, int(degree), family)
    if is_number(x):
        x = np.asarray(x, dtype=degree.dtype)
    if is_number(degree):
        degree = np.asarray(degree, dtype=x.dtype)
    if shifted:
        x = 2 * x - 1
    x, degree = np.broadcast_arrays(x, np.where(np.abs(degree) < _MOST, np.trunc(degree), -1))
    ladder = np.asarray(degree > 1)
    value = np.where(degree < 0, 0.0, np.where(degree == 0, 1.0, _FIRST[family](x)))
    value = np.asarray(value, dtype=x.dtype)
    if family in ("h", "he"):
        too_high = degree > _limit(x)
        value, ladder = np.where(too_high, np.nan, value), ladder & ~too_high
    if family in _ENDS:
        plus, minus = _ENDS[family]
        end = np.abs(x) == 1
        at_end = np.where(x > 0, plus(degree), minus(degree) * (1 - 2 * np.abs(np.remainder(degree, 2))))
        value, ladder = np.where(end & (degree > 0), at_end, value), ladder & ~end
    if family in _CHEBYSHEV:
        inside = ladder & (np.abs(x) < 1) & (degree > _LONG)
        if np.any(inside):
            angle = np.arccos(np.where(inside, x, 0.5))
            value, ladder = np.where(inside, _CHEBYSHEV[family](degree, angle), value), ladder & ~inside
    if not np.any(ladder):
        return value
    for k, found in enumerate(_ladder(x, int(np.max(np.where(ladder, degree, 1.0))), family), 1):
        value = np.where(ladder & (degree == k), found, value)
    return value


def _ladder(x: Any, n: int, family: str) -> Iterator[Any]:
    """The polynomials of the degrees from 1 to `n`."""
    before, last = np.ones_like(x), _FIRST[family](x)
    step = _STEP.get(family, lambda k: (2, 0, 1))
    yield last
    for k in range(1, n):
        a, b, c = step(k)
        before, last = last, (a * x + b) * last - c * before
        yield last


def _climb(x: Any, n: int, family: str) -> Any:
    """The polynomial of the same degree `n` for all elements."""
    if n < 1 or (family in ("h", "he") and n > _limit(x)):
        return np.full_like(x, 0.0 if n < 0 else 1.0 if n == 0 else np.nan)
    return deque(_ladder(x, n, family), maxlen=1).pop()


def _limit(x: Any) -> int:
    """The degree above which torch returns NaN for Hermite polynomials."""
    return 512 if x.dtype == np.float64 else 128


def _family(name: str, words: str, example: str) -> Any:
    """Make the function of a family, which its name ends with."""
    family, shifted = name.rpartition("_")[2], name.startswith("shifted_")

    def function(x: Any, n: Any, *, out: Any = None) -> Any:
        if out is None:
            return _polynomial(x, n, family, shifted)
        return _polynomial(x, n, family, shifted, out=out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""The {words} of degree `n`, at `x`: 0 for a negative degree.

    Either may be a number. There is no derivative, as in torch.

    Example::

        >>> import gradpack as torch
        >>> torch.special.{name}(torch.tensor([0.5, 2.0]), torch.tensor([2, 3]))
        {example}
    """
    return function


chebyshev_polynomial_t = _family(
    "chebyshev_polynomial_t", "Chebyshev polynomial of the first kind", "tensor([-0.5000, 26.0000])"
)
chebyshev_polynomial_u = _family(
    "chebyshev_polynomial_u", "Chebyshev polynomial of the second kind", "tensor([ 0., 56.])"
)
chebyshev_polynomial_v = _family(
    "chebyshev_polynomial_v", "Chebyshev polynomial of the third kind", "tensor([-1., 41.])"
)
chebyshev_polynomial_w = _family(
    "chebyshev_polynomial_w", "Chebyshev polynomial of the fourth kind", "tensor([ 1., 71.])"
)
shifted_chebyshev_polynomial_t = _family(
    "shifted_chebyshev_polynomial_t", "Chebyshev polynomial of the first kind on [0, 1]", "tensor([-1., 99.])"
)
shifted_chebyshev_polynomial_u = _family(
    "shifted_chebyshev_polynomial_u", "Chebyshev polynomial of the second kind on [0, 1]", "tensor([ -1., 204.])"
)
shifted_chebyshev_polynomial_v = _family(
    "shifted_chebyshev_polynomial_v", "Chebyshev polynomial of the third kind on [0, 1]", "tensor([ -1., 169.])"
)
shifted_chebyshev_polynomial_w = _family(
    "shifted_chebyshev_polynomial_w", "Chebyshev polynomial of the fourth kind on [0, 1]", "tensor([ -1., 239.])"
)
hermite_polynomial_h = _family("hermite_polynomial_h", "physicist's Hermite polynomial", "tensor([-1., 40.])")
hermite_polynomial_he = _family(
    "hermite_polynomial_he", "probabilist's Hermite polynomial", "tensor([-0.7500,  2.0000])"
)
laguerre_polynomial_l = _family("laguerre_polynomial_l", "Laguerre polynomial", "tensor([ 0.1250, -0.3333])")
legendre_polynomial_p = _family("legendre_polynomial_p", "Legendre polynomial", "tensor([-0.1250, 17.0000])")
