"""Which calls give results whose shapes cannot depend on values."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

from ..kernels.table import TABLE

# What gives results whose shapes depend on values.
_DYNAMIC = re.compile(r"nonzero|where|unique|mask|compress|extract|trim|repeat|bincount|histogram|delete|split|1d")
_STATIC = frozenset(
    """np.where where embedding gather take index_select tensor_split split eq ne lt le gt ge isnan isinf isfinite
    logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not masked_fill argmax
    argmin sort argsort topk any all scatter scatter_add index_add take_by_class_2d to_copy clone copied sum mean prod
    power select placed_along take_along add_up square_sum dots multiply_up _extreme
    amax amin max min cumsum cumprod reshape view permute transpose expand squeeze unsqueeze cat stack flip roll copy
    """.split()
)


def is_static(origin: Any, name: str, args: Any, given: list[Any]) -> bool:
    """Whether the shapes of results cannot depend on values."""
    if name == "item":
        return not any(isinstance(i, list) or getattr(i, "dtype", 0) == np.bool_ for i in _items(args[1]))
    if name in _STATIC or name.startswith(("as_", "attribute_")) or _is_ufunc(name):
        return name != "np.where" or len(args) == 3
    if origin is None and (name in _kernels() or (name == "np.repeat" and type(args[1]) is int)):
        return True
    if origin is not None and (origin[1] != "forward" or origin[0].kind == "elementwise"):
        return True
    known = origin is None and name.startswith("np.")
    return not _DYNAMIC.search(name) and (known or all(a.dtype.kind in "fcV" for a in given))  # V: bfloat16


@cache
def _kernels() -> frozenset[str]:
    """Return the names of functions for which kernels stand in."""
    return frozenset(path.rpartition(".")[2] for path in TABLE)


def _items(index: Any) -> Any:
    return index if isinstance(index, tuple) else (index,)


def _is_ufunc(name: str) -> bool:
    return name.startswith("np.") and isinstance(getattr(np, name.split(".")[1], None), np.ufunc)
