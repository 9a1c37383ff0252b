"""Transforms of vectors and matrices: to simplices, triangular factors, correlations and positive definite matrices."""

from __future__ import annotations

import math
from typing import Any

from ..base.info import finfo
from ..core.tensor import Tensor
from ..linalg import cholesky
from ..ops.create.fill import eye
from ..ops.create.ranges import arange
from ..ops.nn.padding import pad
from ..ops.pointwise.activation import softplus
from ..ops.shape.diagonal import tril_indices
from . import constraints
from ._transform import Alike, Transform, check_dim
from ._transforms_pointwise import clipped_sigmoid
from .utils import tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "CorrCholeskyTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "SoftmaxTransform",
    "StickBreakingTransform",
]


class SoftmaxTransform(Alike):
    """Vectors to points of the simplex, by `exp` and scaling. Not a bijection: use `StickBreakingTransform` for one.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.SoftmaxTransform()(torch.tensor([0.0, 2.0]))
        tensor([0.1192, 0.8808])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return x.softmax(-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        check_dim(len(shape), 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Alike):
    """Vectors of n numbers to points of the simplex with n + 1: each number says which share of the rest to break off.

    A zero stands for equal shares, so that zeros map to the centre.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.StickBreakingTransform()(torch.zeros(3))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _offset(like: Tensor) -> Tensor:
        """The log-odds of equal shares: the logarithm of how many pieces come after."""
        n = like.shape[-1]
        return arange(n, 0, -1, dtype=like.dtype, device=like.device).log()

    def _call(self, x: Tensor) -> Tensor:
        share = clipped_sigmoid(x - self._offset(x))
        rest = (1 - share).cumprod(-1)
        return pad(share, [0, 1], value=1) * pad(rest, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        pieces = y[..., :-1]
        rest = (1 - pieces.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return pieces.log() - rest.log() + self._offset(pieces)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # dy_i/dx_i = y_i (1 - share_i), and the Jacobian is triangular.
        return (y[..., :-1].log() - softplus(x - self._offset(x))).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        check_dim(len(shape), 1)
        return shape[:-1] + (shape[-1] + 1,)  # noqa: RUF005 - a Size stays one

    def inverse_shape(self, shape: Any) -> Any:
        check_dim(len(shape), 1)
        return shape[:-1] + (shape[-1] - 1,)  # noqa: RUF005 - a Size stays one


class LowerCholeskyTransform(Alike):
    """Square matrices to triangular ones with a positive diagonal: what is above is dropped, `exp` of the diagonal.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.LowerCholeskyTransform()(torch.tensor([[0.0, 5.0], [2.0, 0.0]]))
        tensor([[1., 0.],
                [2., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Alike):
    """Square matrices to positive definite ones: `L L^T`, with the `L` of `LowerCholeskyTransform`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.PositiveDefiniteTransform()(torch.tensor([[0.0, 5.0], [2.0, 0.0]]))
        tensor([[1., 2.],
                [2., 5.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(cholesky(y))


class CorrCholeskyTransform(Transform):
    """Vectors of n (n - 1) / 2 numbers to Cholesky factors of correlation matrices with n rows.

    Each row is a vector of length 1: its entries below the diagonal are, one after the other, the share `tanh(x)` of
    the length that is left. Source: Lewandowski, Kurowicka and Joe, 2009.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.CorrCholeskyTransform()(torch.zeros(1))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x.dtype).eps
        share = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - share * share).sqrt().cumprod(-1)
        unit = eye(share.shape[-1], dtype=share.dtype, device=share.device)
        return (share + unit) * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad(1 - (y * y).cumsum(-1)[..., :-1], [1, 0], value=1)
        return (tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()).atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # An entry's slope is 1 - tanh², times the length that is left: the half power of 1 - tanh² of those before.
        slope = 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))
        n = y.shape[-1]
        rows, columns = tril_indices(n, n, -1, device=x.device)
        return (slope * (1 + (rows - columns - 1) / 2).to(x.dtype)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        check_dim(len(shape), 1)
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (n, n)  # noqa: RUF005 - a Size stays one

    def inverse_shape(self, shape: Any) -> Any:
        check_dim(len(shape), 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)  # noqa: RUF005 - a Size stays one
