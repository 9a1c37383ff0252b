"""Pytrees: flatten nested containers of values, unflatten them, and broadcast one to another.

Containers are tuples, named tuples, lists, deques, dicts, ordered and default dicts, and what `register` adds.
Everything else, None too, is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

_NODES = (tuple, list, dict, OrderedDict, defaultdict, deque)


class NodeDef(NamedTuple):
    """How a container is taken apart and made again.

    Args:
        type: the class.
        flatten_fn: the children, and what else the container is made of.
        unflatten_fn: the container made of both.
        flatten_with_keys_fn: as `flatten_fn`, with pairs of a key and a child.
    """

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[Any], Any]] | None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
_own: set[Any] = set()  # classes of the user's


def register(node: NodeDef) -> None:
    """Add a container. Raises ValueError for a class that is one already."""
    if node.type in SUPPORTED_NODES:
        raise ValueError(f"{node.type} is already registered as pytree node.")
    SUPPORTED_NODES[node.type] = node
    _own.add(node.type)


def deregister(kind: Any) -> None:
    """Take a container of the user's away."""
    if kind not in _own:
        raise ValueError(f"{kind} is not registered as a pytree node by the program")
    _own.discard(kind)
    del SUPPORTED_NODES[kind]


def node_type(value: Any) -> Any:
    """The class under which the table has the way to take a value apart, `namedtuple` for all named tuples."""
    kind = type(value)
    if kind in SUPPORTED_NODES:
        return kind
    return namedtuple if isinstance(value, tuple) and hasattr(kind, "_fields") else kind


def is_container(value: Any) -> bool:
    return node_type(value) in SUPPORTED_NODES


class TreeSpec:
    """The structure of nested containers: type, context (such as the keys of a dict), and the specs of the children."""

    __slots__ = ("_children", "context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type, self.context, self._children = type, context, children_specs
        self.num_leaves = 1 if type is None else 0
        self.num_nodes, self.num_children = 1, len(children_specs)
        for child in children_specs:
            self.num_leaves += child.num_leaves
            self.num_nodes += child.num_nodes

    def is_leaf(self) -> bool:
        """Whether it stands for one value that is no container."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The structures of the children."""
        return self._children.copy()

    def child(self, index: int) -> TreeSpec:
        """The structure of one child."""
        return self._children[index]

    @property
    def children_specs(self) -> list[TreeSpec]:
        return self._children

    def unflatten(self, leaves: Any) -> Any:
        """The containers made of these leaves."""
        return tree_unflatten(leaves, self)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The parts of a tree, which may be deeper, where this structure has its leaves.

        Raises:
            ValueError: for a tree of another structure.
        """
        if self.type is None:
            return [tree]
        kind = node_type(tree)
        mappings = (dict, OrderedDict, defaultdict)
        if kind is not self.type and not (kind in mappings and self.type in mappings):
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        items, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(items) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(items)}.")
        if kind in mappings:
            keys = self.context[1] if self.type is defaultdict else self.context
            if set(keys) != set(tree):
                raise ValueError(f"Node keys mismatch; expected {list(keys)}, but got {list(tree)}.")
            items = [tree[key] for key in keys]
        elif kind is not deque and context != self.context:
            raise ValueError(f"Node context mismatch for node type {kind!r}.")
        return [part for item, child in zip(items, self._children, strict=True) for part in child.flatten_up_to(item)]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and (self.type, self.context) == (other.type, other.context)
            and self._children == other._children
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        indent += 2
        items = (",\n" + " " * indent).join(c.__repr__(indent) for c in self._children)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{items}])"


LEAF = TreeSpec(None, None, [])


@dataclass(frozen=True, slots=True)
class SequenceKey:
    """The place of a child in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        return sequence[self.idx]


@dataclass(frozen=True, slots=True)
class MappingKey:
    """The key of a child in a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        return mapping[self.key]


@dataclass(frozen=True, slots=True)
class GetAttrKey:
    """The name of a child that is an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


def _add(
    kind: Any,
    context: Callable[[Any], Any],
    make: Callable[[Any, Any], Any],
    keys: Callable[[Any], Iterable[Any]],
    items: Callable[[Any], list[Any]] = list,
) -> None:
    SUPPORTED_NODES[kind] = NodeDef(
        kind,
        lambda value: (items(value), context(value)),
        make,
        lambda value: (list(zip(keys(value), items(value), strict=True)), context(value)),
    )


def _places(value: Any) -> Iterable[Any]:
    return map(SequenceKey, range(len(value)))


def _values(value: Any) -> list[Any]:
    return list(value.values())


def _names(value: Any) -> Iterable[Any]:
    return map(MappingKey, value)


_add(tuple, lambda _: None, lambda items, _: tuple(items), _places)
_add(list, lambda _: None, lambda items, _: list(items), _places)
_add(deque, lambda value: value.maxlen, deque, _places)
_add(namedtuple, type, lambda items, kind: kind(*items), lambda value: map(GetAttrKey, value._fields))
_add(dict, list, lambda items, keys: dict(zip(keys, items, strict=True)), _names, _values)
_add(OrderedDict, list, lambda items, keys: OrderedDict(zip(keys, items, strict=True)), _names, _values)
_add(
    defaultdict,
    lambda value: [value.default_factory, list(value)],
    lambda items, parts: defaultdict(parts[0], zip(parts[1], items, strict=True)),
    _names,
    _values,
)


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of nested containers from left to right, and their structure."""
    node = SUPPORTED_NODES.get(node_type(tree))
    if node is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], LEAF
    items, context = node.flatten_fn(tree)
    leaves: list[Any] = []
    children = []
    for item in items:
        if isinstance(item, _NODES) or type(item) in _own or is_leaf is not None:
            found, child = tree_flatten(item, is_leaf)
            leaves += found
            children.append(child)
        else:
            leaves.append(item)
            children.append(LEAF)
    return leaves, TreeSpec(node.type, context, children)


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> Any:
    """Rebuild nested containers from their leaves and their structure."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
            f"holds {treespec.num_leaves} items ({treespec})."
        )
    if treespec.type is None:
        return leaves[0]
    items, rest = [], iter(leaves)
    for child in treespec._children:
        items.append(next(rest) if child.type is None else tree_unflatten(islice(rest, child.num_leaves), child))  # noqa: PERF401 - called often
    return SUPPORTED_NODES[treespec.type].unflatten_fn(items, treespec.context)


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
    if not is_container(tree):
        return [tree] * spec.num_leaves
    found: list[Any] = []
    return found if _broadcast(tree, spec, found) else None


def _broadcast(tree: Any, spec: TreeSpec, found: list[Any]) -> bool:
    items, own = tree_flatten(tree, lambda part: part is not tree)  # one level of it
    if own.type is None:
        found.extend([tree] * spec.num_leaves)
        return True
    if (own.type, own.context, len(items)) != (spec.type, spec.context, len(spec._children)):
        return False
    return all(_broadcast(item, child, found) for item, child in zip(items, spec._children, strict=True))
