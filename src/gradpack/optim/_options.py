"""Options of optimizers: checks, and tensors in place of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd.grad_mode import enable_grad
from ..base.dtypes import dtype, float32
from ..core.tensor import Tensor


def loss_of(closure: Callable[[], Any] | None) -> Any:
    """Return the loss that the closure of a step computes with grad mode enabled; None without a closure."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def check_option(name: str, value: Any) -> None:
    """An option that must not be negative; a tensor must have one element.

    Raises:
        ValueError: if it is not so.
    """
    if isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError(f"Tensor {name} must be 1-element, but has shape {list(value.shape)}")
    try:
        allowed = value >= 0
    except TypeError:
        raise TypeError(f"{name} must be a number, not {type(value).__name__}") from None
    if not allowed:
        full = {"lr": "learning rate", "eps": "epsilon value"}.get(name, f"{name} value")
        raise ValueError(f"Invalid {full}: {value}")


def check_implementation(foreach: bool | None, fused: bool | None, differentiable: bool) -> None:
    """The choices of implementation that exclude each other. Otherwise they change nothing here.

    Raises:
        RuntimeError: if it asks for two at once.
    """
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def as_scalar(value: Any) -> Any:
    """Return a one-element tensor as a 0-dim tensor; any other value unchanged."""
    return value.squeeze() if isinstance(value, Tensor) and value.dim() else value


def as_number(value: Any) -> Any:
    """Return the value of a one-element tensor; any other value unchanged."""
    return value.item() if isinstance(value, Tensor) else value


def compute_dtype(p: Tensor) -> dtype:
    """The dtype in which to compute a step: low precision is for storage."""
    return float32 if p.dtype.low else p.dtype


def check_options(lr: Any, **options: Any) -> None:
    """Raise ValueError for a negative option or for betas outside of [0, 1), in the order given."""
    check_one_element(lr)
    check_option("lr", lr)
    for name, value in options.items():
        if name == "betas":
            check_betas(value)
        else:
            check_option(name, value)


def check_one_element(lr: Any) -> None:
    """Raise ValueError for a learning rate that is a tensor of several elements."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_betas(betas: tuple[Any, Any]) -> None:
    """Raise unless there are two (TypeError, IndexError), both in [0, 1) (ValueError)."""
    check_two("betas", betas)
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_two(name: str, values: Any) -> None:
    """Raise unless an option is a pair: TypeError for what is no sequence, IndexError for another number of values."""
    if not isinstance(values, list | tuple):
        raise TypeError(f"{name} must be a tuple of two numbers, not {type(values).__name__}")
    if len(values) != 2:
        raise IndexError(f"{name} must be a tuple of two numbers, and got {len(values)}: {values}")


def options_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return those arguments of a constructor, given as its `locals()`, that are options of parameter groups: all."""
    return {name: value for name, value in arguments.items() if name not in ("self", "params", "__class__")}
