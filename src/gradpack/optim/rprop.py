"""Rprop: steps by the sign of the gradient."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ._formula_optimizer import FormulaOptimizer, State, filled, zeros_beside
from ._options import as_number, check_options, options_of


class Rprop(FormulaOptimizer):
    """Goes by the sign of the gradient; each element has its own step, longer while the sign stays.

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the first step of every element.
        etas: factors of the step where the sign has changed, and where it has not.
        step_sizes: the shortest step and the longest one.

    Raises:
        ValueError: unless 0 < etas[0] < 1 < etas[1].

    Source: Riedmiller and Braun, 1993.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.Rprop([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.7500], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, options_of(locals()))

    def _initial_state(self, p: Tensor, group: State) -> State:
        return {**zeros_beside(p, "prev"), "step_size": filled(p, as_number(group["lr"]))}

    def _formula(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        shrink, grow = group["etas"]
        agree = g * state["prev"]
        kinds = ((agree > 0, grow), (agree < 0, shrink), (agree == 0, 1.0))
        factor = sum(there.to(p.dtype) * number for there, number in kinds)  # exact: two of the three are zero
        size = (state["step_size"] * factor).clamp(*group["step_sizes"])
        g = g * (agree >= 0).to(p.dtype)
        return p - g.sign() * size, {"prev": g, "step_size": size}
