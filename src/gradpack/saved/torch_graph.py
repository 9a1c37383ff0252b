"""The packed forms of saved tensors in the graph of an installed torch, and the hooks that make them."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any
from weakref import ref

from ..base import dtypes
from ..base.errors import saved_was_modified
from ..nn._module.calls import Call
from .info import SavedInfo
from .memory_handles import described
from .policy import Policy
from .torch_nodes import LearnedTable, found_in, learned_info

_METERS = threading.local()


def metering() -> list[Any]:
    """Return the open `TorchMeter`s of this thread."""
    found: list[Any] | None = getattr(_METERS, "open", None)
    if found is None:
        found = _METERS.open = []
    return found


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
        slot = None if node is None else found_in(node, self)
        producer, nr = self.producer
        whose = f"output {nr} of {producer}" if producer else ""
        return saved_was_modified(
            "an operation" if node is None else node.name(),
            "a tensor" if slot is None else slot,
            self.info.dtype,
            self.info.shape,
            whose,
            self.same._version,
            self.seen,
        )


def _dtype_of(tensor: Any) -> Any:
    name = str(tensor.dtype).rpartition(".")[2]
    return getattr(dtypes, "bool_" if name == "bool" else name, None)


class TorchHooks:
    """The pack and unpack hooks of one block. Keeps neither model nor tensors alive."""

    def __init__(self, torch: Any, policy: Policy, table: LearnedTable, kinds: dict[int, Any], local: Any) -> None:
        self._torch, self._policy, self._table, self._kinds, self._local = torch, policy, table, kinds, local
        self._round: ref[_OutsideModules] | None = None

    def pack(self, tensor: Any) -> Any:
        torch = self._torch
        same = tensor.detach()  # with grad_fn it would keep alive the graph that holds it
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is not torch.strided:
            return _KeptAsIs(same, same._version, tensor)
        if _dtype_of(tensor) is None:
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
        for one in metering():
            one.saved(tensor, held.packed)
        return held

    def _described(self, tensor: Any) -> SavedInfo:
        info = described(tensor)
        storage = tensor.untyped_storage()
        known = self._kinds.get(storage._cdata)
        if known is not None and known[0]() is storage:
            info.kind = known[1]
        info._call = getattr(self._local, "call", None)
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
