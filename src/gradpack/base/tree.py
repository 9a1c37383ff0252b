"""Pytrees: flatten nested containers of values, unflatten them, and broadcast one to another.

Containers are tuples, named tuples, lists, dicts, ordered and default dicts. Everything else, None too, is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

_NODES = (tuple, list, dict, OrderedDict, defaultdict)


def _named(value: Any) -> bool:
    return isinstance(value, tuple) and type(value) is not tuple and hasattr(value, "_fields")


class TreeSpec:
    """The structure of nested containers: type, context (such as the keys of a dict), and the specs of the children."""

    __slots__ = ("children", "context", "num_leaves", "type")

    def __init__(self, kind: Any, context: Any, children: list[TreeSpec]) -> None:
        self.type, self.context, self.children = kind, context, children
        self.num_leaves = 1 if kind is None else 0
        for child in children:
            self.num_leaves += child.num_leaves

    def is_leaf(self) -> bool:
        return self.type is None

    def unflatten(self, leaves: Any) -> Any:
        return tree_unflatten(leaves, self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and (self.type, self.context) == (other.type, other.context)
            and self.children == other.children
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        indent += 2
        items = (",\n" + " " * indent).join(c.__repr__(indent) for c in self.children)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{items}])"


LEAF = TreeSpec(None, None, [])


def tree_flatten(value: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of nested containers from left to right, and their structure."""
    if not isinstance(value, _NODES):
        return [value], LEAF
    leaves: list[Any] = []
    return leaves, _flatten(value, leaves, is_leaf)


def _flatten(value: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> TreeSpec:
    parts = None if is_leaf is not None and is_leaf(value) else _parts(value)
    if parts is None:
        leaves.append(value)
        return LEAF
    kind, context, items = parts
    children = []
    for item in items:
        if isinstance(item, _NODES):
            children.append(_flatten(item, leaves, is_leaf))
        else:
            leaves.append(item)
            children.append(LEAF)
    return TreeSpec(kind, context, children)


def _parts(value: Any) -> tuple[Any, Any, list[Any]] | None:
    kind = type(value)
    if kind in (tuple, list) or _named(value):
        return kind, None, list(value)
    if kind in (dict, OrderedDict):
        return kind, list(value), list(value.values())
    if kind is defaultdict:
        return kind, [value.default_factory, list(value)], list(value.values())
    return None


def tree_unflatten(leaves: Any, spec: TreeSpec) -> Any:
    """Rebuild nested containers from their leaves and their structure."""
    leaves = list(leaves)
    if len(leaves) != spec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
            f"holds {spec.num_leaves} items ({spec})."
        )
    return leaves[0] if spec.type is None else _build(iter(leaves), spec)


def _build(leaves: Any, spec: TreeSpec) -> Any:
    kind, items = spec.type, []
    for child in spec.children:
        items.append(next(leaves) if child.type is None else _build(leaves, child))  # noqa: PERF401 - called often
    if kind in (tuple, list):
        return kind(items)
    if kind in (dict, OrderedDict):
        return kind(zip(spec.context, items, strict=True))
    if kind is defaultdict:
        return defaultdict(spec.context[0], zip(spec.context[1], items, strict=True))
    return kind(*items)


def tree_map(function: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """Apply a function to each leaf, or to the corresponding leaves of several trees of the same structure."""
    leaves, spec = tree_flatten(tree)
    others = [tree_flatten(rest)[0] for rest in rests]
    return tree_unflatten([function(*group) for group in zip(leaves, *others, strict=True)], spec)


def tree_leaves(value: Any) -> list[Any]:
    """The leaves of nested containers."""
    return tree_flatten(value)[0]


def broadcast_to(tree: Any, spec: TreeSpec) -> list[Any] | None:
    """One value for each leaf of `spec`, from a tree that may stop early; None if the two do not match."""
    if not isinstance(tree, _NODES):
        return [tree] * spec.num_leaves
    found: list[Any] = []
    return found if _broadcast(tree, spec, found) else None


def _broadcast(tree: Any, spec: TreeSpec, found: list[Any]) -> bool:
    parts = _parts(tree)
    if parts is None:
        found.extend([tree] * spec.num_leaves)
        return True
    kind, context, items = parts
    if spec.type is None or kind is not spec.type or context != spec.context or len(items) != len(spec.children):
        return False
    return all(_broadcast(item, child, found) for item, child in zip(items, spec.children, strict=True))
