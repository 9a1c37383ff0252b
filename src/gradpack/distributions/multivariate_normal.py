"""Normal vectors, with any covariance, or with one of low rank and a diagonal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..base.size import Size
from ..core.tensor import Tensor
from ..linalg import cholesky, solve_triangular
from ..ops.create.fill import eye
from ..ops.shape.broadcasting import broadcast_shapes
from . import constraints
from .distribution import Distribution
from .utils import _standard_normal, lazy_property, same_as

__all__ = ["LowRankMultivariateNormal", "MultivariateNormal"]

_LOG_2PI = math.log(2 * math.pi)


def half_log_det(factor: Tensor) -> Tensor:
    """Half of the logarithm of the determinant of `L L^T`."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _batch_mahalanobis(factor: Tensor, x: Tensor) -> Tensor:
    """`x^T (L L^T)^-1 x` for each vector.

    Args:
        factor: L, triangular, over a batch.
        x: over the same batch, after dimensions of samples that share the factors: they become columns.
    """
    batch = factor.ndim - 2
    samples = math.prod(x.shape[: x.ndim - 1 - batch])
    columns = x.reshape((samples, *x.shape[x.ndim - 1 - batch :])).movedim(0, -1)
    squares = solve_triangular(factor, columns, upper=False).square().sum(-2)
    return squares.movedim(-1, 0).reshape(x.shape[:-1])


def _batch_mv(bmat: Tensor, bvec: Tensor) -> Tensor:
    """Products of matrices and vectors."""
    return (bmat @ bvec.unsqueeze(-1)).squeeze(-1)


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The Cholesky factor of the inverse: a factor `U U^T` from the last row up, and `L = U^-T`."""
    upper = cholesky(precision.flip((-2, -1))).flip((-2, -1))
    one = eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return solve_triangular(upper.mT, one, upper=False)


def matrix_given(matrices: dict[str, Any], error: type[Exception] = ValueError) -> str:
    """Return which matrix was given; raise unless it is exactly one, and is a matrix."""
    names = [name for name, value in matrices.items() if value is not None]
    if len(names) != 1:
        raise error(f"Exactly one of {' or '.join(matrices)} may be specified.")
    if matrices[names[0]].ndim < 2:
        raise ValueError(f"{names[0]} must be at least two-dimensional, with optional leading batch dimensions")
    return names[0]


class Covariance(Distribution):
    """A distribution with one of three matrices, from which the others are computed at first use."""

    _unbroadcasted_scale_tril: Tensor  # L of the covariance, with the batch that it was given with

    @lazy_property
    def scale_tril(self) -> Tensor:
        n = self._unbroadcasted_scale_tril.shape[-1]
        return self._unbroadcasted_scale_tril.expand((*self.batch_shape, n, n))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        n = self._unbroadcasted_scale_tril.shape[-1]
        return (self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT).expand((*self.batch_shape, n, n))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        n = self._unbroadcasted_scale_tril.shape[-1]
        return self._unbroadcasted_scale_tril.cholesky_inverse().expand((*self.batch_shape, n, n))

    def _take(self, given: dict[str, Any], batch_shape: Any, n: int) -> None:
        """Keep the matrix that was given, and its factor."""
        (name,) = (name for name, value in given.items() if value is not None)
        matrix = given[name]
        self.__dict__[name] = matrix.expand((*batch_shape, n, n))
        self._matrix = matrix
        self._given = name

    def _factorize(self) -> None:
        """Make the factor, once the matrix was checked."""
        matrix = self.__dict__.pop("_matrix")
        make = {"scale_tril": lambda m: m, "covariance_matrix": cholesky, "precision_matrix": _precision_to_scale_tril}
        self._unbroadcasted_scale_tril = make[self._given](matrix)


class NormalVectors(Distribution):
    """Base class of distributions of normal vectors."""

    support = constraints.real_vector
    has_rsample = True
    loc: Tensor
    mean: Tensor = same_as("loc")
    mode: Tensor = same_as("loc")

    def _half_log_det(self) -> Tensor:
        """Return half of the logarithm of the determinant of the covariance."""
        raise NotImplementedError

    def _distance(self, x: Tensor) -> Tensor:
        """Return `x^T C^-1 x` for the covariance C."""
        raise NotImplementedError

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        return -0.5 * (self._event_shape[0] * _LOG_2PI + self._distance(value - self.loc)) - self._half_log_det()

    def entropy(self) -> Tensor:
        each = 0.5 * self._event_shape[0] * (1.0 + _LOG_2PI) + self._half_log_det()
        return each.expand(self._batch_shape)


class MultivariateNormal(NormalVectors, Covariance):
    """Normal vectors with mean `loc` and a covariance.

    Args:
        loc: of the shape (..., n).
        covariance_matrix: positive definite, (..., n, n), or
        precision_matrix: its inverse, or
        scale_tril: its Cholesky factor, which is the fastest.

    Example::

        >>> import gradpack as torch
        >>> d = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
        >>> d.log_prob(torch.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    _kept = ("_unbroadcasted_scale_tril", "_given")

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        matrix: Any = given[matrix_given(given)]
        batch_shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        n = loc.shape[-1]
        self.loc = loc.expand((*batch_shape, n))
        self._take(given, batch_shape, n)
        super().__init__(batch_shape, (n,), validate_args=validate_args)
        self._factorize()

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        drawn = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, drawn)

    def _half_log_det(self) -> Tensor:
        return half_log_det(self._unbroadcasted_scale_tril)

    def _distance(self, x: Tensor) -> Tensor:
        return _batch_mahalanobis(self._unbroadcasted_scale_tril, x)


