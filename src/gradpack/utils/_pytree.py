"""`torch.utils._pytree`: nested containers, those that users register too, their leaves, and the paths to them."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from ..base import tree as _tree
from ..base.tree import LeafSpec, TreeSpec, broadcast_to, tree_flatten, tree_leaves, tree_map, tree_unflatten

PyTree: TypeAlias = Any
Context: TypeAlias = Any
IsLeaf: TypeAlias = Callable[[Any], bool] | None


@dataclasses.dataclass(frozen=True, slots=True)
class SequenceKey:
    """A step into a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """Return the item."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True, slots=True)
class MappingKey:
    """A step into a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """Return the value."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True, slots=True)
class GetAttrKey:
    """A step to an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """Return the attribute."""
        return getattr(obj, self.name)


class NodeDef(NamedTuple):
    """How a container is taken apart and made again."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Any, Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None


def _keyed(key: Callable[[Any], Any], flatten: Any, value: Any) -> tuple[list[tuple[Any, Any]], Any]:
    items, context = flatten(value)
    names = range(len(items)) if key is SequenceKey else value._fields if key is GetAttrKey else list(value)
    return [(key(name), item) for name, item in zip(names, items, strict=True)], context


def _node(kind: Any, flatten: Any, unflatten: Any, key: Any) -> NodeDef:
    return NodeDef(kind, flatten, unflatten, partial(_keyed, key, flatten))


SUPPORTED_NODES: dict[Any, NodeDef] = {
    tuple: _node(tuple, lambda v: (list(v), None), lambda items, _: tuple(items), SequenceKey),
    list: _node(list, lambda v: (v, None), lambda items, _: list(items), SequenceKey),
    dict: _node(
        dict, lambda v: (list(v.values()), list(v)), lambda items, c: dict(zip(c, items, strict=True)), MappingKey
    ),
    namedtuple: _node(namedtuple, lambda v: (list(v), type(v)), lambda items, c: c(*items), GetAttrKey),
    OrderedDict: _node(
        OrderedDict,
        lambda v: (list(v.values()), list(v)),
        lambda items, c: OrderedDict(zip(c, items, strict=True)),
        MappingKey,
    ),
    defaultdict: _node(
        defaultdict,
        lambda v: (list(v.values()), [v.default_factory, list(v)]),
        lambda items, c: defaultdict(c[0], zip(c[1], items, strict=True)),
        MappingKey,
    ),
    deque: _node(deque, *_tree.REGISTERED[deque], SequenceKey),
}
CONSTANT_NODES: set[type] = set()


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Any = None,
    from_dumpable_context: Any = None,
    flatten_with_keys_fn: Any = None,
) -> None:
    """Make a type a container, for `vmap`, `checkpoint` and all functions of this module.

    Args:
        flatten_fn: from one to its items, and what else is needed to make it again.
        unflatten_fn: from these to one.
        flatten_with_keys_fn: as `flatten_fn`, with the key of each item.

    Raises:
        ValueError: for a type that is one already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    _tree.register(cls, flatten_fn, unflatten_fn)


def _register_pytree_node(
    cls: type, flatten_fn: Any, unflatten_fn: Any, to_str_fn: Any = None, maybe_from_str_fn: Any = None, **options: Any
) -> None:
    """`register_pytree_node` under its former name."""
    register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make a dataclass a container of its fields, but for those that are None.

    Args:
        field_names: which fields; by default those that `__init__` takes.
        drop_field_names: fields that are left out, and made by `__init__` again.
    """
    dropped = drop_field_names or []
    names = field_names or [f.name for f in dataclasses.fields(cls) if f.init and f.name not in dropped]

    def flatten(value: Any) -> tuple[list[Any], Any]:
        there = [name for name in names if getattr(value, name) is not None]
        return [getattr(value, name) for name in there], [there, [n for n in names if n not in there]]

    def flatten_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Any]:
        items, context = flatten(value)
        return [(GetAttrKey(name), item) for name, item in zip(context[0], items, strict=True)], context

    def unflatten(items: Iterable[Any], context: Any) -> Any:
        there, absent = context
        return cls(**dict(zip(there, items, strict=True)), **dict.fromkeys(absent))

    register_pytree_node(cls, flatten, unflatten, flatten_with_keys_fn=flatten_with_keys)


def register_constant(cls: type) -> None:
    """Make a type a container of nothing: its values are a part of the structure."""
    register_pytree_node(cls, lambda value: ([], value), lambda items, value: value)
    CONSTANT_NODES.add(cls)


def _is_namedtuple_instance(tree: Any) -> bool:
    return isinstance(tree, tuple) and hasattr(tree, "_fields")


def _get_node_type(tree: Any) -> Any:
    return namedtuple if _is_namedtuple_instance(tree) else type(tree)


def tree_is_leaf(tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Return whether a value is a leaf."""
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


