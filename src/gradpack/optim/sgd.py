"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..backends.numpy import quiet
from ..core.tensor import Tensor
from . import _kernels as kernels
from ._formula_optimizer import PerParameterOptimizer, State
from ._options import as_number, as_scalar, check_implementation, check_option, compute_dtype, options_of


class SGD(PerParameterOptimizer):
    """Goes against the gradient, with momentum if asked to.

    With `g` the gradient plus `weight_decay` times the parameter:

    - `buffer = momentum * buffer + (1 - dampening) * g`, the first time `buffer = g`
    - `parameter -= lr * buffer`, or `parameter -= lr * (g + momentum * buffer)` with `nesterov`

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
        super().__init__(params, options_of(locals()))

    def _step_arrays(self, params: list[Tensor], group: State) -> list[Tensor]:
        lr = as_number(group["lr"])
        with quiet():
            if not (group["momentum"] or group["weight_decay"] or group["maximize"]):
                return kernels.descend(params, lr)
            options = {**group, "lr": lr, "weight_decay": as_number(group["weight_decay"])}
            return kernels.sgd(params, self.state, options)

    def _step_tensors(self, params: list[Any], group: State) -> None:
        for p in params:
            self._step_parameter(p, p.grad, self.state[p] if group["momentum"] else {}, group)

    def _step_parameter(self, p: Tensor, grad: Tensor, own: State, group: State) -> None:
        buffer = own.get("momentum_buffer") if group["momentum"] else None
        dtype = compute_dtype(p)
        before: list[Any] = [p, grad, buffer]
        if group["differentiable"]:  # saved tensors must not be the arrays that are written to below
            before = [None if t is None else t.clone() for t in before]
        wide: list[Any] = [None if t is None else t.to(dtype) for t in before]
        new, new_buffer = _move(*wide, group=group)
        if buffer is not None:
            buffer.copy_(new_buffer)
        elif new_buffer is not None:
            own["momentum_buffer"] = new_buffer.detach().to(p.dtype).clone()
        p.copy_(new)


def _move(p: Tensor, grad: Tensor, buffer: Tensor | None, *, group: State) -> tuple[Tensor, Tensor | None]:
    """Return the new parameter and momentum buffer. Differentiable, nothing is in-place."""
    momentum, decay = group["momentum"], as_scalar(group["weight_decay"])
    g = -grad if group["maximize"] else grad
    if isinstance(decay, Tensor) or decay != 0:
        g = g + p * decay
    if isinstance(momentum, Tensor) or momentum != 0:
        buffer = g.detach() if buffer is None else buffer * momentum + g * (1 - group["dampening"])
        g = g + buffer * momentum if group["nesterov"] else buffer
    return p - g * as_scalar(group["lr"]), buffer
