"""Muon: momentum whose matrices are made orthogonal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ..autograd.grad_mode import no_grad
from ..base.dtypes import bfloat16
from ..core.tensor import Tensor
from ..ops.create.fill_like import zeros_like
from ..ops.linalg.addmm import addmm
from .optimizer import Optimizer
from .options import as_number, loss_of

_ADJUSTMENTS = (None, "original", "match_rms_adamw")


class Muon(Optimizer):
    """Steps of one length in all directions: momentum, made orthogonal. For matrices only.

    buffer += (1 - momentum) * (g - buffer); u = buffer, or g + momentum * (buffer - g) with `nesterov`;
    parameter *= 1 - lr * weight_decay; parameter -= adjusted lr * orthogonal(u).
    What is nearly orthogonal is found by `ns_steps` steps of Newton and Schulz, in bfloat16: X / |X|, then
    a X + (b X X' + c (X X')²) X.

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the learning rate.
        weight_decay: how much of the parameter, times the learning rate, to take away in each step.
        momentum: how much of the average of gradients to keep.
        nesterov: look ahead by the newest gradient?
        ns_coefficients: a, b and c.
        eps: the least norm to divide by.
        ns_steps: how many steps towards an orthogonal matrix, fewer than 100.
        adjust_lr_fn: `"original"` (also None) multiplies the rate by sqrt(max(1, rows / columns)),
            `"match_rms_adamw"` by 0.2 * sqrt(max(rows, columns)).

    Raises:
        ValueError: for parameters that are no matrices, negative options, another `adjust_lr_fn` and 100 steps or
            more.

    Sources: Jordan et al., 2024; Liu et al., 2025 (arXiv 2502.16982).

    Example::

        >>> import gradpack as torch
        >>> w = torch.eye(2, requires_grad=True)
        >>> optimizer = torch.optim.Muon([w], lr=0.5, weight_decay=0.0)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.diagonal().tolist()  # computed in bfloat16
        [0.4375, 0.4375]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in _ADJUSTMENTS:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.shape}"
                    )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients.

        Args:
            closure: computes the loss, and its gradients, anew; called once, with autograd on.

        Returns:
            What the closure returned, or None.

        Raises:
            RuntimeError: for complex parameters and sparse gradients.
        """
        loss = loss_of(closure)
        with no_grad():
            for group in self.param_groups:
                params = [p for p in group["params"] if p.grad is not None]
                for p in params:
                    if p.is_complex():
                        raise RuntimeError("Muon does not support complex parameters")
                    if p.grad.is_sparse:
                        raise RuntimeError("Muon does not support sparse gradients")
                    if p.dim() != 2:
                        raise ValueError("Param gradient must be a 2D matrix")
                for p in params:
                    self._update(p, p.grad, group)
        return loss

    def _update(self, p: Tensor, g: Tensor, group: dict[str, Any]) -> None:
        """Step one parameter."""
        own = self.state[p]
        if not own:
            own["momentum_buffer"] = zeros_like(g)
        buffer = own["momentum_buffer"]
        buffer.lerp_(g, 1 - group["momentum"])
        ahead = g.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
        change = _zeropower_via_newtonschulz(ahead, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rate = as_number(group["lr"])
        p.mul_(1 - rate * group["weight_decay"])
        p.add_(change, alpha=-_adjust_lr(rate, group["adjust_lr_fn"], p.shape))


def _zeropower_via_newtonschulz(
    grad: Tensor, ns_coefficients: tuple[float, float, float], ns_steps: int, eps: float
) -> Tensor:
    """Return in bfloat16 an approximation of the nearest orthogonal matrix, by Newton-Schulz iterations."""
    if ns_steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if grad.dim() != 2:
        raise ValueError("Input tensor gradient must be a 2D matrix")
    if len(ns_coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = ns_coefficients
    tall = grad.shape[0] > grad.shape[1]
    x: Any = grad.to(bfloat16)
    x = x.T if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(ns_steps):
        gram = x @ x.T
        x = addmm(x, addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    result: Tensor = x.T if tall else x
    return result


def _adjust_lr(lr: float, adjust_lr_fn: str | None, param_shape: tuple[int, ...]) -> float:
    """The learning rate for a matrix of a shape."""
    rows, columns = param_shape[:2]
    if adjust_lr_fn == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr * math.sqrt(max(1, rows / columns))
