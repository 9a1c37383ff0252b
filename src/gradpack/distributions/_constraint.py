"""The base class of constraints; constraints with parameters, and constraints composed of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.tensor import Tensor
from ..ops.shape.join import cat as _join
from ..ops.shape.join import stack as _stack
from .utils import needs, same_as


class Constraint:
    """A set of values. `check` says of each whether it lies inside.

    Attributes:
        is_discrete: whether the set is one of separate points.
        event_dim: of how many of the last dimensions one value is made.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> class _Even(constraints.Constraint):
        ...     is_discrete = True
        ...     def check(self, value):
        ...         return value % 2 == 0
        >>> even = _Even()
        >>> even, even.check(torch.tensor([1.0, 2.0, 4.0]))
        (Even(), tensor([False,  True,  True]))
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Tensor) -> Tensor:
        """A bool for each value, of the shape of `value` without its last `event_dim` dimensions."""
        raise NotImplementedError(f"{type(self).__name__} does not say what lies inside: define check(value)")

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}({self._inside()})"

    def _inside(self) -> str:
        """Return the text between the parentheses of `repr`."""
        return ""


def _all_rightmost(value: Tensor, dim: int) -> Tensor:
    """Whether all are true of the last `dim` dimensions."""
    return value.all(tuple(range(-dim, 0))) if dim else value


class _Dependent(Constraint):
    """A constraint that depends on other parameters and cannot be checked by itself.

    Called, `dependent` returns a copy for which more is known.

    Args:
        is_discrete: whether the set is one of separate points; if not given, asking for it raises NotImplementedError.
        event_dim: of how many of the last dimensions one value is made; if not given, likewise.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> constraints.is_dependent(torch.distributions.Uniform.support)
        True
        >>> known = constraints.dependent(is_discrete=False, event_dim=1)
        >>> known.event_dim
        1
        >>> known.check(torch.ones(2))
        Traceback (most recent call last):
            ...
        ValueError: Cannot determine validity of dependent constraint
    """

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> Any:
        return _known("is_discrete", self._is_discrete)

    @property
    def event_dim(self) -> Any:
        return _known("event_dim", self._event_dim)

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """Return a copy with other known properties."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, x: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def _known(name: str, value: Any) -> Any:
    if value is NotImplemented:
        raise NotImplementedError(f".{name} cannot be determined statically")
    return value


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other parameters, so that it cannot be checked by itself.

    Args:
        constraint: the constraint.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> uniform = torch.distributions.Uniform(0.0, 2.0)
        >>> constraints.is_dependent(uniform.support), uniform.support
        (False, Interval(lower_bound=0.0, upper_bound=2.0))
        >>> constraints.is_dependent(torch.distributions.Uniform.support)
        True
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that gives a constraint: of an instance the constraint, of the class one that depends.

    Args:
        fn: the getter: from the instance to a constraint. Without it, a decorator is returned.
        is_discrete: whether the set is one of separate points, if that is known of the class.
        event_dim: of how many of the last dimensions one value is made, if that is known of the class.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> class Below:
        ...     def __init__(self, high):
        ...         self.high = high
        ...     @constraints.dependent_property(is_discrete=False, event_dim=0)
        ...     def support(self):
        ...         return constraints.less_than(self.high)
        >>> Below(3.0).support
        LessThan(upper_bound=3.0)
        >>> constraints.is_dependent(Below.support), Below.support.event_dim
        (True, 0)
    """

    def __init__(
        self,
        fn: Callable[[Any], Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Callable[[Any], Any]) -> Any:  # type: ignore[override]
        """Decorate a getter, keeping `is_discrete` and `event_dim`."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def _checked(constraint: Any) -> Any:
    kind = type(constraint).__name__
    needs(isinstance(constraint, Constraint), f"base_constraint must be a Constraint, got {kind}")
    return constraint


class _IndependentConstraint(Constraint):
    """A set whose values are blocks of values of another: its last dimensions count as parts of one value.

    Args:
        base_constraint: the constraint on each part.
        reinterpreted_batch_ndims: how many dimensions more belong to one value.

    Raises:
        AssertionError: for what is no constraint, and a number that is no int or negative.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> vector = constraints.independent(constraints.positive, 1)
        >>> vector.check(torch.tensor([[1.0, 2.0], [1.0, -2.0]]))
        tensor([ True, False])
        >>> vector.event_dim
        1
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        n = reinterpreted_batch_ndims
        self.base_constraint = _checked(base_constraint)
        needs(isinstance(n, int), f"reinterpreted_batch_ndims must be an int, got {type(n).__name__}")
        needs(n >= 0, f"reinterpreted_batch_ndims must be >= 0, got {n}")
        self.reinterpreted_batch_ndims = n

    is_discrete = same_as("base_constraint.is_discrete")

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        if result.ndim < self.reinterpreted_batch_ndims:
            expected = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.ndim}")
        return _all_rightmost(result, self.reinterpreted_batch_ndims)

    def _inside(self) -> str:
        return f"{self.base_constraint!r}, {self.reinterpreted_batch_ndims}"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: the values that lie in the support of the components.

    Args:
        base_constraint: the support of the components, whose number is the size of their last batch dimension.

    Raises:
        AssertionError: if it is no constraint.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import Categorical, Exponential, MixtureSameFamily
        >>> mixture = MixtureSameFamily(Categorical(torch.ones(2)), Exponential(torch.tensor([1.0, 5.0])))
        >>> mixture.support
        MixtureSameFamilyConstraint(GreaterThanEq(lower_bound=0.0))
        >>> mixture.support.check(torch.tensor([0.5, -0.5]))
        tensor([ True, False])
    """

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = _checked(base_constraint)

    is_discrete = same_as("base_constraint.is_discrete")
    event_dim = same_as("base_constraint.event_dim")

    def check(self, value: Tensor) -> Tensor:
        """Whether each value lies in the support of all components, which are the first dimension before an event."""
        each = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.ndim < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        return _all_rightmost(each, each.ndim - (value.ndim - self.event_dim))

    def _inside(self) -> str:
        return repr(self.base_constraint)


class _OfParts(Constraint):
    """A constraint on each part of a value along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq = list(cseq)
        needs(all(isinstance(c, Constraint) for c in self.cseq), "All elements of cseq must be Constraint instances")
        self.dim = dim

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def _each(self, value: Tensor) -> list[Tensor]:
        """Check each part."""
        inside = -value.ndim <= self.dim < value.ndim
        needs(inside, f"dim {self.dim} out of range for value with {value.ndim} dimensions")
        return [c.check(v) for c, v in zip(self.cseq, self._parts(value), strict=True)]

    def _parts(self, value: Tensor) -> Any:
        raise NotImplementedError


