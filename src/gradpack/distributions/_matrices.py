"""Distributions of matrices: covariances (Wishart) and Cholesky factors of correlations (LKJ)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

from ..autograd.grad_mode import no_grad
from ..base.info import finfo
from ..base.size import Size
from ..core.tensor import Tensor
from ..linalg import cholesky, slogdet
from ..ops.create.ranges import arange
from ..ops.pointwise.rounding import where
from ..ops.random.floats import randn
from ..ops.random.sampling import _standard_gamma
from ..ops.shape.broadcasting import broadcast_shapes
from ..ops.shape.join import cat
from . import constraints
from .dirichlet import Beta
from .distribution import Distribution, ExponentialFamily
from .multivariate_normal import Covariance, half_log_det, matrix_given
from .utils import broadcast_all

__all__ = ["LKJCholesky", "Wishart"]


class Wishart(Covariance, ExponentialFamily):
    """The sum of `df` products `x x^T` of normal vectors with a covariance: positive definite matrices.

    Args:
        df: the degrees of freedom, above n - 1.
        covariance_matrix: of the shape (..., n, n), or
        precision_matrix: its inverse, or
        scale_tril: its Cholesky factor.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Wishart(torch.tensor(3.0), torch.eye(2)).mean
        tensor([[3., 0.],
                [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _kept = ("_unbroadcasted_scale_tril", "_given")
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Tensor | float,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        matrix: Any = given[matrix_given(given, AssertionError)]
        (df,) = broadcast_all(df) if isinstance(df, Tensor) else (matrix.new_tensor(df),)
        n = matrix.shape[-1]
        batch_shape = broadcast_shapes(df.shape, matrix.shape[:-2])
        self.df = df.expand(batch_shape)
        if (self.df <= n - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        self._take(given, batch_shape, n)
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        if (self.df < n).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                UserWarning,
                stacklevel=2,
            )
        self._factorize()

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    @property
    def _n(self) -> int:
        return self._event_shape[-1]

    @property
    def mean(self) -> Tensor:
        return self.df.reshape((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._n - 1
        factor = where(factor > 0, factor, math.nan)
        return factor.reshape((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.reshape((*self._batch_shape, 1, 1)) * (covariance.pow(2) + products)

    def _drawn(self, shape: Any) -> Tensor:
        """`(L A) (L A)^T`, with χ roots on the diagonal of A and normal numbers below (Bartlett, 1933)."""
        n = self._n
        dtype, device = self._unbroadcasted_scale_tril.dtype, self._unbroadcasted_scale_tril.device
        freedom = self.df.unsqueeze(-1) - arange(n, dtype=dtype, device=device)
        squares = 2 * _standard_gamma((freedom / 2).expand(shape[:-1])).clamp(min=finfo(dtype).tiny)
        below = randn(shape, dtype=dtype, device=device).tril(-1)
        root = self._unbroadcasted_scale_tril @ (below + squares.sqrt().diag_embed())
        return root @ root.mT

    def rsample(self, sample_shape: Sequence[int] = Size(), max_try_correction: int | None = None) -> Tensor:
        """Matrices drawn at random.

        Args:
            max_try_correction: how often matrices that are singular by rounding are drawn again; 3, or 10 without
                dimensions of a batch or of samples.
        """
        shape = self._extended_shape(sample_shape)
        drawn = self._drawn(shape)
        tries = max_try_correction
        if tries is None:
            tries = 3 if len(shape) > 2 else 10
        singular = ~self.support.check(drawn)
        if singular.any():
            warnings.warn("Singular sample detected.", UserWarning, stacklevel=2)
            for _ in range(tries):
                drawn = where(singular.unsqueeze(-1).unsqueeze(-1), self._drawn(shape), drawn)
                singular = ~self.support.check(drawn)
                if not singular.any():
                    break
        return drawn

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        n, df = self._n, self.df
        trace = value.cholesky_solve(self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1)
        log_det = slogdet(value).logabsdet
        return 0.5 * ((df - n - 1) * log_det - trace) - self._log_scale(df) - (df / 2).mvlgamma(n)

    def _log_scale(self, df: Tensor) -> Tensor:
        """Return the part of the log normaliser outside the multivariate gamma function."""
        return df * (half_log_det(self._unbroadcasted_scale_tril) + 0.5 * self._n * math.log(2))

    def entropy(self) -> Tensor:
        n, df = self._n, self.df
        steps = arange(n, dtype=df.dtype, device=df.device) / 2
        slope = ((df / 2).unsqueeze(-1) - steps).digamma().sum(-1)
        scale = (n + 1) * (half_log_det(self._unbroadcasted_scale_tril) + 0.5 * n * math.log(2))
        return scale + (df / 2).mvlgamma(n) - 0.5 * (df - n - 1) * slope + 0.5 * n * df

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -0.5 * self.precision_matrix, 0.5 * (self.df - self._n - 1)

    def _log_normalizer(self, x: Any, y: Any) -> Tensor:
        n = self._n
        half = y + 0.5 * (n + 1)
        return half * (n * math.log(2) - 2 * half_log_det(cholesky(-2 * x))) + half.mvlgamma(n)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices, with density of the matrix proportional to `det^(concentration - 1)`.

    Concentration 1 makes all correlation matrices alike. Source: Lewandowski, Kurowicka and Joe, 2009.

    Args:
        dim: of how many rows the matrices are.

    Example::

        >>> import gradpack as torch
        >>> d = torch.distributions.LKJCholesky(3, 0.5)
        >>> L = d.sample()
        >>> torch.allclose((L @ L.T).diagonal(), torch.ones(3))
        True
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _kept = ("dim",)

    def __init__(self, dim: int, concentration: Tensor | float = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def _below(self) -> tuple[Tensor, Tensor]:
        """Return how many entries rows but the first have below the diagonal, and the beta parameter of the rest."""
        c = self.concentration
        count = arange(1, self.dim, dtype=c.dtype, device=c.device)
        return count, c.unsqueeze(-1) + 0.5 * (self.dim - 1 - count)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            count, rest = self._below()
            # Of a row, the squared length before the diagonal is a Beta number, and its direction is uniform.
            share = Beta(count / 2, rest, validate_args=False).sample(shape[: len(shape) - len(rest.shape) - 1])
            share = cat([share.new_zeros((*shape[:-2], 1)), share], -1).unsqueeze(-1)
            below = randn(shape, dtype=share.dtype, device=share.device).tril(-1)
            length = below.norm(dim=-1, keepdim=True)
            direction = below / where(length > 0, length, 1.0)
            diagonal = (1 - share).clamp(min=finfo(share.dtype).tiny).sqrt()
            return direction * share.sqrt() + diagonal.squeeze(-1).diag_embed()

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        count, rest = self._below()
        powers = self.dim - 1 - count + 2 * (self.concentration.unsqueeze(-1) - 1)
        diagonal = value.diagonal(dim1=-2, dim2=-1)[..., 1:]
        # Each row is a vector in a ball of `count` dimensions, with the density (1 - r²)^(rest - 1).
        balls = 0.5 * count * math.log(math.pi) + rest.lgamma() - (rest + 0.5 * count).lgamma()
        return (powers * diagonal.log()).sum(-1) - balls.sum(-1)
