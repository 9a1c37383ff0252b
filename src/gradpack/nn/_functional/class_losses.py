"""Losses between classes, or their probabilities, as functions."""

from __future__ import annotations

from ...base.callers import depth_of_user
from ...core.tensor import Tensor
from ...ops.nn import loss, loss_pointwise
from ...ops.nn.reduction import legacy, number_of
from ...ops.shape.broadcasting import broadcast_shapes
from .._public import give_all


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


give_all(globals())
