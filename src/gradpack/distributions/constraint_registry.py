"""Registries of transforms of all numbers into a constraint: `biject_to` for bijections, `transform_to` for any.

Example::

    >>> import gradpack as torch
    >>> from gradpack.distributions import constraints, transform_to
    >>> transform_to(constraints.interval(0.0, 2.0))(torch.zeros(1))
    tensor([1.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints, transforms
from .constraints import Constraint

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """A table from classes of constraints to what makes the transform of a constraint of that class.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import constraints
        >>> registry = torch.distributions.constraint_registry.ConstraintRegistry()
        >>> @registry.register(constraints.greater_than)
        ... def above(constraint):
        ...     move = torch.distributions.AffineTransform(constraint.lower_bound, 1.0)
        ...     return torch.distributions.ComposeTransform([torch.distributions.ExpTransform(), move])
        >>> registry(constraints.greater_than(2.0))(torch.zeros(1))
        tensor([3.])
    """

    def __init__(self) -> None:
        self._registry: dict[type[Constraint], Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Say what makes the transforms for a class of constraints; without a factory, a decorator of one.

        Raises:
            TypeError: for what is neither a constraint nor a class of them.
        """
        if factory is None:
            return lambda made: self.register(constraint, made)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Any:
        """The transform whose codomain is the constraint.

        Raises:
            NotImplementedError: where none is registered.
        """
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
biject_to.__doc__ = """Return a bijection from all real numbers into a constraint.

Args:
    constraint: the constraint that results satisfy.

Raises:
    NotImplementedError: for a constraint without a bijection, such as `positive_definite`: see `transform_to`.

Example::

    >>> import gradpack as torch
    >>> from gradpack.distributions import biject_to, constraints
    >>> to_simplex = biject_to(constraints.simplex)  # of n numbers, from n - 1
    >>> to_simplex(torch.zeros(2))
    tensor([0.3333, 0.3333, 0.3333])
    >>> to_simplex.inv(to_simplex(torch.zeros(2))).abs() < 1e-6
    tensor([True, True])
"""
transform_to = ConstraintRegistry()
transform_to.__doc__ = """Return a transform from all real numbers into a constraint, for optimization: any, if need be.

Args:
    constraint: the constraint that results satisfy.

Raises:
    NotImplementedError: for a constraint without a transform.

Example::

    >>> import gradpack as torch
    >>> from gradpack.distributions import constraints, transform_to
    >>> free = torch.zeros(3, requires_grad=True)
    >>> weights = transform_to(constraints.simplex)(free)
    >>> weights
    tensor([0.3333, 0.3333, 0.3333], grad_fn=<SoftmaxBackward0>)
    >>> transform_to(constraints.greater_than(2.0))(torch.zeros(2))
    tensor([3., 3.])
"""
__test__ = {"biject_to": biject_to.__doc__, "transform_to": transform_to.__doc__}  # no functions: for doctest


def _both(*kinds: Any) -> Callable[[Any], Any]:
    """Register one factory in both tables."""

    def decorate(factory: Callable[[Any], Any]) -> Callable[[Any], Any]:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return decorate


def _scaled(first: Any, loc: Any, scale: Any) -> Any:
    return transforms.ComposeTransform([first, transforms.AffineTransform(loc, scale)])


@_both(constraints.real)
def _to_real(constraint: Any) -> Any:
    return transforms.identity_transform


@_both(constraints.positive, constraints.nonnegative, constraints.greater_than, constraints.greater_than_eq)
def _to_above(constraint: Any) -> Any:
    if constraint is constraints.positive or constraint is constraints.nonnegative:
        return transforms.ExpTransform()
    return _scaled(transforms.ExpTransform(), constraint.lower_bound, 1)


@_both(constraints.less_than)
def _to_below(constraint: Any) -> Any:
    return _scaled(transforms.ExpTransform(), constraint.upper_bound, -1)


@_both(constraints.interval, constraints.half_open_interval)
def _to_interval(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, int | float) and isinstance(high, int | float) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return _scaled(transforms.SigmoidTransform(), low, high - low)


@_both(constraints.corr_cholesky)
def _to_corr_cholesky(constraint: Any) -> Any:
    return transforms.CorrCholeskyTransform()


biject_to.register(constraints.simplex, lambda _: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda _: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda _: transforms.LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda _: transforms.PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda _: transforms.PositiveDefiniteTransform())


def _of_parts(registry: ConstraintRegistry) -> None:
    """Register transforms of constraints that are made of others."""

    def independent(constraint: Any) -> Any:
        inside = registry(constraint.base_constraint)
        return transforms.IndependentTransform(inside, constraint.reinterpreted_batch_ndims)

    def cat(constraint: Any) -> Any:
        return transforms.CatTransform([registry(c) for c in constraint.cseq], constraint.dim, constraint.lengths)

    def stack(constraint: Any) -> Any:
        return transforms.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)

    registry.register(constraints.independent, independent)
    registry.register(constraints.cat, cat)
    registry.register(constraints.stack, stack)


_of_parts(biject_to)
_of_parts(transform_to)
