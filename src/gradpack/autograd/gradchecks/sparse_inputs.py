"""Sparse inputs of `gradcheck`: replaced by dense ones, which can be perturbed and compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.fill_like import zeros_like
from ...ops.sparse.conversions import _entries_and_others
from ...ops.sparse.coordinates import sparse_coo_tensor
from ..api import grad
from ..gradcheck import Func, GradcheckError
from .numerical import differentiable_inputs, differentiable_outputs


def without_sparse(func: Func, inputs: Sequence[Any], masked: bool) -> tuple[Func, tuple[Any, ...]]:
    """Return the function and its inputs, with a dense tensor in place of each sparse one that requires grad.

    Args:
        masked: replace it by its values, so that only specified elements are perturbed; else by the dense tensor. The
            gradient is that of the specified elements in both cases.
    """
    places = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad and x.is_sparse]
    if not places:
        return func, tuple(inputs)
    patterns = {i: inputs[i].detach().coalesce() for i in places}
    given = list(inputs)
    for i, s in patterns.items():
        given[i] = (s.values().clone() if masked else s.to_dense()).requires_grad_()

    def dense_function(*args: Any) -> Any:
        values = list(args)
        for i, s in patterns.items():
            if masked:
                values[i] = sparse_coo_tensor(s.indices(), args[i], s.shape, is_coalesced=True)
            else:
                values[i] = _entries_and_others(args[i], s)
        return func(*values)

    return dense_function, tuple(given)


def check_kinds(func: Func, inputs: Sequence[Any]) -> None:
    """Raise unless sparse gradients have as many sparse and dense dimensions as their inputs."""
    outputs = differentiable_outputs(func(*inputs))
    sources = differentiable_inputs(inputs)
    if not outputs or any(out.is_sparse for out in outputs):
        return
    seeds = [zeros_like(out) for out in outputs]
    for x, g in zip(sources, grad(outputs, sources, seeds, allow_unused=True), strict=True):
        if g is None or not (g.is_sparse and x.is_sparse):
            continue
        for kind in ("sparse_dim", "dense_dim"):
            found, expected = getattr(g, kind)(), getattr(x, kind)()
            if found != expected:
                raise GradcheckError(f"grad is sparse tensor, but has incorrect {kind} {found}, expected {expected}")
