"""The packed forms of saved tensors in the graph of an installed torch, and the hooks that make them.

A pack hook of torch is not told which node saves a tensor. But an unpack hook runs while that node
runs, so that what one backward pass shows, the operation and the slot, in gradpack's names, is known in the next step.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary, ref

from ..base import dtypes
from ..base.errors import saved_was_modified
from ..declare.op import REGISTRY, Op
from ..nn._module.calls import Call
from ..ops.methods import load_all
from .info import LearnedInfo, SavedInfo, described, is_exact
from .policy import Policy


class PerThread(threading.local):
    """Data of each thread: its open blocks, and the running call of a module."""

    call: Any = None

    def __init__(self) -> None:
        self.open: list[Any] = []


METERS = PerThread()  # its open blocks are `TorchMeter`s


class TorchModuleCall(Call):
    """One call of a module, with a count of its saved tensors by their look."""

    def __init__(self, module: Any, outer: Call | None, path: str) -> None:
        super().__init__(module, outer)
        self._path = path
        self.counts: dict[Any, int] = {}


class _OutsideModules:
    """The same count for tensors saved outside of modules, until no packed object of the round is alive."""

    def __init__(self) -> None:
        self.counts: dict[Any, int] = {}


@dataclass(eq=False)
class _TorchSaved:
    """The packed form of one saved tensor.

    Attributes:
        packed: what the policy's `pack` returned; None if the tensor is kept as it is.
        same: the detached tensor; if it was packed, without its memory, but with the same version counter.
        seen: the version at which it was saved.
        storage: a weak reference to the storage, if it was packed.
        look: module, producer, number of dimensions, dtype and kind.
        nr: how many saved tensors with this look the module's call, or the round, had before it.
    """

    info: SavedInfo
    policy: Policy
    table: LearnedTable
    round: _OutsideModules
    producer: tuple[str, int]
    look: tuple[Any, ...]
    nr: int
    packed: Any
    same: Any
    seen: int
    storage: Any

    def tensor(self, torch: Any) -> Any:
        node = torch._C._current_autograd_node()
        name = "" if node is None else node.name()
        if node is not None and not self.table.knows(self.look, self.nr, name):
            self._learn(node, name)
        if self.packed is None:
            if self.same._version != self.seen:
                raise self._modified(node)
            return self.same
        result = self.policy.unpack(self.packed)
        if not isinstance(result, torch.Tensor):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(result).__name__} (from {self.policy!r}, for {name or 'a saved tensor'})"
            )
        info = self.info
        if tuple(result.shape) != info.shape or _dtype_of(result) is not info.dtype:
            raise RuntimeError(
                f"{self.policy!r} unpacked a tensor of shape {list(result.shape)} and {result.dtype} for "
                f"{name or 'one'} that was saved with {list(info.shape)} and torch.{info.dtype.name}: unpack must "
                "restore both"
            )
        if self.same._version != self.seen and self._shares(result):
            raise self._modified(node)
        return result

    def _shares(self, result: Any) -> bool:
        """Return whether a tensor lies in the storage that was saved, if that still exists."""
        storage = None if self.storage is None else self.storage()
        if storage is None or result.device != storage.device or not result.numel():
            return False
        start = storage.data_ptr()
        return bool(start <= result.data_ptr() < start + storage.nbytes())

    def _learn(self, node: Any, name: str) -> None:
        slot = found_in(node, self)
        if slot is not None:
            self.table.learn(self.look, self.nr, learned_info(name, slot))

    def _modified(self, node: Any) -> RuntimeError:
        name, slot = ("an operation", None) if node is None else (node.name(), found_in(node, self))
        info, (producer, nr) = self.info, self.producer
        whose = f"output {nr} of {producer}" if producer else ""
        version = self.same._version
        return saved_was_modified(name, slot or "a tensor", info.dtype, info.shape, whose, version, self.seen)


def _dtype_of(tensor: Any) -> Any:
    name = str(tensor.dtype).rpartition(".")[2]
    return getattr(dtypes, "bool_" if name == "bool" else name, None)


class TorchHooks:
    """The pack and unpack hooks of one block. Keeps neither model nor tensors alive."""

    def __init__(
        self, torch: Any, policy: Policy, table: LearnedTable, kinds: dict[int, Any], local: PerThread
    ) -> None:
        self._torch, self._policy, self._table, self._kinds, self._local = torch, policy, table, kinds, local
        self._round: ref[_OutsideModules] | None = None

    def pack(self, tensor: Any) -> Any:
        torch = self._torch
        same = tensor.detach()  # with grad_fn it would keep alive the graph that holds it
        is_plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided
        if not is_plain or _dtype_of(tensor) is None:
            return _KeptAsIs(same, same._version, tensor)
        info, node, seen = self._described(tensor), tensor.grad_fn, same._version
        producer = ("", 0) if node is None else (node.name(), tensor.output_nr)
        look = info.module, producer, len(info.shape), info.dtype.name, info.kind
        outside, call = self._current_round(), info._call
        counts = call.counts if isinstance(call, TorchModuleCall) else outside.counts
        nr = counts.get(look, 0)
        counts[look] = nr + 1
        fact = self._table.find(look, nr)
        if fact is not None:
            info.learn(fact)
        packed, storage = self._policy.pack(same, info), None
        if packed is same:
            packed = None
        else:
            storage = ref(tensor.untyped_storage())
            same = tensor.detach()
            same.data = same.new_empty(0)  # keeps the version counter, but not the memory
        held = _TorchSaved(info, self._policy, self._table, outside, producer, look, nr, packed, same, seen, storage)
        for one in METERS.open:
            one.saved(tensor, held.packed)
        return held

    def _described(self, tensor: Any) -> SavedInfo:
        info = described(tensor)
        storage = tensor.untyped_storage()
        known = self._kinds.get(storage._cdata)
        if known is not None and known[0]() is storage:
            info.kind = known[1]
        info._call = self._local.call
        return info

    def _current_round(self) -> _OutsideModules:
        found = None if self._round is None else self._round()
        if found is None:
            found = _OutsideModules()
            self._round = ref(found)
        return found

    def unpack(self, held: Any) -> Any:
        return held.tensor(self._torch)


class _KeptAsIs:
    """A saved tensor that policies do not support, such as a sparse one: kept as it is, with the version check."""

    def __init__(self, same: Any, seen: int, tensor: Any) -> None:
        node = tensor.grad_fn
        self.same, self.seen = same, seen
        self.whose = "" if node is None else f", which is output {tensor.output_nr} of {node.name()},"

    def tensor(self, torch: Any) -> Any:
        if self.same._version != self.seen:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"[{self.same.type()} {list(self.same.shape)}]{self.whose} is at version {self.same._version}; "
                f"expected version {self.seen} instead."
            )
        return self.same


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
