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
    """The negative log likelihood of classes: `-weight[target] * input[target]`.

    `input` are logarithms of probabilities, as `log_softmax` gives them; `cross_entropy` takes scores instead.

    Args:
        input: shape (N, C), (C), or (N, C, *places), for C classes.
        target: the classes, of dtype int64 or uint8: shape (N), (), or (N, *places).
        weight: a weight for each class, shape (C); None for ones.
        size_average, reduce: older forms of `reduction`.
        ignore_index: targets with this value count for nothing.
        reduction: `"mean"` divides the sum by that of the weights of the targets; `"sum"`, or `"none"`.

    Raises:
        IndexError: for a target that is no class.
        ValueError: if the shapes do not fit, or for another `reduction`.

    Example::

        >>> import gradpack as torch
        >>> scores = torch.tensor([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
        >>> torch.nn.functional.nll_loss(scores.log_softmax(1), torch.tensor([0, 1]))
        tensor(0.2513)
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
    """The cross entropy between scores and classes, or probabilities of classes.

    For a class it is `-log(softmax(input))[target]`; for probabilities: `-sum(target * log(softmax(input)))`. It is
    computed from the scores themselves: no `softmax` before.

    Args:
        input: unnormalised scores of C classes: shape (N, C), (C), or (N, C, *places).
        target: the classes, of dtype int64 or uint8: shape (N), (), or (N, *places). Or probabilities: a floating point
            tensor of the shape of `input`.
        weight: a weight for each class, shape (C); None for ones.
        size_average, reduce: older forms of `reduction`.
        ignore_index: targets with this value count for nothing; for classes only.
        reduction: `"mean"` divides the sum by that of the weights of the targets, for probabilities by the number of
            examples; `"sum"`, or `"none"`.
        label_smoothing: how much of the probability of each target is spread over all classes: from 0 to 1.

    Raises:
        IndexError: for a target that is no class.
        ValueError: for different numbers of examples, or another `reduction`.
        RuntimeError: for a target of another shape or dtype, or a `label_smoothing` out of range.

    Example::

        >>> import gradpack as torch
        >>> scores = torch.tensor([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
        >>> torch.nn.functional.cross_entropy(scores, torch.tensor([0, 1]))
        tensor(0.2513)
        >>> torch.nn.functional.cross_entropy(scores, torch.tensor([0, 1]), reduction="none")
        tensor([0.4076, 0.0949])
        >>> torch.nn.functional.cross_entropy(scores, torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]))
        tensor(1.0013)
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
    """The cross entropy of two classes: `-weight * (target * log(input) + (1 - target) * log(1 - input))`.

    Logarithms are limited to -100. `binary_cross_entropy_with_logits` takes log-odds instead, and loses no digits.

    Args:
        input: the probabilities of the first class.
        target: 1 for it and 0 for the other, or its probability: of the same shape.
        weight: how much each element counts: of a shape that broadcasts.
        size_average, reduce: older forms of `reduction`.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.

    Raises:
        ValueError: for different shapes.
        RuntimeError: for an input outside of [0, 1].

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0]))
        tensor(0.6931)
        >>> likely, target = torch.tensor([0.9, 0.2]), torch.tensor([1.0, 0.0])
        >>> torch.nn.functional.binary_cross_entropy(likely, target, reduction="none")
        tensor([0.1054, 0.2231])
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
    """The cross entropy of two classes by log-odds: that of `sigmoid(input)`, without overflow.

    Args:
        input: log-odds of the first class: unnormalised scores.
        target: 1 for it and 0 for the other, or its probability: of the same shape.
        weight: how much each element counts: of a shape that broadcasts.
        size_average, reduce: older forms of `reduction`.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.
        pos_weight: how much the first class counts beside the other: of a shape that broadcasts.

    Raises:
        ValueError: for different shapes.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([0.0]), torch.tensor([1.0]))
        tensor(0.6931)
        >>> scores, target = torch.tensor([0.5, 0.1]), torch.tensor([1.0, 0.0])
        >>> torch.nn.functional.binary_cross_entropy_with_logits(scores, target, pos_weight=torch.tensor(3.0))
        tensor(1.0833)
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
    """The Kullback-Leibler divergence of `target` from `input`: `target * (log(target) - input)`, for each element.

    Args:
        input: logarithms of probabilities.
        target: probabilities, or their logarithms with `log_target`: of a shape that broadcasts.
        size_average, reduce: older forms of `reduction`.
        reduction: "batchmean" divides the sum by the first dimension, as the mathematics wants it; "mean" by the number
            of elements, of which torch warns; "sum", or "none".
        log_target: whether `target` are logarithms.

    Example::

        >>> import gradpack as torch
        >>> p, q = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.9, 0.1]])
        >>> torch.nn.functional.kl_div(q.log(), p, reduction="batchmean")
        tensor(0.5108)
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
