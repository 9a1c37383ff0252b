"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..backends.numpy import quiet
from ..base.modes import using
from ..core.tensor import Tensor
from ..nn.utils.direct import may_write
from . import kernels
from .optimizer import Optimizer
from .options import as_number, as_scalar, check_implementation, check_option, compute_dtype, loss_of


class SGD(Optimizer):
    """Goes against the gradient, with momentum if asked to.

    With g the gradient plus `weight_decay` times the parameter:
    buffer = momentum * buffer + (1 - dampening) * g (the first time: g), and then
    parameter -= lr * buffer, or lr * (g + momentum * buffer) with `nesterov`.

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the learning rate, a number or a tensor with one element.
        momentum: how much of the buffer to keep.
        dampening: how much of the gradient to leave out of the buffer.
        weight_decay: how much of the parameter to add to its gradient.
        nesterov: look ahead along the buffer.
        maximize: go along the gradient instead.
        foreach, fused: accepted; there is one implementation.
        differentiable: record the step, so that one can differentiate through it.

    Raises:
        ValueError: for negative options, and for `nesterov` without momentum or with dampening.

    Source: Sutskever et al., 2013 (Nesterov's momentum).

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.SGD([w], lr=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_option("lr", lr)
        check_option("momentum", momentum)
        check_option("weight_decay", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_implementation(foreach, fused, differentiable)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients.

        Args:
            closure: computes the loss, and its gradients, anew; called once, with autograd on.

        Returns:
            What the closure returned, or None.
        """
        loss = loss_of(closure)
        for group in self.param_groups:
            params = group["params"]
            if not self.defaults["differentiable"] and may_write():
                with quiet():
                    if group["momentum"] or group["weight_decay"] or group["maximize"]:
                        decay = as_number(group["weight_decay"])
                        options = {**group, "lr": as_number(group["lr"]), "weight_decay": decay}
                        params = kernels.sgd(params, self.state, options)
                    else:
                        params = kernels.descend(params, as_number(group["lr"]))
            if params:
                with using(grad=self.defaults["differentiable"]):
                    for p in params:
                        if p.grad is not None:
                            _update(p, p.grad, self.state, group)
        return loss


def _update(p: Tensor, grad: Tensor, state: Any, options: dict[str, Any]) -> None:
    """Step one parameter by the formula."""
    buffer = state[p].get("momentum_buffer") if options["momentum"] else None
    dtype = compute_dtype(p)
    before: list[Any] = [p, grad, buffer]
    if options["differentiable"]:  # saved tensors must not be the arrays that are written to below
        before = [None if t is None else t.clone() for t in before]
    wide: list[Any] = [None if t is None else t.to(dtype) for t in before]
    new, new_buffer = formula(
        *wide,
        lr=as_scalar(options["lr"]),
        momentum=options["momentum"],
        dampening=options["dampening"],
        weight_decay=as_scalar(options["weight_decay"]),
        nesterov=options["nesterov"],
        maximize=options["maximize"],
    )
    if buffer is not None:
        buffer.copy_(new_buffer)
    elif new_buffer is not None:
        state[p]["momentum_buffer"] = new_buffer.detach().to(p.dtype).clone()
    p.copy_(new)


def formula(
    p: Tensor,
    grad: Tensor,
    buffer: Tensor | None = None,
    *,
    lr: Any,
    momentum: float,
    dampening: float,
    weight_decay: Any,
    nesterov: bool,
    maximize: bool,
) -> tuple[Tensor, Tensor | None]:
    """Return the new parameter and momentum buffer. Differentiable, nothing is in-place."""
    g = -grad if maximize else grad
    if isinstance(weight_decay, Tensor) or weight_decay != 0:
        g = g + p * weight_decay
    if momentum != 0:
        buffer = g.detach() if buffer is None else buffer * momentum + g * (1 - dampening)
        g = g + buffer * momentum if nesterov else buffer
    return p - g * lr, buffer
