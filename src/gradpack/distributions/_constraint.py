"""The base class of constraints; constraints with parameters, and constraints composed of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.tensor import Tensor
from ..ops.shape.join import cat as _join
from ..ops.shape.join import stack as _stack
from .utils import same_as


class Constraint:
    """A set of values. `check` says of each whether it lies inside.

    Attributes:
        is_discrete: whether the set is one of separate points.
        event_dim: of how many of the last dimensions one value is made.
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
    """A constraint that depends on other parameters and cannot be checked by itself."""

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
    """Whether a constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that gives a constraint: of an instance the constraint, of the class one that depends."""

    def __init__(self, fn: Callable[[Any], Any] | None = None, **known: Any) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, **known)

    def __call__(self, fn: Any = None, **known: Any) -> Any:
        """Decorate a getter, keeping `is_discrete` and `event_dim`."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A set whose values are blocks of values of another: its last dimensions count as parts of one value."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        assert isinstance(base_constraint, Constraint)
        assert isinstance(reinterpreted_batch_ndims, int) and reinterpreted_batch_ndims >= 0
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

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
    """The support of a mixture: what lies in the support of the components, which `base_constraint` is."""

    def __init__(self, base_constraint: Constraint) -> None:
        assert isinstance(base_constraint, Constraint)
        self.base_constraint = base_constraint

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
        assert all(isinstance(c, Constraint) for c in cseq)
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def _each(self, value: Tensor) -> list[Tensor]:
        """Check each part."""
        assert -value.ndim <= self.dim < value.ndim
        return [c.check(v) for c, v in zip(self.cseq, self._parts(value), strict=True)]

    def _parts(self, value: Tensor) -> Any:
        raise NotImplementedError


class _Cat(_OfParts):
    """Parts of a value along a dimension, each of which lies in a set of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        assert len(self.lengths) == len(self.cseq)

    def _parts(self, value: Tensor) -> Any:
        return value.split(self.lengths, self.dim)

    def check(self, value: Tensor) -> Tensor:
        return _join(self._each(value), self.dim)


class _Stack(_OfParts):
    """Slices of a value along a dimension, each of which lies in a set of its own."""

    @property
    def event_dim(self) -> int:
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def _parts(self, value: Tensor) -> Any:
        return value.unbind(self.dim)

    def check(self, value: Tensor) -> Tensor:
        return _stack(self._each(value), self.dim)
