"""Losses with margins as modules, computed by the functions of `nn.functional`."""

from __future__ import annotations

from collections.abc import Callable

from ..core.tensor import Tensor
from . import functional as F
from .losses import _Loss, _WeightedLoss
from .more_losses import PairwiseDistance


class _MarginLoss(_Loss):
    margin: float

    def __init__(
        self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(_MarginLoss):
    """The input where the target is 1, max(0, margin - input) where it is -1.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.HingeEmbeddingLoss()(torch.tensor([0.5]), torch.tensor([-1])).item()
        0.5
    """

    def __init__(
        self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """1 - cos for pairs with target 1, max(0, cos - margin) for those with -1.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([[1.0, 0.0]])
        >>> torch.nn.CosineEmbeddingLoss()(x, x, torch.tensor([-1])).item()
        1.0
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_MarginLoss):
    """max(0, -target * (input1 - input2) + margin): target 1 wants the first larger, -1 the second.

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
    """The mean over the other classes of max(0, margin - right + other) to the power of `p`.

    Args:
        p: 1 or 2.
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
        size_average: bool | None = None,
        reduce: bool | None = None,
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
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


def _check_margin(name: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")


class TripletMarginLoss(_Loss):
    """max(0, |anchor - positive| - |anchor - negative| + margin).

    Args:
        p, eps: of `PairwiseDistance`.
        swap: take the distance of positive and negative where it is the smaller.

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
        size_average: bool | None = None,
        reduce: bool | None = None,
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
    """The same for any distance.

    Example::

        >>> import gradpack as torch
        >>> a = torch.zeros(1, 2)
        >>> torch.nn.TripletMarginWithDistanceLoss(margin=0.5)(a, a, a).item()
        0.5
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
