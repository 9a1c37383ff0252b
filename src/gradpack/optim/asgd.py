"""ASGD: gradient descent with an average of the parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.create import tensor
from ._formula_optimizer import FormulaOptimizer, State, decayed, zeros_beside
from ._options import as_number, check_options, options_of


class ASGD(FormulaOptimizer):
    """Gradient descent that keeps an average of the parameters beside them.

    In step t the rate is eta = lr / (1 + lambd * lr * t)^alpha; after `t0` steps `ax` averages the parameters.

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the learning rate.
        lambd: how much of the parameter to take off it, times eta.
        alpha: the power by which eta falls.
        t0: the step at which averaging begins.
        weight_decay: how much of the parameter to add to its gradient.

    Raises:
        ValueError: for negative options.

    Source: Polyak and Juditsky, 1992.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.ASGD([w], lr=0.25, lambd=0.0)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.5000], requires_grad=True)
    """

    _scalars = ("eta", "mu")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr, weight_decay=weight_decay)
        super().__init__(params, options_of(locals()))

    def _initial_state(self, p: Tensor, group: State) -> State:
        return {"eta": tensor(float(as_number(group["lr"]))), "mu": tensor(1.0), **zeros_beside(p, "ax")}

    def _formula(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        step, lr = as_number(step), as_number(group["lr"])
        eta, mu = state["eta"].item(), state["mu"].item()
        p = p * (1 - group["lambd"] * eta) - decayed(p, g, group) * eta
        average = p if mu == 1 else state["ax"] + (p - state["ax"]) * mu
        eta = lr / (1 + group["lambd"] * lr * step) ** group["alpha"]
        return p, {"ax": average, "eta": eta, "mu": 1 / max(1, step - group["t0"])}
