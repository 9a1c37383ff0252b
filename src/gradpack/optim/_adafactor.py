"""Adafactor: squares of gradients are remembered by rows and columns only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..base.info import finfo
from ..core.tensor import Tensor
from ._formula_optimizer import PerParameterOptimizer, State, lerped
from ._options import as_number, check_one_element, compute_dtype, options_of


class Adafactor(PerParameterOptimizer):
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
        check_one_element(lr)
        _check(lr >= 0, "Learning rate should be >= 0", lr)
        _check(beta2_decay <= 0, "beta2_decay should be <= 0", beta2_decay)
        _check(eps[0] is None or eps[0] >= 0, "epsilon1 should be >= 0", eps[0])
        _check(eps[1] >= 0, "epsilon2 should be >= 0", eps[1])
        _check(d >= 1, "Clipping threshold d should be >= 1", d)
        _check(weight_decay >= 0, "weight_decay should be >= 0", weight_decay)
        super().__init__(params, options_of(locals()))

    def _initial_state(self, p: Any, group: State) -> State:
        shape, new = list(p.grad.shape), p.grad.new_zeros
        if len(shape) < 2:
            return {"variance": new(shape)}
        return {"row_var": new([*shape[:-1], 1]), "col_var": new([*shape[:-2], 1, shape[-1]])}

    def _check_gradient(self, p: Any) -> None:
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        super()._check_gradient(p)

    def _step_parameter(self, p: Tensor, grad: Tensor, own: State, group: State) -> None:
        wide = compute_dtype(p)
        least = finfo(p.dtype).eps if group["eps"][0] is None else group["eps"][0]
        own["step"] += 1
        step = own["step"].item()
        renewed = step ** group["beta2_decay"]
        lr = as_number(group["lr"])
        rate = max(group["eps"][1], _size(p)) * min(lr, 1 / step**0.5)
        now, g = p.to(wide), (-grad if group["maximize"] else grad).to(wide)
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


def _check(holds: Any, rule: str, value: Any) -> None:
    """Raise ValueError for an option that breaks its rule."""
    if not holds:
        raise ValueError(f"{rule} but is: {value}")


def _size(t: Tensor) -> float:
    """Return the root mean square."""
    return float(t.norm(2).item()) / (t.numel() ** 0.5)
