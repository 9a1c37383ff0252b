"""Adamax: Adam by the largest absolute value of the gradient."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ..ops.pointwise.limits import maximum
from ._formula_optimizer import FormulaOptimizer, State, decayed, lerped, zeros_beside
from ._options import check_options, options_of


class Adamax(FormulaOptimizer):
    """Adam by the largest absolute value: divides by a maximum that fades.

    exp_avg averages g; exp_inf = max(beta2 * exp_inf, |g| + eps); in step t
    parameter -= lr / (1 - beta1^t) * exp_avg / exp_inf.

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the learning rate.
        betas: how much of the average and of the maximum to keep.
        eps: keeps the division away from zero.
        weight_decay: how much of the parameter to add to its gradient.

    Raises:
        ValueError: for negative options, and betas that are not in [0, 1).

    Source: Kingma and Ba, 2014.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.Adamax([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.7500], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr, eps=eps, betas=betas, weight_decay=weight_decay)
        super().__init__(params, options_of(locals()))

    def _initial_state(self, p: Tensor, group: State) -> State:
        return zeros_beside(p, "exp_avg", "exp_inf")

    def _formula(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        beta1, beta2 = group["betas"]
        g = decayed(p, g, group)
        mean = lerped(state["exp_avg"], g, 1 - beta1)
        largest = maximum(state["exp_inf"] * beta2, g.abs() + group["eps"])
        return p - mean / largest * (group["lr"] / (1 - beta1**step)), {"exp_avg": mean, "exp_inf": largest}
