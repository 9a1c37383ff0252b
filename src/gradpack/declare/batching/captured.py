"""Refusal of in-place writes to captured tensors under a transform: a derivative would leak out through them."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import Any

from ...base.modes import TRANSFORMS
from ...core.tensor import Tensor
from ...core.views import base_of


def refuse_captured(target: Tensor, name: str) -> None:
    """Raise RuntimeError if a transformed function has `target`, or what it is a view of, in its closure."""
    base = base_of(target) if target._view is not None else target
    for transform in TRANSFORMS.get():
        if any(t is target or t is base for t in _captured(transform.function, set())):
            raise RuntimeError(
                "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
                f"operation (aten::{name}) that would mutate a captured Tensor. This is not supported; please rewrite "
                "the function being transformed to explicitly accept the mutated Tensor(s) as inputs."
            )


def _captured(function: Any, seen: set[int]) -> Iterator[Tensor]:
    """The tensors in closures of a function, of functions in these, and in modules that it is or has."""
    if id(function) in seen:
        return
    seen.add(id(function))
    if isinstance(function, Tensor):
        yield function
    elif isinstance(function, FunctionType):
        for name in function.__code__.co_names:
            if isinstance(function.__globals__.get(name), Tensor):
                yield function.__globals__[name]
        for cell in function.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # not there yet
                continue
            yield from _captured(value, seen)
    elif isinstance(function, MethodType):
        yield from _captured(function.__self__, seen)
    elif hasattr(function, "buffers") and hasattr(function, "parameters"):
        yield from function.buffers()
        yield from function.parameters()
    elif hasattr(function, "func") and hasattr(function, "keywords"):  # functools.partial
        for value in (function.func, *function.args, *function.keywords.values()):
            yield from _captured(value, seen)
