"""Operations of weight parametrizations: weight norm, and the Householder reflections of an orthogonal matrix."""

from __future__ import annotations

import numpy as np

from ...base import late
from ...core.tensor import Tensor, wrap
from ..shape.dims import wrap_dim

FUNCTIONS = "norm_except_dim _weight_norm"


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm over all dimensions but one, which keeps its place.

    Args:
        v: the tensor.
        pow: the exponent of the norm.
        dim: the dimension that is left out. -1: none, and the result has no dimensions.

    Raises:
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.norm_except_dim(torch.tensor([[3.0, 4.0], [6.0, 8.0]]))
        tensor([[ 5.],
                [10.]])
    """
    if dim == -1:
        return late.norm(v, pow)
    kept = wrap_dim(dim, v.ndim)
    others = tuple(d for d in range(v.ndim) if d != kept)
    if not others:
        return late.abs(v)
    return late.norm(v, pow, others, True)


def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """`v` with the length `g`.

    Example::

        >>> import gradpack as torch
        >>> torch._weight_norm(torch.tensor([[3.0, 4.0]]), torch.tensor([[10.0]]))
        tensor([[6., 8.]])
    """
    return v * (g / norm_except_dim(v, 2, dim))


def reflections(q: Tensor) -> Tensor:
    """The Householder vectors whose product is a matrix with orthonormal columns: below the diagonal of the result.

    The diagonal says by what signs to multiply the columns of that product.
    """
    packed, tau = np.linalg.qr(q._data, mode="raw")
    out = np.ascontiguousarray(np.swapaxes(packed, -1, -2))
    each = np.arange(min(out.shape[-2:]))
    out[..., each, each] = np.sign(out[..., each, each]) * np.where(tau == 0, -1, 1)
    return wrap(out)
