"""The saved tensors of an installed torch's nodes: which operation and slot they belong to, in gradpack's names.

A pack hook of torch is not told which node saves a tensor. But an unpack hook runs while that node
runs, so that what one backward pass shows is known in the next step.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from ..declare.op import REGISTRY, Op
from ..ops.methods import load_all
from .info import LearnedInfo, is_exact

_SLOTS = {"self": "input", "result": "out", "output": "out", "logsumexp": "lse", "log_sumexp": "lse"}
_NORM = {"result1": "mean", "result2": "rstd"}  # saved by normalisation layers
_STATS = ("mean", "rstd", "lse")
_MOST = 1 << 16  # most entries of a table


def found_in(node: Any, packed: object) -> str | None:
    """Return the name under which a node of torch saves a packed object, "self" or "saved_tensors[1]", or None."""
    for name in _raw_names(type(node)):
        value = getattr(node, name, None)
        several = isinstance(value, tuple)
        for nr, saved in enumerate(value if isinstance(value, tuple) else (value,)):
            try:
                is_it = saved is not None and saved.data is packed
            except RuntimeError:  # already freed
                continue
            if is_it:
                short = name.removeprefix("_raw_saved_")
                return f"{'saved_tensors' if short == 'tensors' else short}[{nr}]" if several else short
    return None


_RAW: WeakKeyDictionary[type, list[str]] = WeakKeyDictionary()


def _raw_names(kind: type) -> list[str]:
    known = _RAW.get(kind)
    if known is None:
        known = _RAW[kind] = [n for n in dir(kind) if n.startswith("_raw_saved_")]
    return known


@cache
def _operations() -> dict[str, list[Op]]:
    """Return gradpack's operations by the name of their node, which is the same as torch's."""
    import_module("..nn.functional", __package__)
    load_all()
    found: dict[str, list[Op]] = {}
    for op in REGISTRY.values():
        found.setdefault(op.node_name, []).append(op)
    return found


@cache
def learned_info(node_name: str, slot: str) -> LearnedInfo:
    """Return operation names, kind and exactness of what a node of torch saves in a slot."""
    words = re.sub(r"Backward\d*$", "", node_name)
    own = words if node_name.endswith("Backward") else re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words).lower()
    ops = _operations().get(node_name, [])
    names = tuple(dict.fromkeys((own, *(op.name.lstrip("_") for op in ops))))
    if "Norm" in node_name and slot in _NORM:
        slot = _NORM[slot]
    slot = _SLOTS.get(slot, slot)
    kind = "stat" if slot in _STATS else "output" if re.fullmatch(r"out|result\d", slot) else ""
    exact = any(is_exact(op) or op.compares for op in ops) or own.endswith("_loss")
    return LearnedInfo((node_name, slot), names, exact, kind)


class LearnedTable:
    """The learned facts, by the look of a tensor and its ordinal among those that look the same in a module's call."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, int], LearnedInfo] = {}
        self._alike: dict[Any, LearnedInfo | None] = {}  # None: several nodes or slots save tensors of this look

    def find(self, look: Any, nr: int) -> LearnedInfo | None:
        """Return the fact for tensor `nr` of a look; if there is none, the one that all of this look share, or None."""
        found = self._known.get((look, nr))
        return self._alike.get(look) if found is None else found

    def knows(self, look: Any, nr: int, node_name: str) -> bool:
        found = self._known.get((look, nr))
        return found is not None and found.label[0] == node_name

    def learn(self, look: Any, nr: int, fact: LearnedInfo) -> None:
        if len(self._known) >= _MOST:
            self._known.clear()
            self._alike.clear()
        self._known[look, nr] = fact
        if self._alike.setdefault(look, fact) is not fact:
            self._alike[look] = None

    def __len__(self) -> int:
        return len(self._known)

    def facts(self) -> list[tuple[Any, LearnedInfo]]:
        return [(look, fact) for (look, _), fact in list(self._known.items())]
