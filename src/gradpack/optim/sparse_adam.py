"""SparseAdam: Adam for gradients of tables, which touch few rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ..base.modes import using
from ..core.tensor import Tensor
from ..ops.sparse.coordinates import sparse_coo_tensor
from .by_formula import check_betas, zeros_beside
from .optimizer import Optimizer
from .options import as_number, loss_of


class SparseAdam(Optimizer):
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
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [(i, j, p) for i, group in enumerate(self.param_groups) for j, p in enumerate(group["params"])]
        sparse = [[i, j] for i, j, p in places if p.is_sparse]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        complex_ones = [[i, j] for i, j, p in places if p.is_complex()]
        if complex_ones:
            raise ValueError(
                f"Complex params at indices {complex_ones}: SparseAdam does not support complex parameters"
            )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients, which must be sparse.

        Raises:
            RuntimeError: for a dense gradient.
        """
        loss = loss_of(closure)
        with using(grad=False):
            for group in self.param_groups:
                params = [p for p in group["params"] if p.grad is not None]
                if not all(p.grad.is_sparse for p in params):
                    raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
                for p in params:
                    own = self.state[p]
                    if not own:
                        own.update({"step": 0, **zeros_beside(p, "exp_avg", "exp_avg_sq")})
                    own["step"] += 1
                    _update(p, (-p.grad if group.get("maximize") else p.grad).coalesce(), own, group)
        return loss


def _update(p: Tensor, g: Tensor, own: dict[str, Any], group: dict[str, Any]) -> None:
    """One parameter's step: the formula of Adam, at the entries of the gradient."""
    values = g._values()
    if not values.numel():
        return

    def entries(numbers: Tensor) -> Tensor:
        return sparse_coo_tensor(g._indices(), numbers, g.shape)

    new = []
    for name, target, beta in (("exp_avg", values, group["betas"][0]), ("exp_avg_sq", values**2, group["betas"][1])):
        old = own[name].sparse_mask(g)._values()
        change = (target - old) * (1 - beta)
        own[name].add_(entries(change))
        new.append(change + old)
    left1, left2 = (1 - beta ** own["step"] for beta in group["betas"])
    rate = as_number(group["lr"]) * math.sqrt(left2) / left1
    p.add_(entries(new[0] / (new[1].sqrt() + group["eps"]) * -rate))
