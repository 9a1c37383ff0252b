"""`torch.utils._pytree`: nested containers of values taken apart, mapped, made again, and containers of the user's."""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from typing import Any

from ..base.tree import (
    LEAF,
    SUPPORTED_NODES,
    GetAttrKey,
    MappingKey,  # noqa: F401 - a name of the module
    NodeDef,
    SequenceKey,  # noqa: F401 - a name of the module
    TreeSpec,
    broadcast_to,
    deregister,
    is_container,
    node_type,
    register,
    tree_flatten,
    tree_unflatten,
)

PyTree = Context = DumpableContext = KeyEntry = Any
FlattenFn = Callable[[Any], tuple[list[Any], Any]]
UnflattenFn = Callable[[Iterable[Any], Any], Any]
FlattenWithKeysFn = Callable[[Any], tuple[list[tuple[Any, Any]], Any]]
FlattenFunc, UnflattenFunc, FlattenWithKeysFunc = FlattenFn, UnflattenFn, FlattenWithKeysFn
ToDumpableContextFn = Callable[[Any], Any]
FromDumpableContextFn = Callable[[Any], Any]
KeyPath = tuple[Any, ...]
PyTreeSpec, LeafSpec = TreeSpec, partial(TreeSpec, None, None, [])
BUILTIN_TYPES = frozenset(SUPPORTED_NODES)
STANDARD_DICT_TYPES = frozenset({dict, OrderedDict, defaultdict})

# Names of containers in text, and how their contexts are written and read.
_NAMES: dict[Any, str] = {
    kind: f"{kind.__module__}.{kind.__name__}" for kind in (tuple, list, dict, OrderedDict, defaultdict, deque)
}
_CONTEXTS: dict[Any, tuple[ToDumpableContextFn | None, FromDumpableContextFn | None]] = {}
_CONSTANTS: set[Any] = set()


def register_pytree_node(
    cls: type[Any],
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Make a class a container, for `vmap` and the transforms of `torch.func`, too.

    Args:
        cls: the class; not its subclasses.
        flatten_fn: the children and what else the container is made of, its context.
        unflatten_fn: the container made of children and context.
        serialized_type_name: its name in `treespec_dumps`.
        to_dumpable_context, from_dumpable_context: the context as what JSON has, and back.
        flatten_with_keys_fn: as `flatten_fn`, with pairs of a key and a child.

    Raises:
        ValueError: if it is one already.

    Example::

        >>> from gradpack.utils import _pytree
        >>> class Pair:
        ...     def __init__(self, a, b):
        ...         self.a, self.b = a, b
        >>> _pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda items, _: Pair(*items))
        >>> _pytree.tree_map(lambda x: x + 1, Pair(1, [2])).b
        [3]
    """
    if (to_dumpable_context is None) is not (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    register(NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn))
    if serialized_type_name is not None:
        _NAMES[cls] = serialized_type_name
    _CONTEXTS[cls] = to_dumpable_context, from_dumpable_context


_register_pytree_node = _private_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls: type[Any]) -> None:
    """Make a class a leaf again."""
    deregister(cls)
    _NAMES.pop(cls, None)
    _CONTEXTS.pop(cls, None)
    _CONSTANTS.discard(cls)


def register_dataclass(
    cls: type[Any],
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make a dataclass a container of its fields, or another class of the attributes `field_names`."""
    names = field_names
    if is_dataclass(cls):
        own = [f.name for f in fields(cls) if f.init]
        names = own if names is None else [*names, *(drop_field_names or ())]
        if set(own) != set(names):
            raise ValueError(
                f"field_names does not include all dataclass fields. Missing: {sorted(set(own) - set(names))}, "
                f"unexpected: {sorted(set(names) - set(own))}"
            )
        names = names if field_names is None else field_names
    if names is None:
        raise ValueError(
            f"field_names must be specified with a list of all fields used to initialize {cls}, as it is not a "
            "dataclass."
        )
    chosen = names

    def flatten(obj: Any) -> tuple[list[Any], Any]:
        given = [name for name in chosen if getattr(obj, name) is not None]
        return [getattr(obj, name) for name in given], [given, [name for name in chosen if name not in given]]

    def flatten_with_keys(obj: Any) -> tuple[list[Any], Any]:
        items, context = flatten(obj)
        return [(GetAttrKey(name), item) for name, item in zip(context[0], items, strict=True)], context

    def unflatten(items: Iterable[Any], context: Any) -> Any:
        return cls(**dict(zip(context[0], items, strict=True)), **dict.fromkeys(context[1]))

    register_pytree_node(
        cls, flatten, unflatten, serialized_type_name=serialized_type_name, flatten_with_keys_fn=flatten_with_keys
    )


