"""Losses as modules, computed by the functions of `nn.functional`."""

from __future__ import annotations

import warnings

from ..core.tensor import Tensor
from ..ops.nn.reduction import legacy
from . import functional as F
from .module import Module


class _Loss(Module):
    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = legacy(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """(input - target) squared, averaged (`reduction="mean"`), summed (`"sum"`) or as it is (`"none"`).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.MSELoss()(torch.zeros(2), torch.tensor([1.0, 3.0])).item()
        5.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """|input - target|, averaged (`reduction="mean"`), summed (`"sum"`) or as it is (`"none"`).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.L1Loss()(torch.zeros(2), torch.tensor([1.0, -3.0])).item()
        2.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """Minus the log-probability of the target class. Takes the result of `LogSoftmax`.

    Args:
        weight: a weight for each class.
        ignore_index: targets with this value count for nothing.
        reduction: `"mean"` (weighted), `"sum"` or `"none"`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.NLLLoss()(torch.tensor([[-1.0, -2.0]]), torch.tensor([1])).item()
        2.0
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """An old name of `NLLLoss`, which takes images as well.

    Example::

        >>> import gradpack as torch
        >>> import warnings; warnings.simplefilter("ignore")
        >>> torch.nn.NLLLoss2d()(torch.tensor([[[[-1.0]], [[-2.0]]]]), torch.tensor([[[1]]])).item()
        2.0
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        warnings.warn(
            "NLLLoss2d has been deprecated. Please use NLLLoss instead as a drop-in replacement and see "
            "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(_WeightedLoss):
    """Cross entropy between unnormalised scores and target classes or probabilities.

    Args:
        weight: a weight for each class.
        ignore_index: targets with this value count for nothing.
        reduction: `"mean"` (weighted), `"sum"` or `"none"`.
        label_smoothing: how much of the target's probability is spread over all classes.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.CrossEntropyLoss()(torch.zeros(1, 2), torch.tensor([1])).item(), 4)
        0.6931
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
