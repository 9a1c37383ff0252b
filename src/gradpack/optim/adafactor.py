"""Adafactor: squares of gradients are remembered by rows and columns only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..base.info import finfo
from ..base.modes import using
from ..core.tensor import Tensor
from ..ops.create.create import tensor as new_tensor
from .by_formula import lerped
from .optimizer import Optimizer
from .options import as_number, compute_dtype, loss_of


class Adafactor(Optimizer):
    """Divides the gradient by the root of an estimate of its square, the product of averages of rows and columns.

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the most that the relative step may be.
        beta2_decay: the power of the step by which averages are renewed.
        eps: keeps the estimate away from zero (None: by dtype), and the least size of a parameter.
        d: the most that the root mean square of an update may be.
        weight_decay: the parameter is multiplied by 1 - lr * weight_decay.
        maximize: go along the gradient instead.

    Raises:
        ValueError: for options out of range.

    Source: Shazeer and Stern, 2018.

    Example::

        >>> import gradpack as torch
        >>> w = torch.ones(2, 2, requires_grad=True)
        >>> optimizer = torch.optim.Adafactor([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w[0]
        tensor([0.7500, 0.7500], grad_fn=<SelectBackward0>)
    """

    _counts_in_tensors = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients."""
        loss = loss_of(closure)
        with using(grad=False):
            for group in self.param_groups:
                params = [p for p in group["params"] if p.grad is not None]
                for p in params:
                    if p.is_complex():
                        raise RuntimeError("Adafactor does not support complex parameters")
                    if p.grad.is_sparse:
                        raise RuntimeError("Adafactor does not support sparse gradients")
                for p in params:
                    own = self.state[p]
                    if not own:
                        own.update(_start(p.grad))
                    _update(p, -p.grad if group["maximize"] else p.grad, own, group)
        return loss


def _start(grad: Tensor) -> dict[str, Any]:
    shape = list(grad.shape)
    if len(shape) < 2:
        return {"step": new_tensor(0.0), "variance": grad.new_zeros(shape)}
    return {
        "step": new_tensor(0.0),
        "row_var": grad.new_zeros([*shape[:-1], 1]),
        "col_var": grad.new_zeros([*shape[:-2], 1, shape[-1]]),
    }


def _size(t: Tensor) -> float:
    """Return the root mean square."""
    return float(t.norm(2).item()) / (t.numel() ** 0.5)


def _update(p: Tensor, g: Tensor, own: dict[str, Any], group: dict[str, Any]) -> None:
    """Step one parameter."""
    wide = compute_dtype(p)
    least = finfo(p.dtype).eps if group["eps"][0] is None else group["eps"][0]
    own["step"] += 1
    step = own["step"].item()
    renewed = step ** group["beta2_decay"]
    lr = as_number(group["lr"])
    rate = max(group["eps"][1], _size(p)) * min(lr, 1 / step**0.5)
    now, g = p.to(wide), g.to(wide)
    if group["weight_decay"]:
        now = now * (1 - lr * group["weight_decay"])
    square = g * g
    if g.ndim > 1:
        rows = lerped(own["row_var"].to(wide), square.mean(-1, keepdim=True), renewed)
        columns = lerped(own["col_var"].to(wide), square.mean(-2, keepdim=True), renewed)
        own["row_var"].copy_(rows)
        own["col_var"].copy_(columns)
        estimate = rows @ columns / rows.mean(-2, keepdim=True).clamp(min=least)
    else:
        estimate = lerped(own["variance"].to(wide), square, renewed)
        own["variance"].copy_(estimate)
    update = estimate.clamp(min=least * least).rsqrt() * g
    p.copy_(now - update * (rate / max(1.0, _size(update) / group["d"])))
