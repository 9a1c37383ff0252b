"""The base classes of losses, and losses of distributions and with margins, computed by `nn.functional`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...ops.nn.reduction import legacy
from .. import functional as F
from .._public import give_all
from ..modules.distance import PairwiseDistance
from ..modules.module import Module

Flag = bool | None  # a deprecated flag, and whether it is given


class _Loss(Module):
    reduction: str

    def __init__(self, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = legacy(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    weight: Tensor | None

    def __init__(
        self, weight: Tensor | None = None, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class KLDivLoss(_Loss):
    """The Kullback-Leibler divergence of a target distribution from log-probabilities: `target * (log(target) -
    input)`.

    Args:
        size_average, reduce: older forms of `reduction`.
        reduction: `"batchmean"` divides the sum by the first dimension, as the mathematics wants it; `"mean"` by the
            number of elements; `"sum"`, or `"none"`.
        log_target: whether the target holds logarithms as well.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.KLDivLoss(reduction="batchmean")(torch.zeros(1, 2), torch.ones(1, 2)).item()
        0.0
    """

    def __init__(
        self, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean", log_target: bool = False
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """The negative log likelihood of counts under Poisson distributions.

    Args:
        log_input: the input holds logarithms of rates, else rates.
        full: add Stirling's approximation of log(target!).
        eps: keeps log(input + eps) finite.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.PoissonNLLLoss()(torch.zeros(2), torch.ones(2)).item()
        1.0
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: Flag = None,
        eps: float = 1e-8,
        reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """The negative log likelihood of targets under normal distributions of given means and variances.

    Args:
        full: add the constant log(2 * pi) / 2.
        eps: the least variance.

    Shape:
        input, target: (N, *), of the same shape, or shapes that broadcast.
        var: that of the input, or without its last dimension; or a number.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.GaussianNLLLoss()(torch.zeros(2), torch.ones(2), torch.ones(2)).item()
        0.5
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class CTCLoss(_Loss):
    """The negative log likelihood of label sequences whose alignment with the input is unknown.

    Args:
        blank: the class of the blank.
        reduction: `"mean"` of losses divided by target lengths, `"sum"` or `"none"`.
        zero_infinity: losses of inf, and their gradients, become 0.

    Shape:
        log_probs: (T, N, C), or (T, C): see `nn.functional.ctc_loss`.
        targets: (N, S), or all labels one after another.
        input_lengths, target_lengths: (N), or ().

    Example::

        >>> import gradpack as torch
        >>> log_probs = torch.zeros(2, 1, 2).log_softmax(-1)
        >>> round(torch.nn.CTCLoss()(log_probs, torch.tensor([[1]]), (2,), (1,)).item(), 4)
        0.2877
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class _MarginLoss(_Loss):
    margin: float

    def __init__(
        self, margin: float = 0.0, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(_MarginLoss):
    """`input` where the target is 1, else `max(0, margin - input)`: -1 is the other target.

    Args:
        margin: the distance from which on there is no loss for what does not belong together.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.HingeEmbeddingLoss()(torch.tensor([0.5]), torch.tensor([-1])).item()
        0.5
    """

    def __init__(
        self, margin: float = 1.0, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """`1 - cos` where the target is 1, else `max(0, cos - margin)`: -1 is the other target.

    Args:
        margin: the cosine up to which there is no loss for what does not belong together: from -1 to 1.

    Shape:
        input1, input2: (N, n), or (n).
        target: (N), or ().

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[1.0, 0.0]])
        >>> torch.nn.CosineEmbeddingLoss()(x, x, torch.tensor([-1])).item()
        1.0
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_MarginLoss):
    """`max(0, -target * (input1 - input2) + margin)`: target 1 wants the first larger, -1 the second.

    Args:
        margin: by how much.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.MarginRankingLoss()(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0])).item()
        2.0
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """The mean of max(0, 1 - right + wrong) over all pairs of a right class and a wrong one.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.MultiLabelMarginLoss()(torch.zeros(1, 4), torch.tensor([[3, 0, -1, 1]])).item()
        1.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of the cross entropy of each being there or not.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.MultiLabelSoftMarginLoss()(torch.zeros(1, 3), torch.ones(1, 3)).item(), 4)
        0.6931
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The mean over the other classes of `max(0, margin - right + other) ** p`.

    Args:
        p: the exponent: 1 or 2.
        margin: by how much the score of the right class is to be above the others.
        weight: how much each class counts.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.MultiMarginLoss()(torch.zeros(1, 4), torch.tensor([2])).item()
        0.75
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: Flag = None,
        reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)


def _check_margin(name: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")


class TripletMarginLoss(_Loss):
    """`max(0, |anchor - positive| - |anchor - negative| + margin)`.

    Args:
        margin: by how much closer the positive one is to be.
        p: the exponent of the norm of the distances.
        eps: what is added to differences before the norm.
        swap: take the distance of positive and negative where it is the smaller.

    Shape:
        anchor, positive, negative: (N, n), or (n).

    Example::

        >>> import gradpack as torch
        >>> a = torch.zeros(1, 2)
        >>> torch.nn.TripletMarginLoss()(a, a, a).item()
        1.0
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: Flag = None,
        reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        _check_margin("TripletMarginLoss", margin)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`max(0, d(anchor, positive) - d(anchor, negative) + margin)` for any distance d.

    Args:
        distance_function: a function, or a module, of two tensors that returns their distances; None for
            `PairwiseDistance`.
        margin: by how much closer the positive one is to be.
        swap: take the distance of positive and negative where it is the smaller.

    Raises:
        ValueError: for a `margin` that is not positive.

    Example::

        >>> import gradpack as torch
        >>> anchor, near, far = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.5]]), torch.tensor([[-1.0, 0.0]])
        >>> loss = torch.nn.TripletMarginWithDistanceLoss(
        ...     distance_function=lambda x, y: 1 - torch.cosine_similarity(x, y), margin=2.0)
        >>> loss(anchor, near, far)
        tensor(0.1056)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        _check_margin("TripletMarginWithDistanceLoss", margin)
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


give_all(globals())
