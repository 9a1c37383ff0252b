"""The grids of places that affine maps make: `affine_grid`."""

from __future__ import annotations

import warnings
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...base import late
from ...base.callers import depth_of_user
from ...core.tensor import Tensor
from ..create.making import beside
from .grid_sample import warn_of_default

FUNCTIONS = "affine_grid_generator"


def affine_grid_generator(theta: Tensor, size: Any, align_corners: bool) -> Any:
    """The grid for `grid_sample` that affine maps of coordinates make: `nn.functional.affine_grid` without its checks.

    Args:
        theta: the matrices: shape (batch, 2, 3) for images, (batch, 3, 4) for volumes.
        size: that of the result of `grid_sample`: (batch, channels, *space).
        align_corners: whether -1 and 1 are the centres of the outermost elements rather than their edges.

    Raises:
        RuntimeError: for a `size` of other than four or five numbers.

    Example::

        >>> import gradpack as torch
        >>> torch.affine_grid_generator(torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]]), (1, 1, 1, 2), True)
        tensor([[[[-1.0000,  0.5000],
                  [ 1.0000,  0.5000]]]])
    """
    space = tuple(int(n) for n in size[2:])
    ndim = len(space)
    if ndim not in (2, 3):
        raise RuntimeError(f"AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs, not size {list(size)}")
    native = theta._data.dtype if theta._spec.numpy and not theta._spec.dtype.low else None
    points = beside(_points(space, bool(align_corners), native), theta).to(theta.dtype)
    return late.reshape(late.matmul(points, theta.mT), (theta._shape[0], *space, ndim))


@lru_cache(64)
def _points(space: tuple[int, ...], align: bool, native: Any) -> Any:
    """The coordinates of all places, the last dimension first, and a one after each."""
    lines = []
    for n in space:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        lines.append(line if align else line * (n - 1) / n)
    whole = np.meshgrid(*lines, indexing="ij")
    made = np.stack([*(np.reshape(w, (-1,)) for w in reversed(whole)), np.ones(prod(space))], axis=1)
    return made if native is None else made.astype(native)


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Any:
    """The grid for `grid_sample` that affine maps (batch, 2, 3), or (batch, 3, 4), of coordinates make.

    Args:
        theta: the matrices: shape (batch, 2, 3) for images, (batch, 3, 4) for volumes. A place (x, y) of the result is
            read at `theta @ (x, y, 1)`.
        size: that of the result of `grid_sample`: (batch, channels, *space).
        align_corners: whether -1 and 1 are the centres of the outermost elements rather than their edges. None: False,
            with a warning.

    Raises:
        ValueError: if the shapes do not fit, or `theta` is not of a floating point dtype.
        NotImplementedError: for a `size` of other than four or five numbers.

    Example::

        >>> import gradpack as torch
        >>> turned = torch.tensor([[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]])  # by 90 degrees
        >>> x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> grid = torch.nn.functional.affine_grid(turned, x.shape, align_corners=True)
        >>> torch.nn.functional.grid_sample(x, grid, align_corners=True)
        tensor([[[[2., 4.],
                  [1., 3.]]]])
    """
    if align_corners is None:
        warn_of_default()
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    ndim = len(size) - 2
    if theta.ndim != 3 or tuple(theta._shape[1:]) != (ndim, ndim + 1):
        raise ValueError(
            f"Expected a batch of {ndim}D affine matrices of shape Nx{ndim}x{ndim + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
            "is not an intended use case of affine_grid. See the documentation of affine_grid for details.",
            stacklevel=depth_of_user(),
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return affine_grid_generator(theta, size, align_corners)
