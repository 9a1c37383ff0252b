"""Losses of `torch.nn.functional` that want margins, and that of sequences without alignment."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.nn import loss_margin
from ...ops.nn.ctc import ctc_loss as _ctc_loss
from ...ops.nn.reduction import legacy, number_of
from .._public import give_all


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, -target * (input1 - input2) + margin)`: target 1 wants `input1` larger, -1 `input2`.

    Args:
        input1, input2: the values that are compared.
        target: 1 where the first is to be larger, -1 where the second is.
        margin: by how much.
        size_average, reduce: older forms of `reduction`.

    Raises:
        RuntimeError: for different numbers of dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
        tensor(2.)
    """
    number = number_of(legacy(size_average, reduce, reduction))
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return loss_margin.margin_ranking_loss(input1, input2, target, margin, number)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`1 - cos` where `target` is 1, else `max(0, cos - margin)`: -1 is the other target.

    Args:
        input1, input2: the vectors: shape (N, n), or (n).
        target: 1 for pairs that belong together, -1 for others: shape (N), or ().
        margin: the cosine up to which there is no loss for the others: from -1 to 1.
        size_average, reduce: older forms of `reduction`.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[1.0, 0.0]])
        >>> torch.nn.functional.cosine_embedding_loss(x, x, torch.tensor([-1]))
        tensor(1.)
    """
    number = number_of(legacy(size_average, reduce, reduction))
    return loss_margin.cosine_embedding_loss(input1, input2, target, margin, number)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, |anchor - positive| - |anchor - negative| + margin)`.

    Args:
        anchor, positive, negative: the vectors that are compared: shape (..., n).
        margin: by how much closer the positive one is to be.
        p: the exponent of the norm of the distances.
        eps: what is added to differences before the norm: see `pairwise_distance`.
        swap: take the distance of positive and negative where it is the smaller.

    Raises:
        ValueError: unless the margin is positive.
        RuntimeError: for different numbers of dimensions.

    Example::

        >>> import gradpack as torch
        >>> anchor, near, far = torch.zeros(1, 2), torch.tensor([[0.0, 1.0]]), torch.tensor([[0.0, -1.5]])
        >>> torch.nn.functional.triplet_margin_loss(anchor, near, far)
        tensor(0.5000)
    """
    number = number_of(legacy(size_average, reduce, reduction))
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return loss_margin.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the other classes of `max(0, margin - right + other) ** p`.

    Args:
        input: scores of C classes: shape (N, C), or (C).
        target: the classes: shape (N), or ().
        p: the exponent: 1 or 2.
        margin: by how much the score of the right class is to be above the others.
        weight: how much each class counts, shape (C); None for ones.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.multi_margin_loss(torch.zeros(1, 4), torch.tensor([2]))
        tensor(0.7500)
    """
    number = number_of(legacy(size_average, reduce, reduction))
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    return loss_margin.multi_margin_loss(input, target, p, margin, weight, number)


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """The mean of `max(0, 1 - right + wrong)` over all pairs of a right class and a wrong one.

    Args:
        input: scores of C classes: shape (N, C), or (C).
        target: of the same shape: the right classes, up to the first -1.
        size_average, reduce: older forms of `reduction`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.multilabel_margin_loss(torch.zeros(1, 4), torch.tensor([[3, 0, -1, 1]]))
        tensor(1.)
    """
    return loss_margin.multilabel_margin_loss(input, target, number_of(legacy(size_average, reduce, reduction)))


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log likelihood of label sequences of unknown alignment: connectionist temporal classification.

    Each is summed over all its alignments with the input. As in torch, the gradient is that for `log_probs` that come
    from `log_softmax`.

    Args:
        log_probs: logarithms of probabilities of the classes, shape (T, N, C), or (T, C) without a batch.
        targets: labels, shape (N, S), or all of them one after another; no blanks among them.
        input_lengths: the lengths of the inputs, at most T: shape (N), a tensor or a tuple.
        target_lengths: the lengths of the targets: shape (N), a tensor or a tuple.
        blank: the class of the blank.
        reduction: `"mean"` of losses divided by target lengths, `"sum"` or `"none"`.
        zero_infinity: losses of inf, of targets that are too long for the inputs, and their gradients become 0.

    Raises:
        RuntimeError: for lengths that do not fit and a blank that is no class.

    Example::

        >>> import gradpack as torch
        >>> log_probs = torch.zeros(2, 1, 2).log_softmax(-1)
        >>> torch.nn.functional.ctc_loss(log_probs, torch.tensor([[1]]), (2,), (1,))
        tensor(0.2877)
    """
    return _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, number_of(reduction), zero_infinity)


give_all(globals())
