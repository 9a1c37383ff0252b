"""Steps of optimizers: one pass over the arrays of a parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from .loop import exact

NO_DECAY, COUPLED, DECOUPLED = range(3)


@exact
def adam(
    data: Any, grad: Any, mean: Any, square: Any, largest: Any, numbers: Any,
    decay: int, maximize: bool, near: bool, amsgrad: bool,
) -> None:  # fmt: skip
    """Update vectors in place as `optim._kernels._adam` does, in the same order of operations.

    Args:
        numbers: what `optim._kernels._adam_constants` returns after the options, as one array.
        near: whether `1 - beta1` is the smaller one.
        amsgrad: whether there is `largest`; else it has no elements.
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
