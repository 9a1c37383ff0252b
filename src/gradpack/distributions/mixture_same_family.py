"""Mixtures of distributions of one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..autograd.grad_mode import no_grad
from ..base.size import Size
from ..core.tensor import Tensor
from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .utils import same_as

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """One of the components, chosen by a categorical distribution.

    Args:
        mixture_distribution: a `Categorical` over k components.
        component_distribution: a batch of distributions, whose last dimension are the k components.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import Categorical, MixtureSameFamily, Normal
        >>> d = MixtureSameFamily(Categorical(torch.ones(2)), Normal(torch.tensor([-1.0, 1.0]), 0.5))
        >>> d.mean, d.variance
        (tensor(0.), tensor(1.2500))
    """

    arg_constraints: ClassVar[dict[str, Any]] = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        mixture, component = mixture_distribution, component_distribution
        if not isinstance(mixture, Categorical):
            raise ValueError("The Mixture distribution needs to be an instance of torch.distributions.Categorical")
        if not isinstance(component, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        batch, own = mixture.batch_shape, component.batch_shape[:-1]
        if any(a != b for a, b in zip(reversed(batch), reversed(own), strict=False) if 1 not in (a, b)):
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({batch}) is not compatible with "
                f"`component_distribution.batch_shape`({own})"
            )
        n, found = mixture.logits.shape[-1], component.batch_shape[-1]
        if n != found:
            raise ValueError(
                f"`mixture_distribution component` ({n}) does not equal `component_distribution.batch_shape[-1]` "
                f"({found})"
            )
        self._mixture_distribution, self._component_distribution = mixture, component
        super().__init__(own, component.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> MixtureSameFamily:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        batch_shape = Size(batch_shape)
        n = self._component_distribution.batch_shape[-1:]
        new._component_distribution = self._component_distribution.expand(batch_shape + n)
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        return self._with_shapes(new, batch_shape, self.event_shape)

    mixture_distribution = same_as("_mixture_distribution")
    component_distribution = same_as("_component_distribution")

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    def _averaged(self, values: Tensor) -> Tensor:
        """The mean over components of values of the shape of an event."""
        probs = self._mixture_distribution.probs
        n = len(self.event_shape)
        return (probs.reshape(probs.shape + (1,) * n) * values).sum(-1 - n)

    @property
    def mean(self) -> Tensor:
        return self._averaged(self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        # The mean of the variances, and the variance of the means.
        means = self._component_distribution.mean
        apart = means - self.mean.unsqueeze(-1 - len(self.event_shape))
        return self._averaged(self._component_distribution.variance) + self._averaged(apart.pow(2))

    @property
    def _event_ndims(self) -> int:
        return len(self.event_shape)

    @property
    def _num_component(self) -> int:
        return self._component_distribution.batch_shape[-1]

    def _pad(self, x: Any) -> Any:
        """A value for each component alike."""
        return x.unsqueeze(-1 - len(self.event_shape))

    def _pad_mixture_dimensions(self, x: Any) -> Any:
        """Insert dimensions of size 1 in a tensor of one value per component, to broadcast over batch and event."""
        own = len(self._mixture_distribution.batch_shape)
        missing = 0 if own == 1 else len(self.batch_shape) - own
        return x.reshape((*x.shape[:-1], *(1,) * missing, x.shape[-1], *(1,) * len(self.event_shape)))

    def cdf(self, x: Any) -> Tensor:
        each = self._component_distribution.cdf(self._pad(x))
        return (each * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Any) -> Tensor:  # torch's name
        self._check(x)
        each = self._component_distribution.log_prob(self._pad(x))
        return (each + self._mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            n = len(self.event_shape)
            all_components = self._component_distribution.sample(sample_shape)
            chosen = self._mixture_distribution.expand(self.batch_shape).sample(sample_shape)
            index = chosen.reshape(chosen.shape + (1,) * (n + 1))
            index = index.expand((*chosen.shape, 1, *tuple(self.event_shape)))
            return all_components.gather(-1 - n, index).squeeze(-1 - n)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n  {self._mixture_distribution!r},\n  {self._component_distribution!r})"
