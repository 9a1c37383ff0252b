"""Nested arguments and results, in which data classes that hold tensors are containers, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..base.tree import LEAF, SUPPORTED_NODES, NodeDef, TreeSpec, node_type, tree_flatten
from ..core.tensor import Tensor


class Record:
    """Stands for data classes in structures; their context is the class, and the names of the fields."""


def _made(values: Any, context: tuple[type, tuple[str, ...]]) -> Any:
    kind, names = context
    made: Any = object.__new__(kind)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    return made


SUPPORTED_NODES[Record] = NodeDef(Record, lambda value: ([], None), _made, None)


def fields_of(value: Any) -> tuple[str, ...]:
    """Return the names of the fields of an object of a data class that holds nothing else, and a tensor; else ()."""
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is None or isinstance(value, type):
        return ()
    names = tuple(name for name in fields if hasattr(value, name))
    if getattr(value, "__dict__", dict.fromkeys(names)).keys() != set(names):
        return ()
    return names if any(isinstance(getattr(value, name), Tensor) for name in names) else ()


def parts_of(value: Any) -> tuple[list[Any], Any] | None:
    """Return the values of a container, and its structure; None for other values."""
    kind = node_type(value)
    if kind in SUPPORTED_NODES:
        parts, structure = SUPPORTED_NODES[kind].flatten_fn(value)
        return list(parts), list(structure) if isinstance(structure, list) else structure
    names = fields_of(value)
    return ([getattr(value, name) for name in names], (kind, names)) if names else None


def flattened(value: Any) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of nested values, and their structure, from which `tree_unflatten` makes them again."""
    leaves, tree = tree_flatten(value)
    if not any(map(fields_of, leaves)):
        return leaves, tree
    found: list[Any] = []
    grafts: list[TreeSpec] = []
    for leaf in leaves:
        names = fields_of(leaf)
        if names:
            inner, child = flattened([getattr(leaf, name) for name in names])
            found += inner
            grafts.append(TreeSpec(Record, (type(leaf), names), child._children))
        else:
            found.append(leaf)
            grafts.append(LEAF)
    return found, _grafted(tree, iter(grafts))


def _grafted(tree: TreeSpec, grafts: Iterator[TreeSpec]) -> TreeSpec:
    """Return a structure with others in the places of its leaves."""
    if tree.type is None:
        return next(grafts)
    return TreeSpec(tree.type, tree.context, [_grafted(child, grafts) for child in tree._children])


def records_in(tree: TreeSpec) -> list[type]:
    """Return the data classes in a structure."""
    own = [tree.context[0]] if tree.type is Record else []
    return own + [kind for child in tree._children for kind in records_in(child)]
