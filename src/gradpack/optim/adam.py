"""Adam: gradient descent by running averages of the gradient and of its square."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..backends.numpy import quiet
from ..core.tensor import Tensor
from ..ops.pointwise.limits import maximum
from . import _kernels as kernels
from ._formula_optimizer import FormulaOptimizer, State, lerped, with_decay, zeros_beside
from ._options import as_number, as_scalar, check_implementation, check_option, check_two, options_of


class Adam(FormulaOptimizer):
    """Divides a running average of the gradient by the root of a running average of its square.

    With `g` the gradient plus `weight_decay` times the parameter, in step `t`:

    - `exp_avg = beta1 * exp_avg + (1 - beta1) * g`
    - `exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * g * g`
    - `parameter -= lr * (exp_avg / (1 - beta1**t)) / (sqrt(exp_avg_sq / (1 - beta2**t)) + eps)`

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the learning rate, a number or a tensor with one element.
        betas: how much of the averages to keep; two floats, or two tensors with one element.
        eps: keeps the division away from zero.
        weight_decay: how much of the parameter to add to its gradient.
        amsgrad: divide by the largest average of the square so far.
        foreach, fused, capturable: accepted; there is one implementation.
        maximize: go along the gradient instead.
        differentiable: record the step, so that one can differentiate through it.
        decoupled_weight_decay: multiply the parameter by 1 - lr * weight_decay instead, as AdamW does.

    Raises:
        ValueError: for negative options, and betas that are not in [0, 1).

    Source: Kingma and Ba, 2014; Reddi et al., 2018 (amsgrad).

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.Adam([w], lr=0.25)
        >>> (w * w).sum().backward()
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
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = options_of(locals())
        check_two("betas", betas)
        if foreach and not capturable:
            for name, value in (("lr", lr), ("betas[0]", betas[0]), ("betas[1]", betas[1])):
                if isinstance(value, Tensor):
                    raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")
        check_option("lr", lr)
        check_option("eps", eps)
        check_option("weight_decay", weight_decay)
        for i, beta in enumerate(betas):
            check_option(f"betas[{i}]", beta)
            if not beta < 1:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor)):
            raise ValueError(f"betas must be either both floats or both Tensors, but got {betas}")
        check_implementation(foreach, fused, differentiable)
        super().__init__(params, {**defaults, "betas": tuple(map(as_scalar, betas))})

    def _initial_state(self, p: Tensor, group: State) -> State:
        return zeros_beside(p, "exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else []))

    def _step_arrays(self, params: list[Tensor], group: State) -> list[Tensor]:
        (beta1, beta2), lr, decay = group["betas"], as_number(group["lr"]), as_number(group["weight_decay"])
        options = {**group, "lr": lr, "weight_decay": decay, "betas": (as_number(beta1), as_number(beta2))}
        with quiet():
            return kernels.adam(params, self.state, options)

    def _check_gradient(self, p: Any) -> None:
        if p.grad.is_sparse:
            raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")

    def _step_parameter(self, p: Tensor, grad: Tensor, own: State, group: State) -> None:
        if group["differentiable"] and own["step"].requires_grad:
            raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
        super()._step_parameter(p, grad, own, group)

    def _formula(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        beta1, beta2 = group["betas"]
        p, g = with_decay(p, g, group)
        mean = lerped(state["exp_avg"], g, 1 - beta1)
        square = state["exp_avg_sq"] * beta2 + g * g * (1 - beta2)
        new = {"exp_avg": mean, "exp_avg_sq": square}
        if group["amsgrad"]:
            square = new["max_exp_avg_sq"] = maximum(state["max_exp_avg_sq"], square)
        below = square.sqrt() / (1 - beta2**step) ** 0.5 + group["eps"]
        return p - mean / below * (group["lr"] / (1 - beta1**step)), new
