"""Tensors of PyTorch itself, in one process with ours: they do not mix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def is_foreign(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch itself."""
    return any(kind.__module__ == "torch._C" for kind in type(value).__mro__)


def any_foreign(values: Iterable[Any], seen: set[int] | None = None) -> bool:
    """Whether one of several values is a tensor of PyTorch itself, or a container with one."""
    seen = set() if seen is None else seen
    for value in list(values):
        if isinstance(value, list | tuple | dict):
            if id(value) not in seen:  # containers may contain themselves
                seen.add(id(value))
                if any_foreign(value, seen):
                    return True
        elif is_foreign(value):
            return True
    return False


def foreign_function(func: Any) -> bool:
    """Whether a function belongs to PyTorch itself, which knows nothing of `DisableTorchFunctionSubclass` here."""
    if getattr(func, "__qualname__", "").startswith("_VariableFunctionsClass."):  # torch.add and its like
        return True
    while getattr(func, "__self__", None) is not None:  # of a property, or of a C++ class or module
        func = func.__self__
    func = getattr(func, "__objclass__", func)
    within = getattr(func, "__globals__", {}).get("__name__") or getattr(func, "__module__", None)
    return str(within or getattr(func, "__name__", "")).startswith("torch.")


def mixed(name: str) -> TypeError:
    """The error for tensors of both libraries in one call."""
    return TypeError(
        f"{name}(): tensors of PyTorch and of gradpack do not mix: gradpack.from_dlpack(x) makes one of gradpack of a "
        "tensor of PyTorch, and torch.from_dlpack(x) one of PyTorch"
    )
