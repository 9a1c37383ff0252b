"""Steps of optimizers: one pass over the arrays of all parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import carray

from .loop import by_address
from .native import address_of, data_of, memory_at, read

NO_DECAY, COUPLED, DECOUPLED = range(3)
ARRAYS = 5  # of a parameter; where there are fewer, the last ones are not used
_HEAD, _ROW = 16, 8 * (ARRAYS + 1)  # bytes of a block before the parameters, and for each of them


def _adam(decay: int, maximize: bool, near: bool, amsgrad: bool) -> Callable[..., None]:
    """Return the update of Adam for these options, which machine code then does not look at.

    Args:
        near: whether `1 - beta1` is the smaller one.
        amsgrad: whether there is `largest`.
    """

    def adam(data: Any, grad: Any, mean: Any, square: Any, largest: Any, numbers: Any) -> None:
        """Update vectors in place as `optim._kernels._adam` does, in the same order of operations.

        Args:
            numbers: what `optim._kernels._adam_constants` returns after the options, as one array.
        """
        shrink, weight_decay, smaller_beta1, beta2, one_minus_beta2, eps, rate = numbers
        for i in range(data.size):
            g, x = grad[i], data[i]
            if maximize:
                g = -g
            if decay == DECOUPLED:
                x = x * shrink
            elif decay == COUPLED:
                g = x * weight_decay + g
            work = (g - mean[i]) * smaller_beta1
            m = mean[i] + work if near else g - work
            s = square[i] * beta2 + g * g * one_minus_beta2
            mean[i] = m
            square[i] = s
            if amsgrad:
                most = largest[i]
                if most > s or np.isnan(most):
                    s = most
                largest[i] = s
            data[i] = x - m / (np.sqrt(s) + eps) * rate

    return adam


NONE, FIRST, KEPT = range(3)


def _sgd(decay: bool, maximize: bool, momentum: int, nesterov: bool) -> Callable[..., None]:
    """Return the update of SGD for these options.

    Args:
        momentum: NONE, FIRST where the buffer is to be filled, or KEPT.
    """

    def sgd(data: Any, grad: Any, buffer: Any, _: Any, __: Any, numbers: Any) -> None:
        """Update vectors in place as `optim._kernels._sgd` does, in the same order of operations.

        Args:
            numbers: the learning rate, the weight decay, the momentum and 1 - dampening.
        """
        rate, weight_decay, kept, undamped = numbers
        for i in range(data.size):
            g, x = grad[i], data[i]
            if maximize:
                g = -g
            if decay:
                g = x * weight_decay + g
            if momentum:
                b = g if momentum == FIRST else buffer[i] * kept + g * undamped
                buffer[i] = b
                g = g + b * kept if nesterov else b
            data[i] = x - g * rate

    return sgd


_UPDATES: dict[str, Callable[..., Callable[..., None]]] = {"adam": _adam, "sgd": _sgd}


@cache
def function_of(name: str, char: str, flags: tuple[int, ...]) -> int:
    """Return the address of the function of a range of the elements of all parameters, one after another.

    A block has the number of parameters and the numbers as the address of an array's object; then for each parameter
    the addresses of its arrays' objects, and where its elements end.

    Args:
        name: "adam" or "sgd".
        char: of the numbers.
        flags: the options of the update.
    """
    update = _UPDATES[name](*flags)
    kind, size = np.dtype(char).type, np.dtype(char).itemsize
    inlined = numba.njit(inline="always", error_model="numpy", fastmath=False)(update)
    count_of_numbers = {"adam": 7, "sgd": 4}[name]

    def many(block: int, low: int, high: int) -> None:
        numbers = carray(memory_at(data_of(read(block + 8))), count_of_numbers, kind)
        start = 0
        for i in range(read(block)):
            at = block + _HEAD + _ROW * i
            end = read(at + 8 * ARRAYS)
            first, last = max(low, start), min(high, end)
            if first < last:
                skipped, length = size * (first - start), last - first
                inlined(
                    carray(memory_at(data_of(read(at)) + skipped), length, kind),
                    carray(memory_at(data_of(read(at + 8)) + skipped), length, kind),
                    carray(memory_at(data_of(read(at + 16)) + skipped), length, kind),
                    carray(memory_at(data_of(read(at + 24)) + skipped), length, kind),
                    carray(memory_at(data_of(read(at + 32)) + skipped), length, kind),
                    numbers,
                )
            start = end

    many.__name__ = many.__qualname__ = f"many_{name}_{char}_{''.join(map(str, flags))}"
    return address_of(by_address(many, False))
