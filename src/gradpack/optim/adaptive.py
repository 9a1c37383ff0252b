"""Optimisers that scale each element of the gradient by its own history: Adagrad, Adadelta, RMSprop, Rprop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.create import tensor as _number
from ..ops.create.fill_like import full_like
from ..ops.pointwise.complex_from_parts import complex
from ..ops.sparse.coordinates import sparse_coo_tensor
from .by_formula import ByFormula, State, check_options, decayed, zeros_beside
from .options import as_number, check_implementation


class Adagrad(ByFormula):
    """Divides the gradient by the root of the sum of its squares so far.

    In step t: sum += g * g, parameter -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(sum) + eps).
    Takes sparse gradients: what has no entry stays.

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the learning rate.
        lr_decay: how fast it falls.
        weight_decay: how much of the parameter to add to its gradient.
        initial_accumulator_value: what the sums begin with.
        eps: keeps the division away from zero.
        maximize: go along the gradient instead.
        differentiable: record the step, so that one can differentiate through it.

    Raises:
        ValueError: for negative options.

    Source: Duchi et al., 2011.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.Adagrad([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.7500], requires_grad=True)
    """

    takes_sparse = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(
            lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )
        check_implementation(foreach, fused, differentiable)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = {"step": _number(0.0), **self.start(p, group)}

    def share_memory(self) -> None:
        """Move the sums to where processes share them: see `Tensor.share_memory_`."""
        from ..core.shared_memory import share

        share([state["sum"] for state in self.state.values()])

    def start(self, p: Tensor, group: State) -> State:
        return {"sum": _filled(p, group["initial_accumulator_value"])}

    def move(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        g = decayed(p, g, group)
        total = state["sum"] + g * g
        return p - g * rate / (total.sqrt() + group["eps"]), {"sum": total}

    def _update(self, p: Tensor, grad: Tensor, own: State, group: State) -> None:
        if not grad.is_sparse:
            super()._update(p, grad, own, group)
            return
        if group["weight_decay"]:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        own["step"] += 1
        rate = as_number(group["lr"]) / (1 + (own["step"].item() - 1) * group["lr_decay"])
        g = (-grad if group["maximize"] else grad).coalesce()
        own["sum"].add_(g * g)
        root = own["sum"].sparse_mask(g)._values().sqrt() + group["eps"]
        p.add_(sparse_coo_tensor(g._indices(), g._values() / root, g.shape), alpha=-rate)


class Adadelta(ByFormula):
    """Scales the gradient by the ratio of running averages: of the steps taken, and of the gradient.

    With averages that keep `rho` of themselves: square_avg of g * g; the step is
    delta = sqrt(acc_delta + eps) / sqrt(square_avg + eps) * g; acc_delta averages delta * delta; and then
    parameter -= lr * delta.

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
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def start(self, p: Tensor, group: State) -> State:
        return zeros_beside(p, "square_avg", "acc_delta")

    def move(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        rho, eps = group["rho"], group["eps"]
        g = decayed(p, g, group)
        square = state["square_avg"] * rho + g * g * (1 - rho)
        delta = (state["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * g
        steps = state["acc_delta"] * rho + delta * delta * (1 - rho)
        return p - delta * group["lr"], {"square_avg": square, "acc_delta": steps}


class RMSprop(ByFormula):
    """Divides the gradient by the root of a running average of its square.

    square_avg = alpha * square_avg + (1 - alpha) * g * g, parameter -= lr * g / (sqrt(square_avg) + eps);
    with `centered` the square of a running average of g is taken off before the root; with `momentum` the
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
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def start(self, p: Tensor, group: State) -> State:
        names = ["square_avg"]
        names += ["momentum_buffer"] if group["momentum"] > 0 else []
        names += ["grad_avg"] if group["centered"] else []
        return zeros_beside(p, *names)

    def move(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
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


class Rprop(ByFormula):
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
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def start(self, p: Tensor, group: State) -> State:
        return {**zeros_beside(p, "prev"), "step_size": _filled(p, as_number(group["lr"]))}

    def move(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        shrink, grow = group["etas"]
        agree = g * state["prev"]
        kinds = ((agree > 0, grow), (agree < 0, shrink), (agree == 0, 1.0))
        factor = sum(there.to(p.dtype) * number for there, number in kinds)  # exact: two of the three are zero
        size = (state["step_size"] * factor).clamp(*group["step_sizes"])
        g = g * (agree >= 0).to(p.dtype)
        return p - g.sign() * size, {"prev": g, "step_size": size}


def _filled(p: Tensor, value: float) -> Tensor:
    """A number in the shape of a parameter; for complex ones in both parts."""
    if p.is_complex():
        part = full_like(p.detach().real, value)
        return complex(part, part)
    return full_like(p.detach(), value)