class _Cat(_OfParts):
    """Parts of a value along a dimension, each of which lies in a set of its own.

    Args:
        cseq: the constraints, one for each part.
        dim: the dimension that the parts are joined along.
        lengths: the size of each part; each 1 if not given.

    Raises:
        AssertionError: for what is no constraint, and another number of lengths than of constraints.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> both = constraints.cat([constraints.positive, constraints.unit_interval], dim=-1, lengths=[1, 2])
        >>> both.check(torch.tensor([5.0, 0.5, 2.0]))
        tensor([ True,  True, False])
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        agree = len(self.lengths) == len(self.cseq)
        needs(agree, f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    def _parts(self, value: Tensor) -> Any:
        return value.split(self.lengths, self.dim)

    def check(self, value: Tensor) -> Tensor:
        return _join(self._each(value), self.dim)


class _Stack(_OfParts):
    """Slices of a value along a dimension, each of which lies in a set of its own.

    Args:
        cseq: the constraints, one for each slice.
        dim: the dimension that the slices are stacked along.

    Raises:
        AssertionError: for what is no constraint.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> both = constraints.stack([constraints.positive, constraints.unit_interval], dim=-1)
        >>> both.check(torch.tensor([[5.0, 0.5], [-5.0, 2.0]]))
        tensor([[ True,  True],
                [False, False]])
    """

    @property
    def event_dim(self) -> int:
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def _parts(self, value: Tensor) -> Any:
        return value.unbind(self.dim)

    def check(self, value: Tensor) -> Tensor:
        return _stack(self._each(value), self.dim)
