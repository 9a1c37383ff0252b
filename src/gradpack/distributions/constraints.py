"""Sets that parameters and values are to lie in, and how to tell whether they do.

Example::

    >>> import gradpack as torch
    >>> from gradpack.distributions import constraints
    >>> constraints.positive.check(torch.tensor([1.0, -1.0]))
    tensor([ True, False])
"""

from __future__ import annotations

from typing import Any

from ..base.dtypes import bool_
from ..base.info import finfo
from ..base.parts import adopt_parts
from ..core.tensor import Tensor
from ..linalg import cholesky_ex, eigvalsh, vector_norm
from ..ops.create.fill import full
from ._constraint import (
    Constraint,
    MixtureSameFamilyConstraint,
    _Cat,
    _Dependent,
    _DependentProperty,
    _IndependentConstraint,
    _Stack,
    is_dependent,
)

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


class _Bounded(Constraint):
    """A set given by its bounds."""

    def _inside(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in vars(self).items())


class _Lower(_Bounded):
    """Above a bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound


class _Upper(_Bounded):
    """Below a bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound


class _Between(_Bounded):
    """Between two bounds."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound


class _IntegerInterval(_Between):
    """Integers between two bounds, which belong to them.

    Args:
        lower_bound: the lower bound: a number or a tensor.
        upper_bound: the upper bound: a number or a tensor.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> constraints.integer_interval(1, 6).check(torch.tensor([0.0, 1.0, 2.5, 6.0]))
        tensor([False,  True, False,  True])
    """

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound) & (value <= self.upper_bound)


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
    """Numbers above a bound.

    Args:
        lower_bound: the lower bound: a number or a tensor.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> constraints.greater_than(1.0).check(torch.tensor([0.0, 1.0, 2.0]))
        tensor([False, False,  True])
    """

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_Lower):
    """Numbers from a bound on.

    Args:
        lower_bound: the lower bound: a number or a tensor.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> constraints.greater_than_eq(1.0).check(torch.tensor([0.0, 1.0, 2.0]))
        tensor([False,  True,  True])
    """

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound <= value


class _LessThan(_Upper):
    """Numbers below a bound.

    Args:
        upper_bound: the upper bound: a number or a tensor.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> constraints.less_than(1.0).check(torch.tensor([0.0, 1.0, 2.0]))
        tensor([ True, False, False])
    """

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Between):
    """Numbers between two bounds, which belong to them.

    Args:
        lower_bound: the lower bound: a number or a tensor.
        upper_bound: the upper bound: a number or a tensor.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> constraints.interval(0.0, torch.tensor([1.0, 2.0])).check(torch.tensor([1.5, 1.5]))
        tensor([False,  True])
    """

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers from a bound on, below another.

    Args:
        lower_bound: the lower bound: a number or a tensor.
        upper_bound: the upper bound: a number or a tensor.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> constraints.half_open_interval(0.0, 1.0).check(torch.tensor([0.0, 0.5, 1.0]))
        tensor([ True,  True, False])
    """

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    """Vectors of numbers from zero on that sum to one."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts that sum to a bound, or to less.

    Args:
        upper_bound: the largest sum.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> constraints.multinomial(3).check(torch.tensor([[1.0, 2.0], [2.0, 2.0]]))
        tensor([ True, False])
    """

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
        return (value.tril() == value).all((-2, -1))


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
        return value.isclose(value.mT, atol=1e-6).all((-2, -1)) if square.all() else square


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

adopt_parts(__name__)
