"""`torch._vmap_internals`: the `vmap` of before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....func import vmap


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """`func.vmap`; results that are None stay None."""
    return vmap(func, in_dims, out_dims)


__all__ = ["vmap"]