def _batch_capacitance_tril(W: Tensor, D: Tensor) -> Tensor:
    """The Cholesky factor of `I + W^T D^-1 W`."""
    inner = (W / D.unsqueeze(-1)).mT @ W
    return cholesky(inner + eye(W.shape[-1], dtype=inner.dtype, device=inner.device))


def _batch_lowrank_logdet(W: Any, D: Tensor, capacitance_tril: Tensor) -> Tensor:
    """The logarithm of the determinant of `W W^T + D`."""
    return 2 * half_log_det(capacitance_tril) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W: Tensor, D: Tensor, x: Tensor, capacitance_tril: Tensor) -> Tensor:
    """`x^T (W W^T + D)^-1 x` for each vector."""
    scaled = x / D
    return (x * scaled).sum(-1) - _batch_mahalanobis(capacitance_tril, _batch_mv(W.mT, scaled))


class LowRankMultivariateNormal(NormalVectors):
    """Normal vectors whose covariance is `W W^T + D`, with few columns in W and a diagonal D.

    All goes by the matrix `I + W^T D^-1 W` of as many rows as W has columns (Woodbury's identity).

    Args:
        loc: of the shape (..., n).
        cov_factor: W, of the shape (..., n, m).
        cov_diag: D, of the shape (..., n).

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import LowRankMultivariateNormal
        >>> d = LowRankMultivariateNormal(torch.zeros(2), torch.tensor([[1.0], [0.0]]), torch.ones(2))
        >>> d.covariance_matrix
        tensor([[2., 0.],
                [0., 1.]])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    _parts: ClassVar[dict[str, int]] = {"covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2}
    _kept = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        n = loc.shape[-1]
        if cov_factor.ndim < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2] != n:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m")
        if cov_diag.shape[-1:] != (n,):
            raise ValueError(f"cov_diag must be a batch of vectors with shape {loc.shape[-1:]}")
        try:
            batch_shape = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc = loc.expand((*batch_shape, n))
        self.cov_diag = cov_diag.expand((*batch_shape, n))
        self.cov_factor = cov_factor.expand(batch_shape + cov_factor.shape[-2:])
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(batch_shape, (n,), validate_args=validate_args)

    @lazy_property
    def variance(self) -> Tensor:
        each = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return each.expand(self._batch_shape + self._event_shape)

    def _expanded(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    def _covariance(self) -> Tensor:
        W = self._unbroadcasted_cov_factor
        return W @ W.mT + self._unbroadcasted_cov_diag.diag_embed()

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return self._expanded(cholesky(self._covariance()))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """`W W^T + D`."""
        return self._expanded(self._covariance())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance: `D^-1 - D^-1 W (I + W^T D^-1 W)^-1 W^T D^-1`."""
        scaled = self._unbroadcasted_cov_factor / self._unbroadcasted_cov_diag.unsqueeze(-1)
        part = solve_triangular(self._capacitance_tril, scaled.mT, upper=False)
        return self._expanded(self._unbroadcasted_cov_diag.reciprocal().diag_embed() - part.mT @ part)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        low = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype, self.loc.device)
        own = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_cov_factor, low) + self._unbroadcasted_cov_diag.sqrt() * own

    def _half_log_det(self) -> Tensor:
        return 0.5 * _batch_lowrank_logdet(None, self._unbroadcasted_cov_diag, self._capacitance_tril)

    def _distance(self, x: Tensor) -> Tensor:
        W, D = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        return _batch_lowrank_mahalanobis(W, D, x, self._capacitance_tril)
