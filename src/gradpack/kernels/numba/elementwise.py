"""Functions of each element by itself, and of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .loops import dropout, losses


def masked(input: Any, kept: Any, scale: float) -> Any:
    """As `ops.nn.dropped.masked`."""
    out = np.empty_like(input)
    dropout.masked(input.reshape(-1), kept.reshape(-1).view(np.uint8), float(scale), out.reshape(-1))
    return out


def bent_sum(input: Any, target: Any, limit: float) -> Any:
    """As `ops.nn.loss_pointwise.bent_sum`."""
    return np.float32(losses.bent_sum(input.reshape(-1), target.reshape(-1), np.float32(limit)))
