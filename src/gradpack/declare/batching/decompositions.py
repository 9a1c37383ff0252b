"""Decompositions of operations that do not declare one themselves."""

from __future__ import annotations

from typing import Any

from ...base.dtypes import BOOL
from .batch_call import call


def _scaled(value: Any, factor: Any) -> Any:
    return value if factor == 1 or (factor and value._spec.dtype.category == BOOL) else call("mul", value, factor)


def _added(name: str) -> Any:
    """`beta * input + alpha * (a name b)`; what beta = 0 multiplies does not count."""

    def meaning(input: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
        product = _scaled(call(name, a, b), alpha)
        if beta == 0:
            return product
        return call("add", product, _scaled(input, beta))

    return meaning


def _addbmm(input: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    product = _scaled(call("_sum_dim", call("bmm", a, b), 0), alpha)
    return product if beta == 0 else call("add", product, _scaled(input, beta))


def _bilinear(first: Any, second: Any, weight: Any, bias: Any = None) -> Any:
    made = call("_triple", "bi,oij,bj->bo", _rows(first), weight, _rows(second))
    made = call("reshape", made, (*first._shape[:-1], weight._shape[0]))
    return made if bias is None else call("add", made, bias)


def _rows(value: Any) -> Any:
    return call("reshape", value, (-1, value._shape[-1]))


def _dist(input: Any, other: Any, p: Any = 2.0) -> Any:
    return call("linalg_vector_norm", call("sub", input, other), p)


MEANINGS: dict[str, Any] = {
    "addmm": _added("mm"),
    "addmv": _added("mv"),
    "addr": _added("outer"),
    "baddbmm": _added("bmm"),
    "addbmm": _addbmm,
    "bilinear": _bilinear,
    "dist": _dist,
}
