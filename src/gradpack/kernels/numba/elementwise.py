"""Functions of each element by itself, and of all of them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ..dispatch import HEAVY, PART
from .loops import elementwise as loops
from .loops import error_functions, gamma_functions
from .ranges import Returned, Whole, over, part_of

Plain = Callable[[Any], Any]


def added(a: Any, b: Any, out: Any) -> None:
    """As `kernels.sums.added`."""
    if out is a:
        over(PART, loops.added_to, a, b)
    else:
        over(PART, loops.added, a, b, out)


def added_to_rows(x: Any, numbers: Any, out: Any) -> None:
    """As `kernels.sums.added_to_rows`."""
    if out is x:
        over(PART, loops.added_to_rows, x, numbers)
    else:
        over(PART, loops.rows_and_numbers, x, numbers, out)


def bits_of(x: Any) -> Any:
    """As `ops.pointwise.relu_bits.bits_of`."""
    bits, whole = np.empty(-(-len(x) // 8), np.uint8), len(x) // 8
    over(PART, loops.bits_of, x[: 8 * whole].reshape(-1, 8), bits[:whole])
    bits[whole:] = np.packbits(x[8 * whole :] != 0)
    return bits


def ones_of(bits: Any, count: int, native: Any) -> Any:
    """As `ops.pointwise.relu_bits.ones_of`."""
    ones, whole = np.empty(count, native), count // 8
    over(PART, loops.ones_of, ones[: 8 * whole].reshape(-1, 8), bits[:whole])
    ones[8 * whole :] = np.unpackbits(bits[whole:], count=count - 8 * whole)
    return ones


def masked(input: Any, kept: Any, scale: float) -> Any:
    """As `ops.nn.dropped.masked`."""
    out = np.empty_like(input)
    bits = kept.reshape(-1).view(np.uint8)
    over(PART, loops.masked, input.reshape(-1), bits, float(scale), out.reshape(-1))
    return out


def filled(input: Any, mask: Any, value: Any) -> Any:
    """As `ops.index.masked.filled`."""
    out = np.empty(input.shape, input.dtype)
    x, made, bits = (a.reshape(-1, mask.size) for a in (input, out, mask.view(np.uint8)))
    number = input.dtype.type(value)
    if len(x) == 1:
        over(PART, loops.filled, x[0], bits[0], number, made[0])
    else:
        over(PART, loops.rows_filled, x, Whole(bits[0]), number, made)
    return out


def _of_arrays(loop: Callable[..., None]) -> Callable[..., Any]:
    """A loop over equal arrays as a function that returns its result."""

    def run(first: Any, *others: Any) -> Any:
        out = np.empty(first.shape, first.dtype)
        over(HEAVY, loop, *[a.reshape(-1) for a in (first, *others, out)])
        return out

    return run


erf, erfc = _of_arrays(error_functions.erf), _of_arrays(error_functions.erfc)
gelu, gelu_gradient = _of_arrays(error_functions.gelu), _of_arrays(error_functions.gelu_gradient)


def erfinv(x: Any, plain: Plain) -> Any:
    """As `ops.special.large_arrays.erfinv_of`."""
    return _of_arrays(error_functions.erfinv)(x)


def _returned(loop: Callable[..., int], *args: Any) -> int:
    """Return the sum of what a loop returns for parts of its arrays."""
    first = args[0]
    made = np.zeros((-(-len(first) // part_of(HEAVY, first)), 1), np.int64)
    over(HEAVY, loop, *args, Returned(made))
    return int(made.sum())


def _mostly(loop: Callable[..., int]) -> Callable[..., Any]:
    """A loop as a function that calls the plain one for elements outside of the range of the loop."""

    def run(x: Any, plain: Plain) -> Any:
        out = np.empty(x.shape, x.dtype)
        flat, made = x.reshape(-1), out.reshape(-1)
        if _returned(loop, flat, made):
            rest = np.flatnonzero(~((flat > gamma_functions.LEAST) & (flat < gamma_functions.MOST)))
            made[rest] = plain(flat[rest])
        return out

    return run


lgamma, digamma = _mostly(gamma_functions.lgamma), _mostly(gamma_functions.digamma)
trigamma = _mostly(gamma_functions.trigamma)


def _left(loop: Callable[..., int]) -> Callable[..., Any]:
    """A loop as a function that applies unless an element needs the plain one."""

    def run(x: Any, y: Any) -> Any:
        out = np.empty(x.shape, x.dtype)
        flat, made = x.reshape(-1), out.reshape(-1)
        if isinstance(y, np.ndarray):
            failed = _returned(loop, flat, y.reshape(-1), made)
        else:
            failed = _returned(loop, flat, Whole(np.full(1, y, x.dtype)), made)
        return NotImplemented if failed else out

    return run


remainder, fmod = _left(loops.remainder), _left(loops.fmod)


def gated(input: Any, place: int) -> Any:
    """As `ops.pointwise.gated.gated`."""
    before, half = prod(input.shape[:place]), input.shape[place] // 2
    out = np.empty((*input.shape[:place], half, *input.shape[place + 1 :]), input.dtype)
    over(HEAVY, loops.glu, input.reshape(before, 2, -1), out.reshape(before, -1))
    return out


def gated_backward(input: Any, g: Any, dim: int) -> Any:
    """As `ops.pointwise.gated.gated_backward`."""
    out, before = np.empty(input.shape, input.dtype), prod(input.shape[:dim])
    over(HEAVY, loops.glu_gradient, g.reshape(before, -1), input.reshape(before, 2, -1), out.reshape(before, 2, -1))
    return out


def rectified(input: Any, weight: Any) -> Any:
    """As `ops.pointwise.gated.rectified`."""
    out = np.empty_like(input)
    shape = (-1, weight.size, prod(input.shape[2:])) if weight.size > 1 else (1, 1, -1)
    loops.prelu(input.reshape(shape), weight.reshape(-1), out.reshape(shape))
    return out
