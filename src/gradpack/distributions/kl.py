"""The Kullback-Leibler divergence: a table from pairs of classes to formulas.

The formulas are in `_kl_formulas`; here are the table and those that hold for whole kinds of
distributions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from .distribution import Distribution, ExponentialFamily
from .transformed_distribution import Independent, TransformedDistribution
from .utils import _sum_rightmost

__all__ = ["kl_divergence", "register_kl"]

_Formula = Callable[[Any, Any], Any]
_KL_REGISTRY: dict[tuple[type, type], _Formula] = {}
_KL_MEMOIZE: dict[tuple[type, type], _Formula | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """A decorator: the function `f(p, q)` is the divergence of these classes and their subclasses.

    Args:
        type_p: the class of `p`.
        type_q: the class of `q`.

    Raises:
        TypeError: for what is no class.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import Normal, kl_divergence, register_kl
        >>> class Mine(Normal): ...
        >>> @register_kl(Mine, Mine)
        ... def between(p, q):
        ...     return torch.tensor(42.0)
        >>> kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0))
        tensor(42.)
    """
    for label, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):
            raise TypeError(f"Expected {label} to be a class, as of distributions, but got {kind}")

    def decorate(formula: Any) -> Any:
        _KL_REGISTRY[type_p, type_q] = formula
        _KL_MEMOIZE.clear()
        return formula

    return decorate


def _dispatch_kl(type_p: type, type_q: type) -> _Formula | None:
    """The formula of the nearest classes, those of `p` first; a warning where those of `q` first give another."""
    matches = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return None
    by_p = min(matches, key=lambda pair: (_distance(type_p, pair[0]), _distance(type_q, pair[1])))
    by_q = min(matches, key=lambda pair: (_distance(type_q, pair[1]), _distance(type_p, pair[0])))
    chosen = _KL_REGISTRY[by_p]
    if chosen is not _KL_REGISTRY[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({by_p[0].__name__}, "
            f"{by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return chosen


def _distance(kind: type, base: type) -> int:
    """Return the position of a base in the MRO of a class; virtual bases, which only registered it, come last."""
    order = kind.__mro__
    return order.index(base) if base in order else len(order)


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return KL(p || q): the expected value of `log p(x) - log q(x)` under `p`, of the shape of the batch.

    Args:
        p: a distribution.
        q: another one, over the same values.

    Raises:
        NotImplementedError: for classes without a formula.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
        tensor(0.5000)
    """
    kinds = type(p), type(q)
    if kinds not in _KL_MEMOIZE:
        _KL_MEMOIZE[kinds] = _dispatch_kl(*kinds)
    formula = _KL_MEMOIZE[kinds]
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {kinds[0].__name__} and q type {kinds[1].__name__}"
        )
    return formula(p, q)


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p: Any, q: Any) -> Tensor:
    """`A(θq) - A(θp) - (θq - θp) · ∇A(θp)`, for two of one family."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman "
            "divergences"
        )
    natural, normalizer, slopes = p._slopes()
    others = q._natural_params
    result = q._log_normalizer(*others) - normalizer
    for ours, theirs, slope in zip(natural, others, slopes, strict=True):
        result = result - _sum_rightmost((theirs - ours) * slope, theirs.ndim - len(q.batch_shape))
    return result


@register_kl(Independent, Independent)
def _kl_independent_independent(p: Independent, q: Independent) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("the two have different numbers of dimensions that count as parts of a value")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed_transformed(p: TransformedDistribution, q: TransformedDistribution) -> Any:
    """A bijection changes no divergence."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("the two have different transforms, or values of different shapes")
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), extra)
