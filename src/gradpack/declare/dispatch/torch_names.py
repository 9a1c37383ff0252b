"""Torch's names of nodes and of their saved attributes, where the names of gradpack's operations differ.

Used only when attributes of a node are read, never in forward or backward.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from math import prod
from typing import Any

from ...core.tensor import Tensor
from ..op import Op

# Of every operation: torch's name of a saved value -> ours.
COMMON = {"self": "input", "result": "out", "self_sym_sizes": "input_shape", "other_sym_sizes": "other_shape"}


def attributes(node: Any) -> dict[str, str] | None:
    """Return torch's names of a node's saved attributes and where each value is found; None if there is no entry."""
    text = node.op.saved_as
    if isinstance(text, dict):
        text = text.get(node.name(), text.get(""))
    if text is None:
        return None
    pairs = (word.partition("=") for word in text.split())
    return {name: value or COMMON.get(name, name) for name, _, value in pairs}


def _number(node: Any, name: str) -> bool:
    return isinstance(getattr(node, name, None), int | float | complex)


def _is_number_operand(node: Any, other: str) -> bool:
    """Return whether the operand is a number, or a tensor without grad that was not saved."""
    if node.edges[node.op.inputs.index(other)] is not None:
        return False
    return not _has(node, other) or _number(node, other)


def _has(node: Any, name: str) -> bool:
    try:
        object.__getattribute__(node, name)
    except AttributeError:
        return False
    return True


def overload_of(node: Any) -> str:
    """Return which of the nodes that `Op.overloads` names this one is."""
    names = node.op.overloads
    if callable(names):
        return str(names(node))
    return next((name for p, name in names.items() if p and _is_number_operand(node, p)), names[""])


def may_stay(op: Op, name: str) -> bool:
    """Return whether a saved input may be a number or None that torch, too, keeps after backward has freed tensors."""
    if op.saves(name) != "input":
        return False
    if op.defaults.get(name, 0) is None:
        return True
    return (
        op.overloads is not None if op.scalars and len(op.promote) > 1 and name in op.promote else name not in op.inputs
    )


def freeing(op: Op, names: list[str]) -> list[str]:
    """Return the statements that free the saved values of these names."""
    found = []
    for n in names:
        if may_stay(op, n):
            readers = [p for p in op.inputs if n in op.reads[p]]
            test = " or ".join(f"{p}_edge is not None" for p in readers)
            found.append(f"{'' if len(readers) == len(op.inputs) else f'if {test}: '}_self.{n} = _freed(_self.{n})")
        elif op.saves(n) in ("input", "result", "residual"):
            found.append(f"_self.{n} = _FREED")
    return found or ["pass"]


def places(node: Any) -> tuple[int, ...] | None:
    """Return which edges torch's node has, in its order; None for all of them."""
    text = node.op.edges.get(node.name())
    return None if text is None else tuple(map(node.op.inputs.index, text.split()))


def read(node: Any, where: str, value: Callable[[str], Any]) -> Any:
    """Read one attribute. `value(name)` returns the saved value of a gradpack name."""
    if where.startswith(":"):
        return literal_eval(where[1:])
    if where.startswith("("):
        found = value(where[1:-1])
        return (found,) if isinstance(found, int) else found
    if where.endswith("]"):
        rest, _, i = where[:-1].rpartition("[")
        return read(node, rest, value)[int(i)]
    name, _, what = where.partition(".")
    if name == "plan":  # of `interpolate`: for each dimension the kind, sizes, align_corners, the scale
        plan = value(name)
        return tuple(p[2] for p in plan) if what == "sizes" else plan[0][3] if what == "align" else plan
    if name in ("slice", "select"):
        return _subscript(node, what)
    if what == "channels":  # of a bias: only whether it has an edge is known
        if node.edges[node.op.inputs.index(name)] is None:
            return (0,)
        shape = node.weight_shape if hasattr(node, "weight_shape") else node.weight.shape
        return (shape[1] * node.groups if node.transposed else shape[0],)
    if what == "indices":
        return _indices(node, name, value)
    if not what:
        return value(name)
    if what in ("shape", "numel") and hasattr(type(node), name + "_shape"):
        shape = tuple(getattr(node, name + "_shape", ()))
    else:
        found = value(name)
        if not isinstance(found, Tensor):
            return found
        if what.startswith("T"):
            found = found.t() if found.ndim == 2 else found
            if what == "T":
                return found
        if what.endswith("strides"):
            return tuple(found.stride())
        shape = tuple(found._shape)
    return prod(shape) if what == "numel" else shape


def _subscript(node: Any, what: str) -> Any:
    """Return the dimension that the last int or slice of a subscript indexes, and the index.

    torch takes them one after the other: an int has taken its dimension away, and None has made one.
    """
    dim = own = 0  # sizes after the items before, and of the input
    last: tuple[int, int, Any] = (0, 0, 0)
    for i, item in enumerate(node.place):
        if item is None:
            dim += 1
        elif item is ...:
            skipped = len(node.input_shape) - own - sum(v is not None for v in node.place[i + 1 :])
            dim, own = dim + skipped, own + skipped
        else:
            if hasattr(item, "__index__") or item != slice(None):
                last = (dim, own, item)
            dim, own = dim + (not hasattr(item, "__index__")), own + 1
    dim, own, item = last
    if what in ("dim", "index"):
        return dim if what == "dim" else item
    size = node.input_shape[own]
    start, stop, step = item.indices(size) if isinstance(item, slice) else (0, size, 1)
    if isinstance(item, slice) and item.stop is None:
        stop = 2**63 - 1
    return {"start": start, "stop": stop, "step": step}[what]


def _indices(node: Any, name: str, value: Callable[[str], Any]) -> tuple[Any, ...]:
    if name == "pair":
        return value("first"), value("second")
    return (*(None,) * node.start, value("index"))
