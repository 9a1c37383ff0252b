"""The base class of transforms, inverse transforms, and compositions: in sequence, or over blocks."""

from __future__ import annotations

import copy
import math
import weakref
from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from . import constraints
from .utils import _sum_rightmost, same_as

__all__ = ["ComposeTransform", "IndependentTransform", "Transform", "identity_transform"]


class Transform:
    """A differentiable map with a known inverse and a known log-determinant of its Jacobian.

    A subclass defines `domain`, `codomain` and `bijective`, `_call`, `_inverse` and `log_abs_det_jacobian`; if it goes
    up or down everywhere, `sign` too. `t(x)` maps, `t.inv(y)` maps back.

    Args:
        cache_size: 1 keeps the last pair of `x` and `y`, for inverses that are costly or inexact.

    Example::

        >>> import gradpack as torch
        >>> t = torch.distributions.AffineTransform(1.0, 2.0)
        >>> t.inv(t(torch.tensor([1.0, 2.0])))
        tensor([1., 2.])
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        _check_cache_size(cache_size)
        self._cache_size = cache_size
        self._inv: Any = None
        self._last: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """The number of dimensions of one value; a transform that changes it raises ValueError."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse. It holds this transform, which knows it weakly: `t.inv.inv is t`."""
        found = None if self._inv is None else self._inv()
        if found is None:
            found = self._make_inverse()
            self._inv = weakref.ref(found)
        return found

    def _make_inverse(self) -> Transform:
        return _InverseTransform(self)

    @property
    def sign(self) -> Any:
        """1 or -1 for transforms that increase or decrease, as a number or a tensor."""
        raise NotImplementedError(f"{type(self).__name__} does not go up or down everywhere")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with another size of cache."""
        if self._cache_size == cache_size:
            return self
        _check_cache_size(cache_size)
        new = copy.copy(self)
        new._cache_size, new._last = cache_size, (None, None)
        return new

    def __eq__(self, other: object) -> bool:
        return self is other

    def __call__(self, x: Any) -> Any:
        """The value that `x` is mapped to."""
        if not self._cache_size:
            return self._call(x)
        if self._last[0] is not x or x is None:
            self._last = x, self._call(x)
        return self._last[1]

    def _inv_call(self, y: Any) -> Any:
        if not self._cache_size:
            return self._inverse(y)
        if self._last[1] is not y or y is None:
            self._last = self._inverse(y), y
        return self._last[0]

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say what it maps to: define _call(x)")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """`log |dy/dx|` for each value, where `y` is what `x` is mapped to."""
        raise NotImplementedError(f"{type(self).__name__} has no density to map")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward_shape(self, shape: Any) -> Any:
        """The shape of what a tensor of a shape is mapped to."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of what is mapped to a tensor of a shape."""
        return shape


def _check_cache_size(cache_size: int) -> None:
    if cache_size not in (0, 1):
        raise ValueError("cache_size must be 0 or 1")


class Alike(Transform):
    """A transform without parameters: all of a class are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))


class _InverseTransform(Transform):
    """The inverse of a transform, which it asks for everything."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    domain = same_as("_inv.codomain")
    codomain = same_as("_inv.domain")
    bijective = same_as("_inv.bijective")
    sign = same_as("_inv.sign")
    inv = same_as("_inv")

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)


def _widened(constraint: Any, event_dim: int) -> Any:
    """A constraint on values of more dimensions."""
    missing = event_dim - constraint.event_dim
    return constraints.independent(constraint, missing) if missing > 0 else constraint


class ComposeTransform(Transform):
    """Transforms one after the other, the first of the list first.

    Args:
        parts: the transforms: a sequence.
        cache_size: 1 keeps the latest input and result of each part, 0 keeps nothing.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import AffineTransform, ComposeTransform, ExpTransform
        >>> ComposeTransform([AffineTransform(0.0, 2.0), ExpTransform()])(torch.zeros(2))
        tensor([1., 1.])
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @property
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real
        event_dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim = max(event_dim + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return _widened(self.parts[0].domain, event_dim)

    @property
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real
        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim = max(event_dim + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _widened(self.parts[-1].codomain, event_dim)

    @property
    def bijective(self) -> bool:
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        return math.prod(part.sign for part in self.parts)

    def _make_inverse(self) -> Transform:
        made = ComposeTransform([part.inv for part in reversed(self.parts)])
        made._inv = weakref.ref(self)
        return made

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return ComposeTransform([part.with_cache(cache_size) for part in self.parts], cache_size)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return x * 0
        total: Any = 0
        event_dim = self.domain.event_dim
        for part in self.parts:
            after = y if part is self.parts[-1] else part(x)
            total = total + _sum_rightmost(part.log_abs_det_jacobian(x, after), event_dim - part.domain.event_dim)
            event_dim += part.codomain.event_dim - part.domain.event_dim
            x = after
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        inside = ",\n    ".join(map(repr, self.parts))
        return f"{type(self).__name__}(\n    {inside}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform over blocks of values: the last dimensions become part of one value, whose log-determinants add.

    Args:
        base_transform: the transform of each part.
        reinterpreted_batch_ndims: how many dimensions more belong to one value.

    Example::

        >>> import gradpack as torch
        >>> t = torch.distributions.IndependentTransform(torch.distributions.ExpTransform(), 1)
        >>> x = torch.tensor([1.0, 2.0])
        >>> t.log_abs_det_jacobian(x, t(x))
        tensor(3.)
    """

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @property
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    bijective = same_as("base_transform.bijective")
    sign = same_as("base_transform.sign")

    def _call(self, x: Tensor) -> Any:
        check_dim(x.ndim, self.domain.event_dim)
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Any:
        check_dim(y.ndim, self.codomain.event_dim)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)


def check_dim(ndim: int, least: int) -> None:
    """Raise for a value of fewer dimensions than one value has."""
    if ndim < least:
        raise ValueError("Too few dimensions on input")