def register_constant(cls: type[Any]) -> None:
    """Make instances of a class part of the structure, without leaves. They are compared with ==."""
    own: Any = vars(object)
    if all(vars(kind).get("__eq__") in (None, own["__eq__"]) for kind in cls.__mro__) or cls.__hash__ is None:
        raise TypeError(f"register_constant(cls) expects {cls} to have its own __eq__ and __hash__")
    register_pytree_node(cls, lambda x: ([], x), lambda _, x: x, flatten_with_keys_fn=lambda x: ([], x))
    _CONSTANTS.add(cls)


def is_constant_class(cls: type[Any]) -> bool:
    """Whether `register_constant` was given the class."""
    return cls in _CONSTANTS


def is_namedtuple(obj: Any) -> bool:
    """Whether it is a named tuple, or the class of one."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_class(cls: Any) -> bool:
    """Whether it is the class of named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether it is a named tuple."""
    return is_namedtuple_class(type(obj))


_is_namedtuple_instance, _get_node_type = is_namedtuple_instance, node_type


def tree_is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether it is no container, or `is_leaf` says that it counts as none."""
    return not is_container(tree) or (is_leaf is not None and is_leaf(tree))


_is_leaf = tree_is_leaf


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterator[Any]:
    """The leaves from left to right."""
    return iter(tree_flatten(tree, is_leaf)[0])


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves from left to right."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of all arguments."""
    return tree_leaves((args, list(kwargs.values())))


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The structure of nested containers."""
    return tree_flatten(tree, is_leaf)[1]


def treespec_leaf() -> TreeSpec:
    """The structure of a leaf."""
    return LEAF


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The structure of a tuple of such children."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The structure of a dict of such children."""
    found = dict(mapping, **kwargs)
    return TreeSpec(dict, list(found), list(found.values()))


def tree_map(func: Any, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Apply a function to each leaf, and to what `rests` have in its place.

    Raises:
        ValueError: if one of `rests` has another structure.
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return tree_unflatten(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]), spec)


def tree_map_(func: Any, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call a function with each leaf, and return the tree as it is."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]), maxlen=0)
    return tree


def _asks(wanted: Any) -> Callable[[Any], bool]:
    """Whether a leaf is of a class, or of one of several, or is what a function says."""
    if not isinstance(wanted, type) and callable(wanted):
        found: Callable[[Any], bool] = wanted
        return found
    return lambda leaf: isinstance(leaf, wanted)


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Any], Callable[[Any], Any]]:
    """A decorator: the function is applied to what is of a class, and the rest is returned as it is."""
    asks = _asks(type_or_types_or_pred)
    return lambda func: lambda leaf: func(leaf) if asks(leaf) else leaf


