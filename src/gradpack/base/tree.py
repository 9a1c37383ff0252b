"""Pytrees: flatten nested containers of values, unflatten them, and broadcast one to another.

Containers are tuples, named tuples, lists, dicts, ordered and default dicts, deques, and what was registered.
Everything else, None too, is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from itertools import islice
from typing import Any

_NODES: tuple[type, ...] = (tuple, list, dict, OrderedDict, defaultdict, deque)
# Other containers, with how to get `(items, context)` of one, and how to make one of these.
REGISTERED: dict[Any, tuple[Callable[[Any], tuple[Any, Any]], Callable[[Any, Any], Any]]] = {
    deque: (lambda value: (list(value), value.maxlen), deque)
}


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


class LeafSpec(TreeSpec):
    """The structure of a leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


LEAF = LeafSpec()


def register(kind: type, flatten: Callable[[Any], tuple[Any, Any]], unflatten: Callable[[Any, Any], Any]) -> None:
    """Make a type a container; its subclasses are none."""
    global _NODES
    REGISTERED[kind] = (flatten, unflatten)
    _NODES = (*_NODES, kind)


def tree_flatten(value: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of nested containers from left to right, and their structure."""
    kind: Any = type(value)
    context: Any = None
    items: Any = value
    if not issubclass(kind, _NODES) or (is_leaf is not None and is_leaf(value)):
        kind = None
    elif kind is dict or kind is OrderedDict:
        context, items = list(value), value.values()
    elif kind is defaultdict:
        context, items = [value.default_factory, list(value)], value.values()
    elif kind in REGISTERED:
        items, context = REGISTERED[kind][0](value)
    elif kind is not tuple and kind is not list and not (isinstance(value, tuple) and hasattr(value, "_fields")):
        kind = None
    if kind is None:
        return [value], LEAF
    leaves: list[Any] = []
    children = []
    for item in items:
        if isinstance(item, _NODES):
            found, child = tree_flatten(item, is_leaf)
            leaves += found
            children.append(child)
        else:
            leaves.append(item)
            children.append(LEAF)
    return leaves, TreeSpec(kind, context, children)


def tree_unflatten(leaves: Any, spec: TreeSpec) -> Any:
    """Rebuild nested containers from their leaves and their structure."""
    leaves = list(leaves)
    if len(leaves) != spec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
            f"holds {spec.num_leaves} items ({spec})."
        )
    if spec.type is None:
        return leaves[0]
    kind, items, rest = spec.type, [], iter(leaves)
    for child in spec.children:
        items.append(next(rest) if child.type is None else tree_unflatten(islice(rest, child.num_leaves), child))  # noqa: PERF401 - called often
    if kind in (tuple, list):
        return kind(items)
    if kind in (dict, OrderedDict):
        return kind(zip(spec.context, items, strict=True))
    if kind is defaultdict:
        return defaultdict(spec.context[0], zip(spec.context[1], items, strict=True))
    if kind in REGISTERED:
        return REGISTERED[kind][1](items, spec.context)
    return spec.context(*items) if kind is namedtuple else kind(*items)


def tree_map(function: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Apply a function to each leaf, or to the corresponding leaves of several trees of the same structure."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_flatten(rest, is_leaf)[0] for rest in rests]
    return tree_unflatten([function(*group) for group in zip(leaves, *others, strict=True)], spec)


def tree_leaves(value: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of nested containers."""
    return tree_flatten(value, is_leaf)[0]


def broadcast_to(tree: Any, spec: TreeSpec) -> list[Any] | None:
    """One value for each leaf of `spec`, from a tree that may stop early; None if the two do not match."""
    if not isinstance(tree, _NODES):
        return [tree] * spec.num_leaves
    found: list[Any] = []
    return found if _broadcast(tree, spec, found) else None


def _broadcast(tree: Any, spec: TreeSpec, found: list[Any]) -> bool:
    items, own = tree_flatten(tree, lambda part: part is not tree)  # one level of it
    if own.type is None:
        found.extend([tree] * spec.num_leaves)
        return True
    if (own.type, own.context, len(items)) != (spec.type, spec.context, len(spec.children)):
        return False
    return all(_broadcast(item, child, found) for item, child in zip(items, spec.children, strict=True))
