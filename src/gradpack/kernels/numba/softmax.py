"""Softmax along the last dimension, its logarithm, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .loops import softmax as loops


def _of_rows(loop: Callable[..., None]) -> Callable[..., Any]:
    """A loop over the rows of one matrix or two as a function of arrays, and of the last dimension."""

    def run(*given: Any) -> Any:
        arrays = given[:-1]
        out = np.empty(arrays[0].shape, arrays[0].dtype)
        loop(*(a.reshape(-1, a.shape[-1]) for a in (*arrays, out)))
        return out

    return run


softmax, log_softmax = _of_rows(loops.softmax), _of_rows(loops.log_softmax)
softmax_slope, log_softmax_slope = _of_rows(loops.softmax_gradient), _of_rows(loops.log_softmax_gradient)
