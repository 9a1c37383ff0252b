"""Adadelta: scales the gradient by running averages of steps and gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ._formula_optimizer import FormulaOptimizer, State, decayed, zeros_beside
from ._options import check_options, options_of


class Adadelta(FormulaOptimizer):
    """Scales the gradient by the ratio of running averages: of the steps taken, and of the gradient.

    With `g` the gradient plus `weight_decay` times the parameter:

    - `square_avg = rho * square_avg + (1 - rho) * g * g`
    - `delta = sqrt(acc_delta + eps) / sqrt(square_avg + eps) * g`
    - `acc_delta = rho * acc_delta + (1 - rho) * delta * delta`
    - `parameter -= lr * delta`

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: a factor for each step.
        rho: how much of the averages to keep.
        eps: keeps roots away from zero.
        weight_decay: how much of the parameter to add to its gradient.

    Raises:
        ValueError: for negative options, and `rho` above 1.

    Source: Zeiler, 2012.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.Adadelta([w])
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.9968], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_options(lr, eps=eps, weight_decay=weight_decay)
        super().__init__(params, options_of(locals()))

    def _initial_state(self, p: Tensor, group: State) -> State:
        return zeros_beside(p, "square_avg", "acc_delta")

    def _formula(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        rho, eps = group["rho"], group["eps"]
        g = decayed(p, g, group)
        square = state["square_avg"] * rho + g * g * (1 - rho)
        delta = (state["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * g
        steps = state["acc_delta"] * rho + delta * delta * (1 - rho)
        return p - delta * group["lr"], {"square_avg": square, "acc_delta": steps}
