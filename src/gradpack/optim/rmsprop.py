"""RMSprop: scales the gradient by a running average of its square."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ._formula_optimizer import FormulaOptimizer, State, decayed, zeros_beside
from ._options import check_options, options_of


class RMSprop(FormulaOptimizer):
    """Divides the gradient by the root of a running average of its square.

    With `g` the gradient plus `weight_decay` times the parameter:

    - `square_avg = alpha * square_avg + (1 - alpha) * g * g`
    - `parameter -= lr * g / (sqrt(square_avg) + eps)`

    With `centered` the square of a running average of `g` is taken off before the root; with `momentum` the
    quotients add up in a buffer.

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the learning rate.
        alpha: how much of the averages to keep.
        eps: keeps the division away from zero.
        weight_decay: how much of the parameter to add to its gradient.
        momentum: how much of the buffer to keep.
        centered: divide by an estimate of the standard deviation.

    Raises:
        ValueError: for negative options.

    Source: Hinton, 2012 (lecture 6); Graves, 2013 (centered).

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.RMSprop([w], lr=0.01)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.9000], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, options_of(locals()))

    def _initial_state(self, p: Tensor, group: State) -> State:
        names = ["square_avg"]
        names += ["momentum_buffer"] if group["momentum"] > 0 else []
        names += ["grad_avg"] if group["centered"] else []
        return zeros_beside(p, *names)

    def _formula(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        alpha = group["alpha"]
        g = decayed(p, g, group)
        square = state["square_avg"] * alpha + g * g * (1 - alpha)
        new = {"square_avg": square}
        if group["centered"]:
            mean = new["grad_avg"] = state["grad_avg"] + (g - state["grad_avg"]) * (1 - alpha)
            square = square - mean * mean
        ratio = g / (square.sqrt() + group["eps"])
        if group["momentum"] > 0:
            ratio = new["momentum_buffer"] = state["momentum_buffer"] * group["momentum"] + ratio
        return p - ratio * group["lr"], new
