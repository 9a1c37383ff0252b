"""Further elementwise losses as modules, computed by the functions of `nn.functional`."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from .losses import _Loss, _WeightedLoss
from .module import Module


class BCELoss(_WeightedLoss):
    """The cross entropy between probabilities of the first of two classes. Takes the result of `Sigmoid`.

    Args:
        weight: how much each element counts; broadcasts.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0])).item(), 4)
        0.6931
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """The cross entropy of two classes, by log-odds: `Sigmoid` and `BCELoss` in one, without overflow.

    Args:
        weight: how much each element counts; broadcasts.
        pos_weight: how much the positive class, target 1, counts beside the other; broadcasts.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0])).item(), 4)
        0.6931
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class SmoothL1Loss(_Loss):
    """Squares below `beta`, absolute values above.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.SmoothL1Loss()(torch.tensor([3.0]), torch.tensor([0.0])).item()
        2.5
    """

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean", beta: float = 1.0
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Squares up to `delta`, absolute values above.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.HuberLoss(delta=2.0)(torch.tensor([3.0]), torch.tensor([0.0])).item()
        4.0
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, float | int):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input)), for targets 1 and -1.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.SoftMarginLoss()(torch.tensor([0.0]), torch.tensor([1.0])).item(), 4)
        0.6931
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class KLDivLoss(_Loss):
    """The divergence of log-probabilities from a target distribution.

    Args:
        reduction: `"batchmean"` is what the mathematics wants.
        log_target: the target holds logarithms as well?

    Example::

        >>> import gradpack as torch
        >>> torch.nn.KLDivLoss(reduction="batchmean")(torch.zeros(1, 2), torch.ones(1, 2)).item()
        0.0
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
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
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
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
        zero_infinity: losses of inf, and their gradients, become 0.

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


class PairwiseDistance(Module):
    """The p-norm of `x1 - x2 + eps` along the last dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.PairwiseDistance(eps=0.0)(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2)).item()
        5.0
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along `dim`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CosineSimilarity()(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])).item()
        0.0
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
