"""Nested arguments and results, in which data classes that hold tensors, and new objects, are containers, too."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from types import MemberDescriptorType
from typing import Any

from ..base.tree import LEAF, SUPPORTED_NODES, NodeDef, TreeSpec, node_type, tree_flatten
from ..core.tensor import Tensor
from ..nn import Module
from .python.values import is_all_users


class Record:
    """Stands for classes of the user's in structures; their context is the class, and the names of the attributes."""


def _made(values: Any, context: tuple[type, tuple[str, ...]]) -> Any:
    kind, names = context
    made: Any = object.__new__(kind)
    for name, value in zip(names, values, strict=True):
        if isinstance(getattr(kind, name, None), MemberDescriptorType):  # a slot
            object.__setattr__(made, name, value)
        else:  # whatever property has the name
            vars(made)[name] = value
    return made


def _value(value: Any, name: str) -> Any:
    """Return what an object holds under a name, whatever property has this name."""
    own = getattr(value, "__dict__", {})
    return own[name] if name in own else getattr(value, name)


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


Fields = Callable[[Any], tuple[str, ...]]


def fields_of_new(seen: dict[int, Any]) -> Fields:
    """Return a function as `fields_of` that knows all objects of the user's that are nothing but their attributes.

    Args:
        seen: the objects that are no containers, as they outlive a call, by identity.
    """
    return lambda value: fields_of(value) or (tuple(vars(value)) if id(value) not in seen and _is_plain(value) else ())


def _is_plain(value: Any) -> bool:
    kind: Any = type(value)
    if isinstance(value, type | Module) or not is_all_users(kind) or kind.__basicsize__ != Record.__basicsize__:
        return False
    is_made = kind.__new__ is object.__new__ and kind.__getattribute__ is object.__getattribute__
    return is_made and not hasattr(kind, "__del__")


def parts_of(value: Any, fields: Fields = fields_of) -> tuple[list[Any], Any] | None:
    """Return the values of a container, and its structure; None for other values."""
    kind = node_type(value)
    if kind in SUPPORTED_NODES:
        parts, structure = SUPPORTED_NODES[kind].flatten_fn(value)
        return list(parts), list(structure) if isinstance(structure, list) else structure
    names = fields(value)
    return ([_value(value, name) for name in names], (kind, names)) if names else None


def containers(value: Any, fields: Fields = fields_of) -> list[Any]:
    """Return the lists, dicts and the like in nested values, and these themselves."""
    found = parts_of(value, fields)
    return [] if found is None else [value, *[c for part in found[0] for c in containers(part, fields)]]


def flattened(value: Any, fields: Fields = fields_of) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of nested values, and their structure, from which `tree_unflatten` makes them again.

    Args:
        fields: returns the names of the attributes of an object that is a container; () for others.
    """
    leaves, tree = tree_flatten(value)
    if _may_have_more(tree):
        leaves, tree = tree_flatten(value, is_leaf=_has_more)
    if not any(map(fields, leaves)):
        return leaves, tree
    found: list[Any] = []
    grafts: list[TreeSpec] = []
    for leaf in leaves:
        names = fields(leaf)
        if names:
            inner, child = flattened([_value(leaf, name) for name in names], fields)
            found += inner
            grafts.append(TreeSpec(Record, (type(leaf), names), child._children))
        else:
            found.append(leaf)
            grafts.append(LEAF)
    return found, _grafted(tree, iter(grafts))


def _has_more(value: Any) -> bool:
    """Return whether a value is a tuple that was given attributes: it is a leaf."""
    return isinstance(value, tuple) and bool(getattr(value, "__dict__", None))


def _may_have_more(tree: TreeSpec) -> bool:
    """Return whether there are named tuples in a structure whose class lets them have attributes."""
    own = tree.type is namedtuple and tree.context.__dictoffset__ != 0
    return own or any(map(_may_have_more, tree._children))


def _grafted(tree: TreeSpec, grafts: Iterator[TreeSpec]) -> TreeSpec:
    """Return a structure with others in the places of its leaves."""
    if tree.type is None:
        return next(grafts)
    return TreeSpec(tree.type, tree.context, [_grafted(child, grafts) for child in tree._children])


def records_in(tree: TreeSpec) -> list[type]:
    """Return the data classes in a structure."""
    own = [tree.context[0]] if tree.type is Record else []
    return own + [kind for child in tree._children for kind in records_in(child)]
