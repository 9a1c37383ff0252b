"""Elements read, added and compared at indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .loops import places


def read_at(images: Any, weight: Any, index: Any) -> Any:
    """As `ops.nn.grid_sample.read_at`."""
    out = np.empty((*images.shape[:2], index.shape[2]), images.dtype)
    places.read_at(images, weight, index, out)
    return out


def add_at(given: Any, weight: Any, index: Any, count: int) -> Any:
    """As `ops.nn.grid_sample.add_at`."""
    out = np.zeros((*given.shape[:2], count), given.dtype)
    places.add_at(given, weight, index, out)
    return out


def products_at(images: Any, given: Any, index: Any) -> Any:
    """As `ops.nn.grid_sample.products_at`."""
    out = np.zeros(index.shape, images.dtype)
    places.products_at(given, images, index, out)
    return out
