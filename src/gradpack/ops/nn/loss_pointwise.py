"""Losses of each element by itself: with a formula of their own, or composed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import late
from ...base.dtypes import FLOATING
from ...base.errors import cpp_name, not_implemented_for, scalar_type
from ...base.modes import MODE, using
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.batching.batch_tensor import is_batched
from ...declare.decorators import general
from ...declare.dispatch.autocast import in_float32
from ...declare.generate.fusion import looped
from ..pointwise.blockwise import exp_of_negative
from ..reduce.kernels import SMALL, _array_type, add_up
from ..shape.broadcasting import check_broadcast
from .reduction import MEAN, NONE, averaged, check_name, reduce_array, reduced, refuse_gradient, spread_back

FUNCTIONS = "binary_cross_entropy_with_logits kl_div poisson_nll_loss hinge_embedding_loss"

# -- two classes --


def _check_probabilities(op: Any, values: Any, common: Any) -> None:
    wanted, found = values[0]._spec.dtype, values[1]._spec.dtype
    if found is not wanted:
        raise RuntimeError(f"Found dtype {scalar_type(found)} but expected {scalar_type(wanted)}")


def _are_probabilities(values: Any) -> Any:
    """Return whether all elements are from 0 to 1."""
    if type(values) is _array_type and 0 < values.size < SMALL:  # the places of extremes are found fast
        flat = values.reshape(-1)
        return flat[flat.argmin()] >= 0 and flat[flat.argmax()] <= 1
    return np.all((values >= 0) & (values <= 1))


@general(
    input=lambda g, input, target, weight, reduction: _weighted(
        spread_back(g, input.shape, reduction) * (input - target) / late.clamp_min((1 - input) * input, 1e-12), weight
    ),
    target=lambda g, input, weight, reduction: _weighted(
        spread_back(g, input.shape, reduction) * (late.log(1 - input) - late.log(input)), weight
    ),
    check=_check_probabilities,
    dtypes="f",
    autocast="float32",
)
def binary_cross_entropy(input: Array, target: Array, weight: Array = None, reduction: int = MEAN) -> Any:
    """`-(target * log(input) + (1 - target) * log(1 - input))`, both logarithms at least -100.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0]))
        tensor(0.6931)
    """
    for name, values in (("input", input), ("target", target)):
        if not _are_probabilities(values):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    each = (target - 1) * np.maximum(np.log1p(-input), -100) - target * np.maximum(np.log(input), -100)
    return reduce_array(each if weight is None else each * weight, reduction)


def checked_binary_cross_entropy(input: Tensor, target: Tensor, weight: Any, reduction: int) -> Tensor:
    """`binary_cross_entropy`, after a check that the weight requires no grad."""
    refuse_gradient("binary_cross_entropy", weight=weight)
    return binary_cross_entropy(input, target, weight, reduction)


def _check_shapes(op: str, a: Any, b: Any) -> None:
    """Raise the error of a loss, rather than of an operation in it, for shapes that do not broadcast."""
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a._shape != b._shape:
        check_broadcast(op, a, b)


def _weighted(g: Any, weight: Any) -> Any:
    return g if weight is None else g * weight


@general(
    input=lambda g, input, target, weight, pos_weight, reduction: _weighted(
        _logit_slope(
            spread_back(g, _result_shape(input, target, weight, pos_weight), reduction), input, target, pos_weight
        ),
        weight,
    ),
    target=lambda g, input, target, weight, pos_weight, reduction: (
        spread_back(g, _result_shape(input, target, weight, pos_weight), reduction)
        * _weighted(
            -input if pos_weight is None else late.logsigmoid(-input) - pos_weight * late.logsigmoid(input), weight
        )
    ),
    dtypes="f",
    broadcasts=True,
    name="binary_cross_entropy_with_logits",
)
def _with_logits(
    input: Array, target: Array, weight: Array = None, pos_weight: Array = None, reduction: int = MEAN
) -> Any:
    """The loss of two classes by their log-odds; `log(1 + exp(-|x|))` is what never overflows."""
    if pos_weight is None:
        each = looped(_logit_loss, input, target)
    else:
        each = (1 - target) * input + ((pos_weight - 1) * target + 1) * _below(input)
    return reduce_array(each if weight is None else each * weight, reduction)


def _below(input: Any) -> Any:
    """`-log(sigmoid(input))`."""
    return np.maximum(-input, 0) + np.log1p(np.exp(-np.abs(input)))


def _logit_loss(input: Any, target: Any) -> Any:
    return (1 - target) * input + _below(input)


def _logit_slope(g: Any, input: Any, target: Any, pos_weight: Any) -> Any:
    if pos_weight is None and not isinstance(input, Tensor):
        return looped(_distance, input, target, g)
    if pos_weight is None:
        return g * (late.sigmoid(input) - target)
    t = pos_weight * target
    return g * ((t + 1 - target) * late.sigmoid(input) - t)


def _distance(input: Any, target: Any, g: Any) -> Any:
    return g * (1 / (exp_of_negative(input) + 1) - target)


def _result_shape(*operands: Any) -> Any:
    shapes = {tuple(x.shape) for x in operands if x is not None}
    return shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)


@in_float32
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Any = None, pos_weight: Any = None, reduction: int = NONE
) -> Tensor:
    """The cross entropy of two classes whose log-odds are `input`.

    Args:
        target: probabilities of the positive class.
        weight: how much each element counts.
        pos_weight: how much the positive class, target 1, counts beside the other.
        reduction: 0 none, 1 mean, 2 sum.

    Example::

        >>> import gradpack as torch
        >>> torch.binary_cross_entropy_with_logits(torch.tensor([0.0]), torch.tensor([1.0]))
        tensor([0.6931])
    """
    refuse_gradient("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    if input._spec.dtype.category < FLOATING:
        raise not_implemented_for("log_sigmoid_cpu", input._spec.dtype)
    if target._spec.dtype.category < FLOATING:
        raise RuntimeError(
            f"result type {scalar_type(input._spec.dtype)} can't be cast to the desired output type "
            f"{scalar_type(target._spec.dtype)}"
        )
    return _with_logits(input, target, weight, pos_weight, reduction)


# -- distances --


@general(
    input=lambda g, input, target, reduction, beta: _bent_slope(g, input, target, reduction, 1 / beta, 1.0),
    target=lambda g, input, target, reduction, beta: _bent_slope(g, target, input, reduction, 1 / beta, 1.0),
    dtypes="f",
    autocast="float32",
)
def smooth_l1_loss(input: Array, target: Array, reduction: int = MEAN, beta: float = 1.0) -> Any:
    """`d * d / (2 * beta)` for a distance `d` below `beta`, `d - beta / 2` above.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.smooth_l1_loss(torch.tensor([0.5, 3.0]), torch.tensor([0.0, 0.0]), reduction="none")
        tensor([0.1250, 2.5000])
    """
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if reduction == NONE or beta == 0 or input.shape != target.shape:
        return reduce_array(looped(_smooth, input, target, beta), reduction)
    return averaged(bent_sum(input, target, beta) / beta, input.shape, reduction)


@general(
    input=lambda g, input, target, reduction, delta: _bent_slope(g, input, target, reduction, 1, delta),
    target=lambda g, input, target, reduction, delta: _bent_slope(g, target, input, reduction, 1, delta),
    dtypes="f",
    autocast="float32",
)
def huber_loss(input: Array, target: Array, reduction: int = MEAN, delta: float = 1.0) -> Any:
    """`d * d / 2` for a distance `d` up to `delta`, `delta * (d - delta / 2)` above.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.huber_loss(torch.tensor([0.5, 3.0]), torch.tensor([0.0, 0.0]), reduction="none")
        tensor([0.1250, 2.5000])
    """
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if reduction == NONE or input.shape != target.shape:
        return reduce_array(looped(_huber, input, target, delta), reduction)
    return averaged(bent_sum(input, target, delta), input.shape, reduction)


@general(
    input=lambda g, input, target, reduction: (
        spread_back(g, input.shape, reduction) * (target * (late.sigmoid(-target * input) * -1))
    ),
    promote=("input",),
    dtypes="f",
    autocast="float32",
)
def soft_margin_loss(input: Array, target: Array, reduction: int = MEAN) -> Any:
    """`log(1 + exp(-target * input))`, for targets 1 and -1.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.soft_margin_loss(torch.tensor([0.0]), torch.tensor([1.0]))
        tensor(0.6931)
    """
    if np.broadcast_shapes(input.shape, target.shape) != input.shape:
        raise RuntimeError(
            f"soft_margin_loss(): output with shape {list(input.shape)} doesn't match the broadcast shape of a target "
            f"of {list(target.shape)}"
        )
    return reduce_array(_below(target.astype(input.dtype) * input), reduction)


def _smooth(input: Any, target: Any, beta: float) -> Any:
    d = np.abs(input - target)
    inner = np.minimum(d, beta)  # beyond, the product below is a straight line
    return d if beta == 0 else inner * (d - inner * 0.5) * (1 / beta)


def _huber(input: Any, target: Any, delta: float) -> Any:
    d = np.abs(input - target)
    inner = np.minimum(d, delta)
    return inner * (d - inner * 0.5)


def bent_sum(input: Any, target: Any, limit: float) -> Any:
    """The sum of `_huber` over all elements."""
    return add_up(looped(_huber, input, target, limit))


def _bent_slope(g: Any, x: Any, y: Any, reduction: int, factor: float, limit: float) -> Any:
    return looped(_slope_within, x, y, spread_back(g, x.shape, reduction), factor, limit)


def _slope_within(x: Any, y: Any, g: Any, factor: float, limit: float) -> Any:
    return g * late._clamp_to_numbers((x - y) * factor, -limit, limit)


# -- composed, as in torch --


@in_float32
def kl_div(input: Tensor, target: Tensor, reduction: int = NONE, *, log_target: bool = False) -> Tensor:
    """`target * (log(target) - input)`: the divergence of log-probabilities `input` from `target`.

    Example::

        >>> import gradpack as torch
        >>> torch.kl_div(torch.zeros(2), torch.ones(2), 2)
        tensor(0.)
    """
    _check_shapes("kl_div", target, input)
    if input._spec.dtype.category < FLOATING or target._spec.dtype.category < FLOATING:
        raise RuntimeError(
            f"kl_div: Integral inputs not supported: got input of {input.dtype} and target of {target.dtype}"
        )
    each = late.exp(target) * (target - input) if log_target else late.xlogy(target, target) - target * input
    return reduced(each, reduction)


@in_float32
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """The negative log likelihood of counts under Poisson distributions of given rates.

    Args:
        log_input: `input` holds logarithms of rates, else rates.
        full: add Stirling's approximation of `log(target!)`.
        eps: keeps `log(input + eps)` finite.
        reduction: 0 none, 1 mean, 2 sum.

    Example::

        >>> import gradpack as torch
        >>> torch.poisson_nll_loss(torch.zeros(2), torch.ones(2), True, False, 1e-8, 1)
        tensor(1.)
    """
    _check_shapes("poisson_nll_loss", target, input)
    each = late.exp(input) - target * input if log_input else input - target * late.log(input + eps)
    if full:
        stirling = target * late.log(target) - target + 0.5 * late.log(2 * math.pi * target)
        each = each + late.masked_fill(stirling, late.le(target, 1), 0)
    return reduced(each, reduction)


@in_float32
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = NONE) -> Tensor:
    """`input` where `target` is 1, `max(0, margin - input)` where it is -1.

    Example::

        >>> import gradpack as torch
        >>> torch.hinge_embedding_loss(torch.tensor([0.5, 0.5]), torch.tensor([1, -1]))
        tensor([0.5000, 0.5000])
    """
    _check_shapes("hinge_embedding_loss", target, input)
    apart = late.where(late.ne(target, 1), late.clamp_min(margin - input, 0), 0.0)
    together = late.where(late.ne(target, -1), input, 0.0)
    return reduced(apart + together, reduction)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """The negative log likelihood of targets under normal distributions.

    Args:
        input: means.
        var: variances: the shape of `input`, without its last dimension, with one of size 1; or a float.
        full: add the constant `log(2 * pi) / 2`.
        eps: the least variance (gradients ignore this limit).
        reduction: "none", "mean" or "sum".

    Raises:
        ValueError: for negative variances, shapes that do not fit, and an unknown reduction.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.gaussian_nll_loss(torch.zeros(2), torch.ones(2), torch.ones(2))
        tensor(0.5000)
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = late.ones_like(input) * var
    elif not is_batched(var) and bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var._shape != input._shape:
        differing = [b for a, b in zip(input._shape, var._shape, strict=False) if a != b]
        if input._shape[:-1] == var._shape:
            var = late.unsqueeze(var, -1)
        elif input.ndim != var.ndim or differing != [1]:
            raise ValueError("var is of incorrect size")
    check_name(reduction)
    if var._spec.dtype.category < FLOATING:  # torch limits it in place
        raise RuntimeError(f"result type Float can't be cast to the desired output type {cpp_name(var._spec.dtype)}")
    var = limited(var, eps)
    each = 0.5 * (late.log(var) + (input - target) ** 2 / var)
    if full:
        each = each + 0.5 * math.log(2 * math.pi)
    return reduced(each, reduction)


def limited(input: Tensor, least: float) -> Tensor:
    """`input`, at least `least`; the gradient goes through unchanged."""
    mode, out = MODE.get(), late.clone(input)
    if type(out._data) is _array_type and not mode.leaves_fast_path:
        np.maximum(out._data, least, out=out._data)
        out._counter[0] += 1
        return out
    with using(grad=False):
        out.copy_(late.clamp_min(out, least))
    return out
