"""Losses of `torch.nn.functional`: what the operations compute, with reductions by name and torch's old flags."""

from __future__ import annotations

from typing import Any

from ...base.callers import depth_of_user
from ...core.tensor import Tensor
from ...ops.nn import loss, loss_pointwise
from ...ops.nn.reduction import NONE, check_name, legacy, number_of, reduced, refuse_gradient, same_size
from ...ops.pointwise.activation import logsigmoid
from ...ops.shape.broadcasting import broadcast_shapes, broadcast_tensors, check_broadcast
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
    """The squared difference, averaged (`"mean"`), summed (`"sum"`), or for each element (`"none"`).

    Args:
        weight: how much each element counts, the shape of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)
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
    """The absolute difference, averaged, summed, or for each element.

    Args:
        weight: how much each element counts, the shape of `input`.

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
    """`d * d / (2 * beta)` for a distance `d` below `beta`, `d - beta / 2` above.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.smooth_l1_loss(torch.tensor([3.0]), torch.tensor([0.0]))
        tensor(2.5000)
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
    """Half the squared distance where it is at most `delta`, `delta * (distance - delta / 2)` above.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.huber_loss(torch.tensor([3.0]), torch.tensor([0.0]), delta=2.0)
        tensor(4.)
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


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of classes.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.nll_loss(torch.tensor([[-1.0, -2.0]]), torch.tensor([1]))
        tensor(2.)
    """
    number = number_of(legacy(size_average, reduce, reduction))
    return loss.nll_loss(input, target, weight, number, ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy between logits and classes, or class probabilities.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.cross_entropy(torch.zeros(1, 4), torch.tensor([2]))
        tensor(1.3863)
    """
    number = number_of(legacy(size_average, reduce, reduction))
    return loss.cross_entropy(input, target, weight, number, ignore_index, label_smoothing)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The cross entropy between probabilities of the first of two classes.

    Raises:
        ValueError: for different shapes.
        RuntimeError: for an input outside of [0, 1].

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0]))
        tensor(0.6931)
    """
    number = number_of(legacy(size_average, reduce, reduction))
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(broadcast_shapes(target._shape, weight._shape))
    return loss_pointwise.checked_binary_cross_entropy(input, target, weight, number)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The cross entropy of two classes whose log-odds are `input`.

    Args:
        weight: how much each element counts.
        pos_weight: how much the positive class, target 1, counts beside the other.

    Raises:
        ValueError: for different shapes.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([0.0]), torch.tensor([1.0]))
        tensor(0.6931)
    """
    number = number_of(legacy(size_average, reduce, reduction))
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return loss_pointwise.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The divergence of log-probabilities `input` from `target` (logarithms too if `log_target`).

    Args:
        reduction: "batchmean" divides the sum by the first dimension, as the mathematics wants it; "mean" by the
            number of elements, of which torch warns.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.kl_div(torch.zeros(1, 2), torch.ones(1, 2), reduction="batchmean")
        tensor(0.)
    """
    if size_average is not None or reduce is not None:
        number = number_of(legacy(size_average, reduce, reduction))
    else:
        if reduction == "mean":
            import warnings

            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support size."
                "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
                "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
                stacklevel=depth_of_user(),
            )
        number = number_of("sum" if reduction == "batchmean" else reduction)
    out = loss_pointwise.kl_div(input, target, number, log_target=log_target)
    return out / input.size(0) if reduction == "batchmean" and input.ndim else out


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
    """`input` where `target` is 1, `max(0, margin - input)` where it is -1.

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
