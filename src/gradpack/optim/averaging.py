"""Optimisers with running averages, of the gradient or of the parameters: Adamax, NAdam, RAdam, ASGD."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.create import tensor as new_tensor
from ..ops.pointwise.pairwise import maximum
from .by_formula import ByFormula, State, check_betas, check_options, decayed, lerped, zeros_beside
from .options import as_number


class Adamax(ByFormula):
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
        check_options(lr, eps=eps)
        check_betas(betas)
        check_options(lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def start(self, p: Tensor, group: State) -> State:
        return zeros_beside(p, "exp_avg", "exp_inf")

    def move(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        beta1, beta2 = group["betas"]
        g = decayed(p, g, group)
        mean = lerped(state["exp_avg"], g, 1 - beta1)
        largest = maximum(state["exp_inf"] * beta2, g.abs() + group["eps"])
        return p - mean / largest * (group["lr"] / (1 - beta1**step)), {"exp_avg": mean, "exp_inf": largest}


class NAdam(ByFormula):
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

    numbers = ("mu_product",)

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
        check_options(lr, eps=eps)
        check_betas(betas)
        check_options(lr, weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def start(self, p: Tensor, group: State) -> State:
        return {"mu_product": new_tensor(1.0), **zeros_beside(p, "exp_avg", "exp_avg_sq")}

    def move(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        beta1, beta2 = group["betas"]
        lr = group["lr"]
        p, g = _with_decay(p, g, group)
        mu, ahead = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        product = state["mu_product"] * mu
        mean = lerped(state["exp_avg"], g, 1 - beta1)
        square = state["exp_avg_sq"] * beta2 + g * g * (1 - beta2)
        below = (square / (1 - beta2**step)).sqrt() + group["eps"]
        done = product if group["capturable"] or group.get("differentiable") else product.item()
        p = p - g / below * (lr * (1 - mu) / (1 - done)) - mean / below * (lr * ahead / (1 - done * ahead))
        return p, {"exp_avg": mean, "exp_avg_sq": square, "mu_product": product}


class RAdam(ByFormula):
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
        check_options(lr, eps=eps)
        check_betas(betas)
        check_options(lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def start(self, p: Tensor, group: State) -> State:
        return zeros_beside(p, "exp_avg", "exp_avg_sq")

    def move(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        beta1, beta2 = group["betas"]
        step = as_number(step)
        p, g = _with_decay(p, g, group)
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


class ASGD(ByFormula):
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

    numbers = ("eta", "mu")

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
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def start(self, p: Tensor, group: State) -> State:
        return {"eta": new_tensor(float(as_number(group["lr"]))), "mu": new_tensor(1.0), **zeros_beside(p, "ax")}

    def move(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        step, lr = as_number(step), as_number(group["lr"])
        eta, mu = state["eta"].item(), state["mu"].item()
        p = p * (1 - group["lambd"] * eta) - decayed(p, g, group) * eta
        average = p if mu == 1 else state["ax"] + (p - state["ax"]) * mu
        eta = lr / (1 + group["lambd"] * lr * step) ** group["alpha"]
        return p, {"ax": average, "eta": eta, "mu": 1 / max(1, step - group["t0"])}


def _with_decay(p: Tensor, g: Tensor, group: State) -> tuple[Tensor, Tensor]:
    """Parameter and gradient after weight decay, through the averages or past them."""
    if not group["weight_decay"]:
        return p, g
    if group["decoupled_weight_decay"]:
        return p * (1 - group["lr"] * group["weight_decay"]), g
    return p, g + p * group["weight_decay"]
