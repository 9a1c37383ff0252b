"""Parts of the text of an instruction that depend on nothing else in its program."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .passes.small_loops import SmallLoop
from .program import Instruction, Variable

SIGNS = {
    "np.add": "+", "np.subtract": "-", "np.multiply": "*", "np.divide": "/", "np.true_divide": "/", "np.matmul": "@",
    "np.negative": "-", "operator.pow": "**", "np.greater": ">", "np.less": "<", "np.equal": "==",
}  # fmt: skip

_VIEWS = ("item", "np.ndarray.reshape", "attribute_mT", "attribute_T")
_AS_METHODS = (np.dot, np.reshape, np.swapaxes, np.transpose)


def is_method(each: Instruction) -> bool:
    """Return whether an instruction is a function of NumPy's that takes less time as a method of its first argument."""
    if each.kwargs or each.function not in _AS_METHODS or not each.args:
        return False
    return isinstance(each.args[0], Variable) and each.args[0].shape != ()


def may_warn(each: Instruction) -> bool:
    """Return whether a call may warn of what is no number: not a product, a view, or a loop on small arrays."""
    return not (isinstance(each.function, SmallLoop) or each.function in _AS_METHODS or each.name in _VIEWS)


def hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def facts(each: Instruction) -> list[tuple[Any, Any]]:
    """Return the shape and dtype of each array among the results."""

    def of(results: Any, expected: Any) -> list[tuple[Any, Any]]:
        if isinstance(results, Variable):
            return [expected]
        if isinstance(results, list | tuple):
            return [fact for r, e in zip(results, expected, strict=True) for fact in of(r, e)]
        return []

    return of(each.results, each.expected)


def commented(text: str) -> str:
    return "".join(f"#     {line}\n" for line in text.splitlines())


def shown(line: str) -> str:
    place, _, rest = line.partition(" in ")
    return f"{os.path.basename(place)} in {rest}" if rest else "(no line)"


def message(each: Instruction) -> str:
    what = "a value that Python looked at" if each.kind == "guard" else f"the shape that {each.name} gave"
    return f"{what} is another one, at {each.line}"
