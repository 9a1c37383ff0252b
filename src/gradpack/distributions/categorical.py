"""Distributions over classes: categorical, one-hot, multinomial, and relaxed one-hot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..autograd.grad_mode import no_grad
from ..base.dtypes import int64
from ..base.info import finfo
from ..base.size import Size
from ..core.tensor import Tensor
from ..ops.create.create import tensor
from ..ops.create.fill import eye
from ..ops.create.fill_like import full_like
from ..ops.pointwise.rounding import where
from ..ops.shape.broadcasting import broadcast_tensors
from . import constraints
from ._counts import Binomial
from ._parametrized import Odds, given
from .dirichlet import one_hot_like
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs, enumerated, same_as, standard_uniform

__all__ = [
    "Categorical",
    "Multinomial",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "RelaxedOneHotCategorical",
]

_EITHER: dict[str, Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}


class Categorical(Odds):
    """A class from 0 on, with the probabilities along the last dimension of `probs`.

    Args:
        probs: numbers proportional to the probabilities, or
        logits: their logarithms, up to a constant.

    Example::

        >>> import gradpack as torch
        >>> d = torch.distributions.Categorical(torch.tensor([1.0, 3.0]))
        >>> d.probs, d.log_prob(torch.tensor(1)).exp()
        (tensor([0.2500, 0.7500]), tensor(0.7500))
    """

    arg_constraints: ClassVar[dict[str, Any]] = _EITHER
    has_enumerate_support = True
    _kept = ("_given", "_num_events")
    _is_binary = False

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._given = given(probs, logits)
        param: Any = logits if probs is None else probs
        if param.ndim < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        if probs is None:
            self.logits = param - param.logsumexp(-1, True)
        else:
            self.probs = probs / probs.sum(-1, True)
        self._num_events = param.shape[-1]
        super().__init__(param.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    def _undefined(self) -> Tensor:
        return full_like(self._param[..., 0], math.nan, requires_grad=False)

    @property
    def mean(self) -> Tensor:
        return self._undefined()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self._undefined()

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        n = math.prod(sample_shape)
        rows = self.probs.reshape(-1, self._num_events).detach()
        if n == 0 or not len(rows):
            return rows.new_empty(self._extended_shape(sample_shape), dtype=int64)
        return rows.multinomial(n, True).T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        index, logits = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return enumerated(self._num_events, self.batch_shape, expand, int64, self._param.device)


class _OfClasses(Distribution):
    """A distribution with the parameters of a categorical one."""

    arg_constraints: ClassVar[dict[str, Any]] = _EITHER
    _parts: ClassVar[dict[str, int]] = {"_categorical": 0}
    _categorical: Categorical

    logits: Tensor = same_as("_categorical.logits")
    probs: Tensor = same_as("_categorical.probs")
    _param = same_as("_categorical._param")
    _new = same_as("_categorical._new")

    param_shape = same_as("_categorical.param_shape")


class OneHotCategorical(_OfClasses):
    """A class as a vector of zeros with a one in its place.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.OneHotCategorical(torch.tensor([0.0, 1.0])).sample()
        tensor([0., 1.])
    """

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits, validate_args=False)
        super().__init__(self._categorical.batch_shape, self.param_shape[-1:], validate_args=validate_args)

    mean: Tensor = same_as("probs")

    @property
    def mode(self) -> Tensor:
        return one_hot_like(self.probs.argmax(-1), self.probs.detach())

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        probs = self.probs.detach().expand(self._extended_shape(sample_shape))
        return one_hot_like(self._categorical.sample(sample_shape), probs)

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        values = eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.reshape((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot samples, through which gradients go as if they were the probabilities. Source: Bengio et al., 2013.

    Example::

        >>> import gradpack as torch
        >>> probs = torch.tensor([0.2, 0.8], requires_grad=True)
        >>> d = torch.distributions.OneHotCategoricalStraightThrough(probs)
        >>> d.rsample().sum().backward()
        >>> probs.grad.shape
        gradpack.Size([2])
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_OfClasses):
    """The number of times that each class is drawn in `total_count` draws.

    Args:
        total_count: a number; the same for the whole batch.

    Example::

        >>> import gradpack as torch
        >>> torch.distributions.Multinomial(4, torch.tensor([1.0, 3.0])).mean
        tensor([1., 3.])
    """

    _kept = ("total_count",)

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self.param_shape[-1:], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = Size(sample_shape)
        with no_grad():
            drawn = self._categorical.sample((self.total_count, *shape)).movedim(0, -1)
            counts = self._param.new_zeros(self._extended_shape(shape))
            return counts.scatter_add_(-1, drawn, counts.new_ones(()).expand(drawn.shape))

    def log_prob(self, value: Any) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        impossible = (value == 0) & (logits == -math.inf)  # 0 * inf, for a class that never comes and did not
        each = where(impossible, 0.0, logits) * value
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + each.sum(-1)

    def entropy(self) -> Tensor:
        n = tensor(self.total_count, dtype=self._param.dtype, device=self._param.device)
        each = Binomial(self.total_count, probs=self.probs, validate_args=False)
        counts = each.enumerate_support(expand=False)[1:]
        expected = (each.log_prob(counts).exp() * (counts + 1).lgamma()).sum((0, -1))  # of log-factorials of the counts
        return n * self._categorical.entropy() - (n + 1).lgamma() + expected


class ExpRelaxedCategorical(_OfClasses):
    """The logarithm of a relaxed one-hot vector: log-softmax of `logits` plus Gumbel numbers, over the temperature.

    Source: Maddison, Mnih and Teh, 2017; Jang, Gu and Poole, 2017.
    """

    support = constraints.real_vector  # of vectors whose exponentials sum to 1
    has_rsample = True
    _kept = ("temperature",)

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self.param_shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        u = clamp_probs(standard_uniform(self._extended_shape(sample_shape), self.logits))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, True)

    def log_prob(self, value: Any) -> Tensor:
        n = self._categorical._num_events
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        scores = logits - value * self.temperature
        density = (scores - scores.logsumexp(-1, True)).sum(-1)
        return density + (n - 1) * self.temperature.log() + math.lgamma(n)


class RelaxedOneHotCategorical(TransformedDistribution):
    """A one-hot vector relaxed to a point of the simplex, through which gradients go.

    Example::

        >>> import gradpack as torch
        >>> d = torch.distributions.RelaxedOneHotCategorical(torch.tensor(1.0), torch.tensor([0.3, 0.7]))
        >>> d.rsample().shape
        gradpack.Size([2])
    """

    arg_constraints: ClassVar[dict[str, Any]] = _EITHER
    support = constraints.simplex
    has_rsample = True

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    temperature: Tensor = same_as("base_dist.temperature")
    logits: Tensor = same_as("base_dist.logits")
    probs: Tensor = same_as("base_dist.probs")
