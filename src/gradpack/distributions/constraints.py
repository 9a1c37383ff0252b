"""Sets that parameters and values are to lie in, and how to tell whether they do.

Example::

    >>> import gradpack as torch
    >>> from gradpack.distributions import constraints
    >>> constraints.positive.check(torch.tensor([1.0, -1.0]))
    tensor([ True, False])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base.dtypes import bool_
from ..base.info import finfo
from ..linalg import cholesky_ex, eigvalsh, vector_norm
from ..ops.compare import isclose
from ..ops.fill import full
from ..ops.join import cat as _join
from ..ops.join import stack as _stack
from ..tensor.tensor import Tensor

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


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
        """What stands in the parentheses of the text."""
        return ""


class _Dependent(Constraint):
    """A set that depends on other parameters, so that nothing can be checked by itself."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> Any:
        return _known("is_discrete", self._is_discrete)

    @property
    def event_dim(self) -> Any:
        return _known("event_dim", self._event_dim)

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """The same with what is known of it."""
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

    def __init__(
        self,
        fn: Callable[[Any], Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Any = None, **known: Any) -> Any:
        """A decorator with what is known of the constraint."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A set whose values are blocks of values of another: its last dimensions count as parts of one value."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        assert isinstance(base_constraint, Constraint)
        assert isinstance(reinterpreted_batch_ndims, int) and reinterpreted_batch_ndims >= 0
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        if result.ndim < self.reinterpreted_batch_ndims:
            expected = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.ndim}")
        kept = result.ndim - self.reinterpreted_batch_ndims
        return result.reshape((*result.shape[:kept], -1)).all(-1)

    def _inside(self) -> str:
        return f"{self.base_constraint!r}, {self.reinterpreted_batch_ndims}"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: what lies in the support of the components, which `base_constraint` is."""

    def __init__(self, base_constraint: Constraint) -> None:
        assert isinstance(base_constraint, Constraint)
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        """Whether each value lies in the support of all components, which are the first dimension before an event."""
        each = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.ndim < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        kept = value.ndim - self.event_dim
        return each.reshape((*each.shape[:kept], -1)).all(-1)

    def _inside(self) -> str:
        return repr(self.base_constraint)


class _Boolean(Constraint):
    """0 or 1."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors of zeros with a one."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Lower(Constraint):
    """Above a bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def _inside(self) -> str:
        return f"lower_bound={self.lower_bound}"


class _Upper(Constraint):
    """Below a bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def _inside(self) -> str:
        return f"upper_bound={self.upper_bound}"


class _Between(Constraint):
    """Between two bounds."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def _inside(self) -> str:
        return f"lower_bound={self.lower_bound}, upper_bound={self.upper_bound}"


class _IntegerInterval(_Between):
    """Integers between two bounds, which belong to them."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegerLessThan(_Upper):
    """Integers up to a bound."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Lower):
    """Integers from a bound on."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Real(Constraint):
    """All numbers, not NaN."""

    def check(self, value: Tensor) -> Tensor:
        return value == value  # noqa: PLR0124 - false for NaN


class _GreaterThan(_Lower):
    """Numbers above a bound."""

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_Lower):
    """Numbers from a bound on."""

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound <= value


class _LessThan(_Upper):
    """Numbers below a bound."""

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Between):
    """Numbers between two bounds, which belong to them."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers from a bound on, below another."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    """Vectors of numbers from zero on that sum to one."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts that sum to a bound, or to less."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, x: Tensor) -> Tensor:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    """Matrices with zeros above the diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlation matrices: their rows have length 1."""

    def check(self, value: Tensor) -> Tensor:
        tolerance = finfo(value.dtype).eps * value.shape[-1] * 10  # ten roundings for each entry of a row
        lengths = vector_norm(value.detach(), dim=-1)
        return ((lengths - 1).abs() <= tolerance).all(-1) & super().check(value)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=bool_, device=value.device)


class _Symmetric(_Square):
    """Symmetric matrices."""

    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        return isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1) if square.all() else square


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return (eigvalsh(value) >= 0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with positive eigenvalues only."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return cholesky_ex(value).info.eq(0) if symmetric.all() else symmetric


class _Cat(Constraint):
    """Parts of a value along a dimension, each of which lies in a set of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        assert all(isinstance(c, Constraint) for c in cseq)
        self.cseq = list(cseq)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        assert len(self.lengths) == len(self.cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        assert -value.ndim <= self.dim < value.ndim
        parts = value.split(self.lengths, self.dim)
        return _join([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(Constraint):
    """Slices of a value along a dimension, each of which lies in a set of its own."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        assert all(isinstance(c, Constraint) for c in cseq)
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        assert -value.ndim <= self.dim < value.ndim
        slices = value.unbind(self.dim)
        return _stack([c.check(v) for c, v in zip(self.cseq, slices, strict=True)], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
