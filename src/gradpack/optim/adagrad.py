"""Adagrad: scales each element of the gradient by the sum of its squares so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.create import tensor
from ..ops.sparse.coordinates import sparse_coo_tensor
from ._formula_optimizer import FormulaOptimizer, State, decayed, filled
from ._options import as_number, check_implementation, check_options, options_of


class Adagrad(FormulaOptimizer):
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

    _takes_sparse = True

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
        super().__init__(params, options_of(locals()))
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = {"step": tensor(0.0), **self._initial_state(p, group)}

    def share_memory(self) -> None:
        """Move the sums to where processes share them: see `Tensor.share_memory_`."""
        from ..core.shared_memory import share

        share([state["sum"] for state in self.state.values()])

    def _initial_state(self, p: Tensor, group: State) -> State:
        return {"sum": filled(p, group["initial_accumulator_value"])}

    def _formula(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        g = decayed(p, g, group)
        total = state["sum"] + g * g
        return p - g * rate / (total.sqrt() + group["eps"]), {"sum": total}

    def _step_parameter(self, p: Tensor, grad: Tensor, own: State, group: State) -> None:
        if not grad.is_sparse:
            super()._step_parameter(p, grad, own, group)
            return
        if group["weight_decay"]:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        own["step"] += 1
        rate = as_number(group["lr"]) / (1 + (own["step"].item() - 1) * group["lr_decay"])
        g = (-grad if group["maximize"] else grad).coalesce()
        own["sum"].add_(g * g)
        root = own["sum"].sparse_mask(g)._values().sqrt() + group["eps"]
        p.add_(sparse_coo_tensor(g._indices(), g._values() / root, g.shape), alpha=-rate)
