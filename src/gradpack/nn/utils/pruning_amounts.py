"""How many elements or channels of a tensor to prune, and which: the smallest scores."""

from __future__ import annotations

from typing import Any

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from ...ops.reduce.norm import norm


def _mask_elements(scores: Tensor, amount: float, default_mask: Tensor) -> Tensor:
    """Return the mask with zeros at the smallest scores as well."""
    count = _how_many(amount, scores.numel())
    mask = default_mask.clone()
    if count:
        with no_grad():
            mask.view(-1)[scores.reshape(-1).topk(count, largest=False).indices] = 0
    return mask


def _how_many(amount: float, size: int) -> int:
    """Return how many of `size` elements to prune."""
    count = _compute_nparams_toprune(amount, size)
    _validate_pruning_amount(count, size)
    return count


def _validate_pruning_amount_init(amount: Any) -> None:
    """Raise unless it is a fraction or a number of elements."""
    if not isinstance(amount, int | float):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if not (0.0 <= amount <= 1.0 if isinstance(amount, float) else amount >= 0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """Raise ValueError for more elements than there are."""
    if not isinstance(amount, float) and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _validate_structured_pruning(t: Tensor) -> None:
    """Raise ValueError for a tensor without channels."""
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.dim()} dims"
        )


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    """Raise IndexError for a dimension that is not there."""
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_nparams_toprune(amount: float, tensor_size: int) -> int:
    """Return how many elements an amount (a count or a fraction) means."""
    return round(amount * tensor_size) if isinstance(amount, float) else amount


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    """The norm of each channel along `dim`."""
    dims = list(range(t.dim()))
    dims.remove(dims[dim] if -t.dim() <= dim < t.dim() else dim)
    result: Tensor = norm(t, p=n, dim=dims)
    return result
