"""AdamW: Adam whose weight decay does not go through the averages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ._options import options_of
from .adam import Adam


class AdamW(Adam):
    """Adam whose weight decay does not go through the averages.

    The same as `Adam(..., decoupled_weight_decay=True)`, with a `weight_decay` of 0.01 by default.

    Source: Loshchilov and Hutter, 2017.

    Args:
        betas: the decays of the averages of gradients and of their squares.
        eps: added to the root of the average of squares.
        weight_decay: the share of a parameter, times the learning rate, that is subtracted from it in every step.
        amsgrad: divide by the root of the largest average of squares so far, not by that of the present one.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.AdamW([w], lr=0.5, weight_decay=0.5)
        >>> (w * 0).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.7500], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, **options_of(locals()), decoupled_weight_decay=True)
