"""Losses of distributions as modules, computed by the functions of `nn.functional`."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from .. import functional as F
from .._public import give_all
from .loss_base import _Loss


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


give_all(globals())