_is_leaf = tree_is_leaf


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> TreeSpec:
    """Return the structure of nested containers."""
    return tree_flatten(tree, is_leaf)[1]


def tree_iter(tree: Any, is_leaf: IsLeaf = None) -> Iterable[Any]:
    """Return an iterator over the leaves."""
    return iter(tree_leaves(tree, is_leaf))


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """Call a function with each leaf, and return the tree as it was."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _fits(wanted: Any, value: Any) -> bool:
    """Whether a value is of these types, or as a predicate wants it."""
    by_type = isinstance(wanted, type | tuple) or not callable(wanted)
    return isinstance(value, wanted) if by_type else bool(wanted(value))


def map_only(wanted: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Return a decorator: the function changes values of these types only."""
    return lambda func: lambda value: func(value) if _fits(wanted, value) else value


def tree_map_only(wanted: Any, /, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply a function to the leaves of some types."""
    return tree_map(map_only(wanted)(func), tree, is_leaf=is_leaf)


def tree_map_only_(wanted: Any, /, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Call a function with the leaves of some types, and return the tree as it was."""
    return tree_map_(map_only(wanted)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Return whether a predicate holds for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Return whether a predicate holds for a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(wanted: Any, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Return whether a predicate holds for all leaves of some types."""
    return all(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if _fits(wanted, leaf))


def tree_any_only(wanted: Any, /, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Return whether a predicate holds for a leaf of some types."""
    return any(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if _fits(wanted, leaf))


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """Return the leaves of arguments."""
    return tree_leaves([*args, *kwargs.values()])


def _broadcast_to_and_flatten(tree: Any, treespec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    return broadcast_to(tree, treespec)


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the leaves, each with the keys that lead to it.

    Raises:
        ValueError: for a registered type that has no `flatten_with_keys_fn`.
    """
    if tree_is_leaf(tree, is_leaf):
        return [((), tree)]
    node = SUPPORTED_NODES[_get_node_type(tree)]
    if node.flatten_with_keys_fn is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {node.type}. It is registered without one")
    items = node.flatten_with_keys_fn(tree)[0]
    return [((key, *path), leaf) for key, item in items for path, leaf in tree_leaves_with_path(item, is_leaf)]


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[tuple[tuple[Any, ...], Any]], TreeSpec]:
    """Return the leaves with the keys that lead to each, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply a function to the keys that lead to each leaf, and the leaf."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    others = [tree_leaves(rest, is_leaf) for rest in rests]
    return tree_unflatten([func(path, leaf, *o) for (path, leaf), *o in zip(found, *others, strict=True)], spec)


def keystr(kp: Iterable[Any]) -> str:
    """Return keys as text: `['weights'][0].bias`."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: Iterable[Any]) -> Any:
    """Return the value to which keys lead."""
    for key in kp:
        obj = key.get(obj)
    return obj


__all__ = [
    "Context",
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "NodeDef",
    "PyTree",
    "SequenceKey",
    "TreeSpec",
    "arg_tree_leaves",
    "key_get",
    "keystr",
    "map_only",
    "register_constant",
    "register_dataclass",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
]
