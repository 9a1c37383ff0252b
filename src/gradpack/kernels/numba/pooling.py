"""Maxima over windows of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from .loops import pools


def max_with_codes(x: Any, geometry: Any) -> tuple[Any, Any]:
    """As `ops.conv.pool_kernels.max_with_codes`."""
    shape = (*x.shape[:-2], *geometry[-1])
    best, code = np.empty(shape, x.dtype), np.empty(shape, np.uint8)
    pools.maxima(_images(x), *_numbers(geometry), _images(best), _images(code))
    return best, code


def max_place(g: Any, code: Any, size: Any, geometry: Any) -> Any:
    """As `ops.conv.pool_kernels.max_place`."""
    out = np.zeros((*g.shape[:-2], *size), g.dtype)
    pools.put_back(_images(g), _images(code), *_numbers(geometry), _images(out))
    return out


def _images(x: Any) -> Any:
    return x.reshape(-1, *x.shape[-2:])


def _numbers(geometry: Any) -> Any:
    """Kernel, stride, padding and dilation as arrays."""
    return (np.array(v, np.int64) for v in geometry[:4])
