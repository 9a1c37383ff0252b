"""Distributions of transformed values, and distributions whose batch counts as part of one value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..autograd.grad_mode import no_grad
from ..base.size import Size
from ..core.tensor import Tensor
from . import constraints
from ._transform import ComposeTransform, Transform
from .distribution import Distribution
from .utils import _sum_rightmost, same_as

__all__ = ["Independent", "TransformedDistribution"]


class Independent(Distribution):
    """A distribution some of whose batch dimensions are dimensions of one value, whose log-probabilities add.

    Args:
        base_distribution: the distribution whose batch dimensions become parts of one value.
        reinterpreted_batch_ndims: how many of the last batch dimensions these are.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import Independent, Normal
        >>> d = Independent(Normal(torch.zeros(4, 3), 1.0), 1)
        >>> d.batch_shape, d.event_shape, d.log_prob(torch.zeros(3)).shape
        (gradpack.Size([4]), gradpack.Size([3]), gradpack.Size([4]))
    """

    arg_constraints: ClassVar[dict[str, Any]] = {}

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        kept = len(base_distribution.batch_shape) - reinterpreted_batch_ndims
        shape = base_distribution.batch_shape + base_distribution.event_shape
        super().__init__(shape[:kept], shape[kept:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Independent:
        new = self._get_checked_instance(Independent, _instance)
        batch_shape = Size(batch_shape)
        new.base_dist = self.base_dist.expand(batch_shape + self.event_shape[: self.reinterpreted_batch_ndims])
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        return self._with_shapes(new, batch_shape, self.event_shape)

    has_rsample = same_as("base_dist.has_rsample")

    @property
    def has_enumerate_support(self) -> Any:
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        inside = self.base_dist.support
        n = self.reinterpreted_batch_ndims
        return constraints.independent(inside, n) if n else inside

    mean: Tensor = same_as("base_dist.mean")
    mode: Tensor = same_as("base_dist.mode")
    variance: Tensor = same_as("base_dist.variance")

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Tensor:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist!r}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The distribution of `transforms` of values of another: `log p(y) = log p(x) - log |dy/dx|`.

    Args:
        base_distribution: the distribution of what is transformed.
        transforms: one, or a list, the first of which is applied first.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import ExpTransform, Normal, TransformedDistribution
        >>> d = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
        >>> d.log_prob(torch.tensor(1.0))
        tensor(-0.9189)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {}
    base_dist: Any

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(self.transforms, list) or not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms}")
        whole = ComposeTransform(self.transforms)
        base = base_distribution
        before = base.batch_shape + base.event_shape
        event_dim = len(base.event_shape)
        if len(before) < whole.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {whole.domain.event_dim}, but got {before}."
            )
        after = whole.forward_shape(before)
        widened = whole.inverse_shape(after)  # parameters of the transforms may have a larger batch
        base = base.expand(widened[: len(widened) - event_dim])
        grouped = whole.domain.event_dim - event_dim
        self.base_dist = Independent(base, grouped) if grouped > 0 else base
        kept = len(after) - max(whole.codomain.event_dim, event_dim + whole.codomain.event_dim - whole.domain.event_dim)
        super().__init__(after[:kept], after[kept:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        batch_shape = Size(batch_shape)
        new = self._stretched(batch_shape, _instance)
        shape = ComposeTransform(self.transforms).inverse_shape(batch_shape + self.event_shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        return self._with_shapes(new, batch_shape, self.event_shape)

    has_rsample = same_as("base_dist.has_rsample")

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        inside = self.transforms[-1].codomain
        missing = len(self.event_shape) - inside.event_dim
        return constraints.independent(inside, missing) if missing > 0 else inside

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return self._mapped(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self._mapped(self.base_dist.rsample(sample_shape))

    def _mapped(self, value: Any) -> Any:
        for t in self.transforms:
            value = t(value)
        return value

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        total: Any = 0.0
        event_dim = len(self.event_shape)
        for t in reversed(self.transforms):
            before = t.inv(value)
            event_dim += t.domain.event_dim - t.codomain.event_dim
            total = total - _sum_rightmost(t.log_abs_det_jacobian(before, value), event_dim - t.domain.event_dim)
            value = before
        return total + _sum_rightmost(self.base_dist.log_prob(value), event_dim - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, probability: Any) -> Any:
        """`P` where the transforms increase, `1 - P` where they decrease."""
        sign = 1
        for t in self.transforms:
            sign = sign * t.sign
        if isinstance(sign, int) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5

    def cdf(self, value: Any) -> Tensor:
        for t in reversed(self.transforms):
            value = t.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Tensor:
        return self._mapped(self.base_dist.icdf(self._monotonize_cdf(value)))
