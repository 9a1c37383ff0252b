"""How `torch.utils._pytree` takes containers of Python apart, by the names with which packages register their own."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

from ..base.tree import SUPPORTED_NODES

_KINDS: dict[str, Any] = {
    "tuple": tuple,
    "list": list,
    "dict": dict,
    "namedtuple": namedtuple,
    "ordereddict": OrderedDict,
    "odict": OrderedDict,
    "defaultdict": defaultdict,
    "deque": deque,
}


def __getattr__(name: str) -> Any:
    kind, _, action = name.removeprefix("_").partition("_")
    node = SUPPORTED_NODES.get(_KINDS.get(kind))
    found = {"flatten": "flatten_fn", "unflatten": "unflatten_fn", "flatten_with_keys": "flatten_with_keys_fn"}
    if node is None or action not in found:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(node, found[action])
