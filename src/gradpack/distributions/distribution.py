"""The base classes of distributions: shapes, argument checks, samples, and `expand`; exponential families."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..autograd import grad
from ..autograd.grad_mode import enable_grad, no_grad
from ..base.size import Size
from ..core.tensor import Tensor
from . import constraints
from .utils import _sum_rightmost, lazy_property

__all__ = ["Distribution", "ExponentialFamily"]


class Distribution:
    """A probability distribution, or a batch of them, over values of the shape `event_shape`.

    Samples have the shape `sample_shape + batch_shape + event_shape`, log-probabilities that without the event.

    Args:
        batch_shape: of independent distributions with parameters of their own.
        event_shape: of one value.
        validate_args: whether parameters and values are checked; if not given, as `set_default_validate_args` said.

    A subclass sets `arg_constraints` and `support` and defines `sample` or `rsample`, `log_prob` and `expand`. Of the
    distributions here, `expand` follows from `arg_constraints`.

    Example::

        >>> import gradpack as torch
        >>> class Coin(torch.distributions.Distribution):
        ...     arg_constraints = {}
        ...     support = torch.distributions.constraints.boolean
        ...     def sample(self, sample_shape=()):
        ...         return torch.randint(0, 2, self._extended_shape(sample_shape)).float()
        ...     def log_prob(self, value):
        ...         self._validate_sample(value)
        ...         return torch.full_like(value, 0.5).log()
        >>> coin = Coin(batch_shape=(3,))
        >>> coin.sample((2,)).shape
        gradpack.Size([2, 3])
        >>> coin.log_prob(torch.tensor([0.0, 1.0, 1.0])).exp()
        tensor([0.5000, 0.5000, 0.5000])
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__

    # Tensors and distributions beside the parameters that `expand` stretches, and their numbers of event dimensions.
    _parts: ClassVar[dict[str, int]] = {}
    # Attributes that `expand` copies unchanged.
    _kept: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions validate their arguments by default.

        Raises:
            ValueError: for what is no bool.
        """
        if value not in (True, False):
            raise ValueError("validate_args should be True or False")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = Size(),
        event_shape: Sequence[int] = Size(),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        try:
            expected = self.arg_constraints
        except NotImplementedError:
            expected = {}
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                "the distribution with `validate_args=False` to turn off validation.",
                UserWarning,
                stacklevel=4,
            )
        for name, constraint in expected.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # made of one that is checked
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with a larger batch, over which parameters are broadcast without copies.

        Args:
            _instance: what a subclass that overrides `expand` has made, to be filled in.
        """
        batch_shape = Size(batch_shape)
        new = self._stretched(batch_shape, _instance)
        return self._with_shapes(new, batch_shape, self._event_shape)

    def _stretched(self, batch_shape: Any, _instance: Any) -> Any:
        """Return an object with the parameters of this one, over a larger batch."""
        owner: Any = next(c for c in type(self).__mro__ if c.__module__.startswith(f"{__package__}."))
        known = owner.arg_constraints
        if known is Distribution.arg_constraints:
            raise NotImplementedError(f"{type(self).__name__} does not define expand()")
        new = self._get_checked_instance(owner, _instance)
        known = known.__get__(self) if isinstance(known, property) else known
        for name, ends in {**{name: c.event_dim for name, c in known.items()}, **self._parts}.items():
            value = self.__dict__.get(name)
            if isinstance(value, Tensor):
                new.__dict__[name] = value.expand(batch_shape + value.shape[value.ndim - ends :])
            elif value is not None:
                new.__dict__[name] = value.expand(batch_shape)
        for name in self._kept:
            new.__dict__[name] = self.__dict__[name]
        return new

    def _with_shapes(self, new: Any, batch_shape: Any, event_shape: Any) -> Any:
        """Another distribution, whose parameters are known to be right, with its shapes."""
        Distribution.__init__(new, batch_shape, event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    if TYPE_CHECKING:  # classes give them as attributes
        arg_constraints: ClassVar[Any]
        support: Any
    else:

        @property
        def arg_constraints(self) -> dict[str, Any]:
            """The constraint of each parameter."""
            raise NotImplementedError(f"{type(self).__name__} does not say what its parameters may be")

        @property
        def support(self) -> Any:
            """The set of values, as a constraint."""
            raise NotImplementedError(f"{type(self).__name__} does not say what its values are")

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        raise self._has_no("mean")

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The expected squared distance from the mean."""
        raise self._has_no("variance")

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Values drawn at random, through which no gradient goes."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Values drawn at random, as differentiable functions of the parameters, where `has_rsample`."""
        raise self._has_no("rsample")

    def sample_n(self, n: int) -> Tensor:
        """Deprecated: `sample((n,))`."""
        warnings.warn("sample_n will be deprecated. Use .sample((n,)) instead", UserWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at a value."""
        raise self._has_no("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values up to this one."""
        raise self._has_no("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The value up to which the probability is this one: the inverse of `cdf`."""
        raise self._has_no("icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution, along a new first dimension.

        Args:
            expand: whether the batch is filled out; else its dimensions have size 1.
        """
        raise self._has_no("enumerate_support")

    def entropy(self) -> Tensor:
        """The expected negative logarithm of the density."""
        raise self._has_no("entropy")

    def perplexity(self) -> Tensor:
        """`exp` of the entropy."""
        return self.entropy().exp()

    def _has_no(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {name}")

    def _extended_shape(self, sample_shape: Sequence[int] = Size()) -> Size:
        """The shape of samples."""
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _check(self, value: Any) -> None:
        """Validate a value if argument checks are enabled."""
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError for what cannot be a value: no tensor, of a wrong shape, outside of the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape = value.shape
        if shape[len(shape) - len(self._event_shape) :] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}.")
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(shape), reversed(expected), strict=False):
            if i != j and 1 not in (i, j):
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                UserWarning,
                stacklevel=4,
            )
            return
        assert support is not None
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """An empty object for `expand` to fill; refused for a subclass whose own parameters would be lost."""
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def __repr__(self) -> str:
        try:
            names = list(self.arg_constraints)
        except NotImplementedError:
            names = []
        given = {name: self.__dict__[name] for name in names if name in self.__dict__}
        shown = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in given.items()]
        return f"{type(self).__name__}({', '.join(shown)})"


class ExponentialFamily(Distribution):
    """A distribution whose entropy and divergences follow from the log-normaliser of its natural parameters.

    Source: Nielsen and Nock, 2010, "Entropies and cross-entropies of exponential families".

    Args:
        batch_shape: of independent distributions with parameters of their own.
        event_shape: of one value.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import ExponentialFamily, Exponential, kl_divergence
        >>> issubclass(Exponential, ExponentialFamily)
        True
        >>> kl_divergence(Exponential(1.0), Exponential(2.0))
        tensor(0.3069)
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        """θ."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its natural parameters are")

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        """A(θ)."""
        raise NotImplementedError(f"{type(self).__name__} has no log-normaliser")

    @property
    def _mean_carrier_measure(self) -> Any:
        """The expected value of log h(x)."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its carrier measure is")

    def _slopes(self) -> tuple[list[Tensor], Tensor, tuple[Tensor, ...]]:
        """Return the natural parameters, A(θ), and its gradient: the expected values of t(x)."""
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        with enable_grad():
            normalizer = self._log_normalizer(*natural)
        return natural, normalizer, grad(normalizer.sum(), natural, create_graph=True)

    def entropy(self) -> Tensor:
        """`A(θ) - θ · ∇A(θ) - E log h(x)`. It does not differentiate by the parameters of the distribution."""
        natural, normalizer, slopes = self._slopes()
        result = normalizer - self._mean_carrier_measure
        for p, slope in zip(natural, slopes, strict=True):
            result = result - _sum_rightmost(p * slope, p.ndim - len(self._batch_shape))
        return result
