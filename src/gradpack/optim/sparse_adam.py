"""SparseAdam: Adam for gradients of tables, which touch few rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ..ops.sparse.coordinates import sparse_coo_tensor
from ._formula_optimizer import PerParameterOptimizer, State, zeros_beside
from ._options import as_number, check_betas, check_one_element, options_of


class SparseAdam(PerParameterOptimizer):
    """Adam where only what has an entry in the gradient moves, and only its averages change.

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the learning rate.
        betas: how much of the averages to keep.
        eps: keeps the division away from zero.
        maximize: go along the gradient instead.

    Raises:
        ValueError: for options out of range, and for sparse or complex parameters.

    Example::

        >>> import gradpack as torch
        >>> table = torch.nn.Embedding.from_pretrained(torch.ones(3, 1), freeze=False, sparse=True)
        >>> optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.25)
        >>> table(torch.tensor([1])).sum().backward()
        >>> optimizer.step()
        >>> table.weight.flatten().detach()
        tensor([1.0000, 0.7500, 1.0000])
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_one_element(lr)
        if not lr > 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, options_of(locals()))
        places = [(i, j, p) for i, group in enumerate(self.param_groups) for j, p in enumerate(group["params"])]
        sparse = [[i, j] for i, j, p in places if p.is_sparse]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        complex_ones = [[i, j] for i, j, p in places if p.is_complex()]
        if complex_ones:
            raise ValueError(
                f"Complex params at indices {complex_ones}: SparseAdam does not support complex parameters"
            )

    def _initial_state(self, p: Tensor, group: State) -> State:
        return {"step": 0, **zeros_beside(p, "exp_avg", "exp_avg_sq")}

    def _check_gradient(self, p: Any) -> None:
        if not p.grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")

    def _step_parameter(self, p: Tensor, grad: Tensor, own: State, group: State) -> None:
        """Step one parameter: the formula of Adam, at the entries of the gradient."""
        own["step"] += 1
        g = (-grad if group.get("maximize") else grad).coalesce()
        values = g._values()
        if not values.numel():
            return

        def entries(numbers: Tensor) -> Tensor:
            return sparse_coo_tensor(g._indices(), numbers, g.shape)

        new = []
        for name, target, beta in (
            ("exp_avg", values, group["betas"][0]),
            ("exp_avg_sq", values**2, group["betas"][1]),
        ):
            old = own[name].sparse_mask(g)._values()
            change = (target - old) * (1 - beta)
            own[name].add_(entries(change))
            new.append(change + old)
        left1, left2 = (1 - beta ** own["step"] for beta in group["betas"])
        rate = as_number(group["lr"]) * math.sqrt(left2) / left1
        p.add_(entries(new[0] / (new[1].sqrt() + group["eps"]) * -rate))
