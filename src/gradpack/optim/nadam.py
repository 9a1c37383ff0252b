"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.create import tensor
from ._formula_optimizer import FormulaOptimizer, State, lerped, with_decay, zeros_beside
from ._options import check_options, options_of


class NAdam(FormulaOptimizer):
    """Adam that looks ahead as Nesterov's momentum does.

    The factor of momentum in step t is mu_t = beta1 * (1 - 0.96^(t * momentum_decay) / 2).

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the learning rate.
        betas: how much of the averages to keep.
        eps: keeps the division away from zero.
        weight_decay: how much of the parameter to add to its gradient.
        momentum_decay: how fast the factor of momentum approaches beta1.
        decoupled_weight_decay: multiply the parameter by 1 - lr * weight_decay instead.

    Raises:
        ValueError: for negative options, and betas that are not in [0, 1).

    Source: Dozat, 2016.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.NAdam([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.7359], requires_grad=True)
    """

    _scalars = ("mu_product",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr, eps=eps, betas=betas, weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, options_of(locals()))

    def _initial_state(self, p: Tensor, group: State) -> State:
        return {"mu_product": tensor(1.0), **zeros_beside(p, "exp_avg", "exp_avg_sq")}

    def _formula(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        beta1, beta2 = group["betas"]
        lr = group["lr"]
        p, g = with_decay(p, g, group)
        mu, ahead = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        product = state["mu_product"] * mu
        mean = lerped(state["exp_avg"], g, 1 - beta1)
        square = state["exp_avg_sq"] * beta2 + g * g * (1 - beta2)
        below = (square / (1 - beta2**step)).sqrt() + group["eps"]
        done = product if group["capturable"] or group.get("differentiable") else product.item()
        p = p - g / below * (lr * (1 - mu) / (1 - done)) - mean / below * (lr * ahead / (1 - done * ahead))
        return p, {"exp_avg": mean, "exp_avg_sq": square, "mu_product": product}
