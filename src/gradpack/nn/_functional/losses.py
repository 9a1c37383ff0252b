"""Losses of `torch.nn.functional`: what the operations compute, with reductions by name and torch's old flags."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.nn import loss, loss_pointwise
from ...ops.nn.reduction import NONE, check_name, legacy, number_of, reduced, refuse_gradient, same_size
from ...ops.pointwise.activation import logsigmoid
from ...ops.shape.broadcasting import broadcast_tensors, check_broadcast
from .._public import give_all


def _weighted(op: Any, input: Tensor, target: Tensor, weight: Tensor, reduction: str, *options: Any) -> Tensor:
    """The losses of elements times their weights; the mean is that by weight, for the Huber loss the plain one.

    Raises:
        ValueError: for an unknown reduction, and for weights of another shape.
    """
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    each: Tensor = op(input, target, NONE, *options) * weight
    if reduction == "mean":
        return each.mean() if op is _huber_loss else each.sum() / weight.sum()
    if reduction not in ("none", "sum"):
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    return each.sum() if reduction == "sum" else each


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The squared difference `(input - target) ** 2`.

    Args:
        input: the values.
        target: what they should be: of the same shape, or one that broadcasts, with a warning.
        size_average, reduce: older forms of `reduction`.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.
        weight: how much each element counts: the shape of `input`; None for ones.

    Raises:
        RuntimeError: for shapes that do not broadcast.
        ValueError: for another `reduction`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)
        >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]), reduction="none")
        tensor([0., 4.])
    """
    same_size(input, target)
    reduction = legacy(size_average, reduce, reduction)
    if weight is None:
        return loss.mse_loss(input, target, number_of(reduction))
    return _weighted(loss.mse_loss, input, target, weight, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute difference `|input - target|`.

    Args:
        input: the values.
        target: what they should be: of the same shape, or one that broadcasts, with a warning.
        size_average, reduce: older forms of `reduction`.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.
        weight: how much each element counts: the shape of `input`; None for ones.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)
    """
    same_size(input, target)
    reduction = legacy(size_average, reduce, reduction)
    if weight is None:
        return loss.l1_loss(input, target, number_of(reduction))
    return _weighted(loss.l1_loss, input, target, weight, reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """`d * d / (2 * beta)` where `d` is less than `beta`, else `d - beta / 2`, for the distance `d = abs(input -
    target)`.

    Args:
        target: what `input` should be: of the same shape, or one that broadcasts, with a warning.
        size_average, reduce: older forms of `reduction`.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.
        beta: the distance at which the loss turns from quadratic to linear; not negative.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.smooth_l1_loss(torch.tensor([3.0]), torch.tensor([0.0]))
        tensor(2.5000)
        >>> torch.nn.functional.smooth_l1_loss(torch.tensor([0.5, 3.0]), torch.zeros(2), reduction="none")
        tensor([0.1250, 2.5000])
    """
    same_size(input, target)
    reduction = legacy(size_average, reduce, reduction)
    if input._shape != target._shape:
        check_broadcast("smooth_l1_loss", input, target)
        input, target = broadcast_tensors(input, target)
    if beta == 0.0:
        return loss.l1_loss(input, target, number_of(reduction))
    return loss_pointwise.smooth_l1_loss(input, target, number_of(reduction), beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """`d * d / 2` where `d` is at most `delta`, else `delta * (d - delta / 2)`, for the distance `d = abs(input -
    target)`.

    Args:
        target: what `input` should be: of the same shape, or one that broadcasts, with a warning.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.
        delta: the distance at which the loss turns from quadratic to linear; positive.
        weight: how much each element counts: the shape of `input`; None for ones.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.huber_loss(torch.tensor([3.0]), torch.tensor([0.0]), delta=2.0)
        tensor(4.)
        >>> torch.nn.functional.huber_loss(torch.tensor([0.5, 3.0]), torch.zeros(2), reduction="none")
        tensor([0.1250, 2.5000])
    """
    same_size(input, target)
    if weight is None:
        return _huber_loss(input, target, number_of(reduction), delta)
    return _weighted(_huber_loss, input, target, weight, reduction, delta)


def _huber_loss(input: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    if input._shape != target._shape:
        check_broadcast("huber_loss", input, target)
        input, target = broadcast_tensors(input, target)
    return loss_pointwise.huber_loss(input, target, reduction, delta)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of counts under Poisson distributions: `exp(input) - target * input`.

    Args:
        input: logarithms of the rates.
        target: the counts.
        log_input: False if `input` has the rates themselves: `input - target * log(input + eps)`.
        full: add Stirling's approximation of `log(target!)` where `target` is greater than 1: `target * log(target) -
            target + 0.5 * log(2 * pi * target)`.
        eps: what is added to rates before their logarithm.

    Raises:
        ValueError: for another `reduction`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.poisson_nll_loss(torch.zeros(2), torch.ones(2))
        tensor(1.)
        >>> torch.nn.functional.poisson_nll_loss(torch.tensor([2.0]), torch.tensor([3.0]), log_input=False, full=True)
        tensor(1.6846)
    """
    reduction = legacy(size_average, reduce, reduction)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss_pointwise.poisson_nll_loss(input, target, log_input, full, eps, number_of(reduction))


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`input` where `target` is 1, else `max(0, margin - input)`: -1 is the other target.

    Args:
        input: distances.
        target: 1 for what belongs together and -1 for what does not: of a shape that broadcasts.
        margin: the distance from which on there is no loss for what does not belong together.
        size_average, reduce: older forms of `reduction`.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.hinge_embedding_loss(torch.tensor([0.5]), torch.tensor([-1]))
        tensor(0.5000)
    """
    number = number_of(legacy(size_average, reduce, reduction))
    return loss_pointwise.hinge_embedding_loss(input, target, margin, number)


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """`log(1 + exp(-target * input))`, for targets 1 and -1.

    Args:
        target: 1 or -1 for each element.
        size_average, reduce: older forms of `reduction`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.soft_margin_loss(torch.tensor([0.0]), torch.tensor([1.0]))
        tensor(0.6931)
    """
    refuse_gradient("soft_margin_loss", target=target)
    return loss_pointwise.soft_margin_loss(input, target, number_of(legacy(size_average, reduce, reduction)))


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of the cross entropy of each being there or not.

    Args:
        input: scores of C classes: shape (N, C), or (C).
        target: 1 for classes that are there, 0 for others: of the same shape.
        weight: how much each class counts, shape (C); None for ones.
        size_average, reduce: older forms of `reduction`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.multilabel_soft_margin_loss(torch.zeros(1, 3), torch.ones(1, 3))
        tensor(0.6931)
    """
    reduction = legacy(size_average, reduce, reduction)
    each = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        each = each * weight
    each = each.sum(input.ndim - 1) / input.size(input.ndim - 1)
    check_name(reduction)
    return reduced(each, reduction)


give_all(globals())
