"""Operations by name, imported when they are first used.

Formulas name operations of other modules, and pairs of adjoints name each other. A formula says `late.expand(...)`, so
that its module need not import the other one, which would be a circular import. Generated code refers to the
operation itself: the lookup costs nothing there.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

# Names that no module exports, by module. `ops/lazy_names.py` has all others.
PLACES = {
    "autograd.api": "grad",
    "compiler": "compile",
    "core.torch_function": "dispatch",
    "core.views": "refresh",
    "ops.pointwise.complex_parts": "_real of_parts",
    "ops.reduce.cumulate": "_cumprod",
    "ops.shape.diagonal": "_diagonal_backward",
    "ops.index.places": "vector_along",
    "ops.index.index": (
        "_add_into _alias _index _index_along _index_pair _index_put _newaxis _select _slice _slice_newaxis"
    ),
    "ops.shape.join": "_cat _stack",
    "ops.pointwise.limits": "_clamp_to_numbers",
    "ops.linalg.solve": "_inv _solve_ex",
    "ops.linalg.svd": "_svd",
    "ops.linalg.triangular": "_solve_triangular",
    "ops.index.masked": "_masked_fill",
    "ops.create.numbers": "is_array is_sequence",
    "ops.index.scatter": "_gather_backward _scatter_add _scatter_value",
    "ops.index.scatter_reduce": "_scatter_prod",
    "ops.shape.shape": "_method_view",
    "ops.reduce.softmax": "_log_softmax",
}


@cache
def _modules() -> dict[str, str]:
    """The module of each name. A function that is exported goes before an operation of the same name."""
    exports = import_module("gradpack.ops.lazy_names").LAZY.items()
    found = {name: f"ops.{module}" for module, (_, _, ops) in exports for name in ops.split()}
    found |= {name: f"ops.{module}" for module, (functions, _, _) in exports for name in functions.split()}
    return found | {name: module for module, names in PLACES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _modules():
        raise AttributeError(f"late.{name} is in none of the modules that `base/late.py` lists")
    value = globals()[name] = getattr(import_module(f"gradpack.{_modules()[name]}"), name)
    return value
