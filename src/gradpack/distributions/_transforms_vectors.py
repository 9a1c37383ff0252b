"""Transforms of vectors and matrices, of the shape, and of the parts of a value, each part by one of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..base.info import finfo
from ..base.size import Size
from ..core.tensor import Tensor
from ..linalg import cholesky
from ..ops.create.fill import eye
from ..ops.create.ranges import arange
from ..ops.nn.padding import pad
from ..ops.pointwise.activation import softplus
from ..ops.shape.diagonal import tril_indices
from ..ops.shape.join import cat, stack
from . import constraints
from ._transform import Alike, Transform, check_dim
from ._transforms_pointwise import clipped_sigmoid
from .utils import _sum_rightmost, needs, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "CatTransform",
    "CorrCholeskyTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "ReshapeTransform",
    "SoftmaxTransform",
    "StackTransform",
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

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
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


class ReshapeTransform(Transform):
    """The last dimensions in another shape.

    Args:
        in_shape: the shape of the last dimensions of the input.
        out_shape: their shape in the result, with as many elements.

    Raises:
        ValueError: if the numbers of elements differ, or an input does not end in `in_shape`.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.ReshapeTransform((2, 3), (6,))(torch.zeros(5, 2, 3)).shape
        gradpack.Size([5, 6])
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    @property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.ndim - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return _reshaped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _reshaped(shape, self.out_shape, self.in_shape)


def _reshaped(shape: Any, before: Any, after: Any) -> Any:
    """Return a shape with its last dimensions replaced."""
    check_dim(len(shape), len(before))
    kept = len(shape) - len(before)
    if tuple(shape[kept:]) != tuple(before):
        raise ValueError(f"Shape mismatch: expected {shape[kept:]} but got {before}")
    return shape[:kept] + after


class _Joined(Transform):
    """Transforms of the parts of a value along a dimension, which `_join` makes a value again."""

    _join: Any

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        self.transforms, self.dim = list(tseq), dim
        alike = all(isinstance(t, Transform) for t in self.transforms)
        needs(alike, "All elements of tseq must be Transform instances")
        super().__init__(cache_size)
        if cache_size:
            self.transforms = [t.with_cache(cache_size) for t in self.transforms]

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)

    def _parts(self, value: Tensor) -> Any:
        """Split a value into the parts that the transforms get."""
        raise NotImplementedError

    def _check_size(self, value: Tensor, n: int, what: str) -> None:
        inside = -value.ndim <= self.dim < value.ndim
        needs(inside, f"dim {self.dim} out of range for tensor with {value.ndim} dimensions")
        found = value.shape[self.dim]
        needs(found == n, f"x.size({self.dim}) = {found} must equal {what} {n}")

    def _constraint(self, parts: list[Any]) -> Any:
        """Return the constraint on a value from those on its parts."""
        raise NotImplementedError

    @property
    def domain(self) -> Any:
        return self._constraint([t.domain for t in self.transforms])

    @property
    def codomain(self) -> Any:
        return self._constraint([t.codomain for t in self.transforms])

    def _call(self, x: Tensor) -> Tensor:
        return self._join([t(part) for t, part in zip(self.transforms, self._parts(x), strict=True)], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._join([t.inv(part) for t, part in zip(self.transforms, self._parts(y), strict=True)], self.dim)

    def with_cache(self, cache_size: int = 1) -> Transform:
        new: Any = super().with_cache(cache_size)
        if new is not self:
            new.transforms = [t.with_cache(cache_size) for t in self.transforms]
        return new


class CatTransform(_Joined):
    """Consecutive parts of a dimension, each by its own transform.

    Args:
        tseq: the transforms: a sequence, one for each part.
        dim: the dimension.
        lengths: how long each part is; each 1 if not given.

    Raises:
        AssertionError: for what is no transform, and for lengths that do not fit the transforms or the input.

    Example::

        >>> import gradpack as torch
        >>> exp, affine = torch.distributions.ExpTransform(), torch.distributions.AffineTransform(1.0, 2.0)
        >>> torch.distributions.CatTransform([exp, affine], lengths=[1, 2])(torch.tensor([0.0, 1.0, 2.0]))
        tensor([1., 3., 5.])
    """

    _join = staticmethod(cat)

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        agree = len(self.lengths) == len(self.transforms)
        needs(agree, f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The length of the dimension."""
        return sum(self.lengths)

    def _constraint(self, parts: list[Any]) -> Any:
        return constraints.cat(parts, self.dim, self.lengths)

    def _parts(self, value: Tensor) -> Any:
        self._check_size(value, self.length, "length")
        return value.split(self.lengths, self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        each = [
            _sum_rightmost(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim)  # of one value, or of many
            for t, a, b in zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        ]
        dim = (self.dim - x.ndim if self.dim >= 0 else self.dim) + self.event_dim  # from the end of the batch
        if dim < 0:
            return cat(each, dim)
        return sum(each[1:], start=each[0])


class StackTransform(_Joined):
    """Slices of a dimension, each by its own transform.

    Args:
        tseq: the transforms: a sequence, one for each slice.
        dim: the dimension.

    Raises:
        AssertionError: for what is no transform, and for an input with another number of slices.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import ExpTransform, StackTransform, identity_transform
        >>> StackTransform([ExpTransform(), identity_transform], dim=1)(torch.zeros(2, 2))
        tensor([[1., 0.],
                [1., 0.]])
    """

    _join = staticmethod(stack)

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def _constraint(self, parts: list[Any]) -> Any:
        return constraints.stack(parts, self.dim)

    def _parts(self, value: Tensor) -> Any:
        self._check_size(value, len(self.transforms), "len(transforms)")
        return value.unbind(self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return stack([t.log_abs_det_jacobian(a, b) for t, a, b in parts], self.dim)