def tree_map_only(wanted: Any, /, func: Any, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Apply a function to the leaves of a class, of several, or that a function chooses."""
    return tree_map(map_only(wanted)(func), tree, is_leaf=is_leaf)


def tree_map_only_(wanted: Any, /, func: Any, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call a function with the leaves of a class, and return the tree as it is."""
    return tree_map_(map_only(wanted)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Any, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a function is true of all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Any, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a function is true of a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(wanted: Any, /, pred: Any, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a function is true of all leaves of a class."""
    return all(map(pred, filter(_asks(wanted), tree_leaves(tree, is_leaf))))


def tree_any_only(wanted: Any, /, pred: Any, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a function is true of a leaf of a class."""
    return any(map(pred, filter(_asks(wanted), tree_leaves(tree, is_leaf))))


def _broadcast_to_and_flatten(tree: Any, treespec: TreeSpec, is_leaf: Any = None) -> list[Any] | None:
    """One value for each leaf of a structure, from a tree that may stop early; None if the two do not match."""
    return broadcast_to(tree, treespec)


# -- paths --


def tree_leaves_with_path(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[tuple[KeyPath, Any]]:
    """The leaves, each with the keys on the way to it."""
    return list(_paths((), tree, is_leaf))


def _paths(path: KeyPath, tree: Any, is_leaf: Callable[[Any], bool] | None) -> Iterator[tuple[KeyPath, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    node = SUPPORTED_NODES[node_type(tree)]
    if node.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass a flatten_with_keys_fn argument "
            "to register_pytree_node."
        )
    for key, item in node.flatten_with_keys_fn(tree)[0]:
        yield from _paths((*path, key), item, is_leaf)


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """As `tree_flatten`, with the keys on the way to each leaf."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Any, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """As `tree_map`, with the keys on the way to each leaf as the first argument."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    paths, leaves = [path for path, _ in found], [leaf for _, leaf in found]
    return tree_unflatten(map(func, paths, leaves, *[spec.flatten_up_to(rest) for rest in rests]), spec)


def keystr(kp: KeyPath) -> str:
    """A path as text: `['a'][0].x`."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """The value at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


# -- structures as text --


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A structure as JSON, which torch reads.

    Raises:
        NotImplementedError: for a container without a name in text.
        ValueError: for another protocol than 1.
    """
    if protocol not in (None, 1):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")
    return json.dumps((1, _written(treespec)))


def _written(spec: TreeSpec) -> dict[str, Any]:
    if spec.type is None:
        return {"type": None, "context": None, "children_spec": []}
    if spec.type not in _NAMES:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your _register_pytree_node call "
            "with a `serialized_type_name` kwarg."
        )
    write = _CONTEXTS.get(spec.type, (None, None))[0]
    if spec.type is defaultdict:
        make, keys = spec.context
        context: Any = {
            "default_factory_module": make.__module__,
            "default_factory_name": make.__qualname__,
            "dict_context": keys,
        }
    else:
        context = json.dumps(spec.context) if write is None else write(spec.context)
    return {"type": _NAMES[spec.type], "context": context, "children_spec": [_written(c) for c in spec.children()]}


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that `treespec_dumps` wrote."""
    protocol, found = json.loads(serialized)
    if protocol != 1:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")
    return _read(found)


def _read(found: dict[str, Any]) -> TreeSpec:
    if found["type"] is None:
        return LEAF
    kind: Any = {name: kind for kind, name in _NAMES.items()}.get(found["type"])
    if kind is None:
        raise NotImplementedError(f"Deserializing {found['type']} in pytree is not registered.")
    read = _CONTEXTS.get(kind, (None, None))[1]
    context = found["context"]
    if kind is defaultdict:
        module = import_module(context["default_factory_module"])
        context = [getattr(module, context["default_factory_name"]), context["dict_context"]]
    else:
        context = json.loads(context) if read is None else read(context)
    return TreeSpec(kind, context, [_read(child) for child in found["children_spec"]])


def treespec_pprint(treespec: TreeSpec) -> str:
    """The containers of a structure with `*` for leaves."""

    class Star:
        def __repr__(self) -> str:
            return "*"

    return repr(tree_unflatten([Star()] * treespec.num_leaves, treespec))
