"""Distributions on the simplex and on the unit interval: Dirichlet, Beta and Kumaraswamy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..autograd.function import Function, once_differentiable
from ..base.size import Size
from ..core.tensor import Tensor
from ..ops.create.fill_like import full_like
from ..ops.pointwise.rounding import where
from ..ops.random.sampling import _dirichlet_grad, _sample_dirichlet
from ..ops.shape.join import stack
from . import constraints
from ._location_scale import Uniform
from .distribution import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Beta", "Dirichlet", "Kumaraswamy"]


def _Dirichlet_backward(x: Tensor, concentration: Tensor, grad_output: Tensor) -> Tensor:  # noqa: N802 - torch's name
    """The gradient of the concentrations from that of a point of the simplex.

    More concentration moves its own share, whose distribution is a Beta one, and scales the others to make room.
    """
    total = concentration.sum(-1, True).expand_as(concentration)
    return _dirichlet_grad(x, concentration, total) * (grad_output - (x * grad_output).sum(-1, True))


class _Dirichlet(Function):
    """A point of the simplex as a function of its concentrations."""

    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        x = _sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        x, concentration = ctx.saved_tensors
        return _Dirichlet_backward(x, concentration, grad_output)


class Dirichlet(ExponentialFamily):
    """Points of the simplex, with density proportional to the product of `x_i^(a_i - 1)`. Samples need SciPy.

    Args:
        concentration: the `a_i`, along the last dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Dirichlet(torch.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        inside = above / above.sum(-1, True)
        # Without any above 1 the density is greatest in a corner.
        corner = one_hot_like(self.concentration.argmax(-1), self.concentration)
        return where((self.concentration < 1).all(-1, True), corner, inside)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        a = self.concentration
        return a * (total - a) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        a = self.concentration
        return (a - 1.0).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        a = self.concentration
        total = a.sum(-1)
        return (
            a.lgamma().sum(-1)
            - total.lgamma()
            - (a.shape[-1] - total) * total.digamma()
            - ((a - 1.0) * a.digamma()).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Tensor:
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()


def one_hot_like(index: Tensor, like: Tensor) -> Tensor:
    """Ones at these places of the last dimension of a tensor, zeros elsewhere."""
    return full_like(like, 0.0).scatter(-1, index.unsqueeze(-1), 1.0)


class Beta(ExponentialFamily):
    """The beta distribution: density proportional to `x^(concentration1 - 1) * (1 - x)^(concentration0 - 1)`.

    It is the first of two shares under a Dirichlet distribution. Samples need SciPy.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Beta(2.0, 3.0).mean
        tensor(0.4000)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    _parts: ClassVar[dict[str, int]] = {"_dirichlet": 0}

    def __init__(
        self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self._dirichlet = Dirichlet(stack(broadcast_all(concentration1, concentration0), -1), validate_args=False)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    @property
    def concentration1(self) -> Tensor:
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        return self._dirichlet.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Tensor:
        return x.lgamma() + y.lgamma() - (x + y).lgamma()


def harmonic(n: Tensor) -> Tensor:
    """The sum of `1/k` for k up to `n`, extended to all positive numbers."""
    return (n + 1).digamma() + euler_constant


class Kumaraswamy(TransformedDistribution):
    """`P(X <= x) = 1 - (1 - x^a)^b`, with `a = concentration1` and `b = concentration0`: near to a Beta number.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Kumaraswamy(2.0, 3.0).cdf(torch.tensor(0.5))
        tensor(0.5781)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        uniform = Uniform(full_like(self.concentration0, 0), full_like(self.concentration0, 1), validate_args=False)
        # x = (1 - u^(1/b))^(1/a)
        steps = [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(uniform, steps, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        """The expected value of `x^n`."""
        a, b = self.concentration1, self.concentration0
        part = 1 + n / a
        return (part.lgamma() + b.lgamma() - (part + b).lgamma()).exp() * b

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        at = ((a - 1) / (a * b - 1)).clamp(min=0).pow(1 / a)
        return where((a < 1) | (b < 1) | (a * b == 1), full_like(a, float("nan")), at)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return (1 - 1 / b) + (1 - 1 / a) * harmonic(b) - a.log() - b.log()
