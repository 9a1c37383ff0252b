"""RAdam: Adam that corrects for the variance of its first steps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ._formula_optimizer import FormulaOptimizer, State, lerped, with_decay, zeros_beside
from ._options import as_number, check_options, options_of


class RAdam(FormulaOptimizer):
    """Adam that divides by the root of the squares only once their average can be relied upon.

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the learning rate.
        betas: how much of the averages to keep.
        eps: keeps the division away from zero.
        weight_decay: how much of the parameter to add to its gradient.
        decoupled_weight_decay: multiply the parameter by 1 - lr * weight_decay instead.

    Raises:
        ValueError: for negative options, and betas that are not in [0, 1).

    Source: Liu et al., 2020.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.RAdam([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.5000], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr, eps=eps, betas=betas, weight_decay=weight_decay)
        super().__init__(params, options_of(locals()))

    def _initial_state(self, p: Tensor, group: State) -> State:
        return zeros_beside(p, "exp_avg", "exp_avg_sq")

    def _formula(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        beta1, beta2 = group["betas"]
        step = as_number(step)
        p, g = with_decay(p, g, group)
        mean = lerped(state["exp_avg"], g, 1 - beta1)
        square = state["exp_avg_sq"] * beta2 + g * g * (1 - beta2)
        left = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / left
        move = mean / (1 - beta1**step) * group["lr"]
        if length > 5:
            known = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            move = move * (math.sqrt(left) / (square.sqrt() + group["eps"])) * math.sqrt(known)
        return p - move, {"exp_avg": mean, "exp_avg_sq": square}
