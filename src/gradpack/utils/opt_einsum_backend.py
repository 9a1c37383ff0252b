"""The functions by which opt_einsum contracts gradpack's tensors: it finds them under the name of their package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opt_einsum.backends import dispatch

from ..ops import methods

dispatch._aliases["gradpack"] = __name__


def _ours(name: str) -> Any:
    return methods.EXPORTED.get(name) or methods.exported(name)


def tensordot(x: Any, y: Any, axes: Any = 2) -> Any:
    """Sums of products over the dimensions `axes`: a number, or those of `x` and those of `y`."""
    return _ours("tensordot")(x, y, axes)


def transpose(a: Any, axes: Sequence[int]) -> Any:
    """A view with the dimensions in the order of `axes`."""
    return a.permute(axes)


def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products as the equation says, from left to right: the order is opt_einsum's."""
    return _ours("einsum")(equation, *operands)
