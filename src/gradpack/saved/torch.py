"""The same policies in an installed torch, as sound there as here.

Torch asks hooks no more than to turn a tensor into something and back. What is added here: which module
runs, what is a parameter (by its storage, so that `weight.t()` is one), which operation saves the tensor
and in which slot (learned in the first backward pass, known from the second step on), and torch's check for
writes in place, which its hooks switch off.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from time import perf_counter
from typing import Any, TypeVar
from weakref import ref

from ..autograd.decorate import decorate
from ..base import dtypes
from ..base.errors import saved_was_modified
from ..nn.calls import Call
from .foreign import described
from .info import SavedInfo
from .meter import Meter
from .nodes_of_torch import Table, found_in, learned
from .policy import Policy

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["Hooks", "TorchMeter", "hooks", "meter"]


def _torch(who: str) -> Any:
    try:
        torch: Any = import_module("torch")
    except ImportError as error:
        raise ImportError(f"saved.torch.{who}() needs an installed torch: pip install torch ({error})") from None
    if not hasattr(getattr(torch, "_C", None), "_current_autograd_node"):
        raise ImportError(
            f"saved.torch.{who}() needs an installed torch, and `torch` is {torch.__name__} in this process: "
            "use the policy itself, or leave install_as_torch out"
        )
    return torch


# --- what stands in torch's graph ---


class _Called(Call):
    """One call of a module: counts the tensors that look alike and are saved in it."""

    __slots__ = ("counts",)

    def __init__(self, module: Any, outer: Call | None, path: str) -> None:
        super().__init__(module, outer)
        self._path = path
        self.counts: dict[Any, int] = {}


class _Round:
    """What was packed outside of modules since nothing was left of the last: counts the same."""

    __slots__ = ("__weakref__", "counts")

    def __init__(self) -> None:
        self.counts: dict[Any, int] = {}


class _Held:
    """One saved tensor.

    Attributes:
        packed: what the policy made of it; None if it left the tensor alone.
        same: the tensor as it was saved, without its history, or, if there is something packed, without its
            memory: it still counts the writes to that.
        storage: the memory, weakly.
        look, nr: how it looks, and how many that look so the call of the module, or the round, had before it.
    """

    __slots__ = ("info", "look", "nr", "packed", "policy", "producer", "round", "same", "seen", "storage", "table")

    info: SavedInfo
    policy: Policy
    table: Table
    round: _Round
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
        """Whether a tensor shows the memory that was saved, which is there still."""
        storage = None if self.storage is None else self.storage()
        if storage is None or result.device != storage.device or not result.numel():
            return False
        start = storage.data_ptr()
        return bool(start <= result.data_ptr() < start + storage.nbytes())

    def _learn(self, node: Any, name: str) -> None:
        slot = found_in(node, self)
        if slot is not None:
            self.table.learn(self.look, self.nr, learned(name, slot))

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


class _Pass:
    """One block: packs with one policy, and keeps neither model nor tensors alive."""

    __slots__ = ("_kinds", "_local", "_policy", "_round", "_table", "_torch")

    def __init__(self, torch: Any, policy: Policy, table: Table, kinds: dict[int, Any], local: Any) -> None:
        self._torch, self._policy, self._table, self._kinds, self._local = torch, policy, table, kinds, local
        self._round: ref[_Round] | None = None

    def pack(self, tensor: Any) -> Any:
        torch = self._torch
        same = tensor.detach()  # with its history it would hold the graph that holds it
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is not torch.strided:
            return _Alone(same, same._version, tensor)
        if _dtype_of(tensor) is None:
            return _Alone(same, same._version, tensor)
        held = _Held()
        held.info, held.policy, held.table = self._described(tensor), self._policy, self._table
        info, node = held.info, tensor.grad_fn
        held.producer = ("", 0) if node is None else (node.name(), tensor.output_nr)
        held.same, held.seen = same, same._version
        held.round = round_ = self._current_round()
        held.look = look = info.module, held.producer, len(info.shape), info.dtype.name, info.kind
        call: Any = info._call
        counts = round_.counts if call is None else call.counts
        held.nr = nr = counts.get(look, 0)
        counts[look] = nr + 1
        fact = self._table.find(look, nr)
        if fact is not None:
            info.learn(fact)
        packed = self._policy.pack(same, info)
        held.packed, held.storage = packed, None
        if packed is same:
            held.packed = None
        else:
            held.storage = ref(tensor.untyped_storage())
            held.same = watch = tensor.detach()
            watch.data = watch.new_empty(0)  # the count of writes stays, the memory can go
        for one in _metering():
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

    def _current_round(self) -> _Round:
        found = None if self._round is None else self._round()
        if found is None:
            found = _Round()
            self._round = ref(found)
        return found

    def unpack(self, held: Any) -> Any:
        return held.tensor(self._torch)


class _Alone:
    """A tensor that policies do not take, such as a sparse one: it stays as it is, and is checked."""

    __slots__ = ("same", "seen", "whose")

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


# --- blocks ---


class Hooks:
    """What `hooks` returns: a block that may be entered again, and a decorator."""

    def __init__(self, torch: Any, policy: Policy, model: Any) -> None:
        self.policy, self.model = policy, model
        self._torch = torch
        self._table = Table()
        self._local = threading.local()  # which module this thread is in
        self._lock = threading.Lock()
        self._observed = 0  # how many blocks are open
        self._removers: list[Any] = []

    def __enter__(self) -> Hooks:
        blocks = ExitStack()
        now = _Pass(self._torch, self.policy, self._table, self._kinds(), self._local)
        with blocks:
            blocks.enter_context(self._torch.autograd.graph.saved_tensors_hooks(now.pack, now.unpack))
            self._observe()
            blocks.callback(self._leave)
            self._open().append(blocks.pop_all())
        return self

    def __exit__(self, *exc: object) -> None:
        self._open().pop().close()

    def _open(self) -> list[ExitStack]:
        found: list[ExitStack] | None = getattr(self._local, "open", None)
        if found is None:
            found = self._local.open = []
        return found

    def __call__(self, function: F) -> F:
        return decorate(lambda: self, function)

    @property
    def known(self) -> list[tuple[str, str, str]]:
        """What was learned so far: module, name of the node and slot, of each tensor that a step saves."""
        return [(look[0], *fact.label) for look, fact in self._table.facts()]

    def _kinds(self) -> dict[int, Any]:
        found: dict[int, Any] = {}
        if self.model is not None:
            for kind, tensors in (("buffer", self.model.buffers()), ("parameter", self.model.parameters())):
                for storage in _storages(self._torch, tensors):
                    found[storage._cdata] = ref(storage), kind
        return found

    def _observe(self) -> None:
        with self._lock:
            self._observed += 1
            if self.model is None or self._observed > 1:
                return
            for name, module in self.model.named_modules():
                before, after = _noting(self._local, name)
                self._removers.append(module.register_forward_pre_hook(before))
                self._removers.append(module.register_forward_hook(after, always_call=True))

    def _leave(self) -> None:
        with self._lock:
            self._observed -= 1
            if self._observed:
                return
            for remover in self._removers:
                remover.remove()
            self._removers.clear()

    def __repr__(self) -> str:
        return f"saved.torch.hooks({self.policy!r})"


def _noting(local: Any, name: str) -> tuple[Callable[..., None], Callable[..., None]]:
    """What a module calls before and after its forward."""

    def before(module: Any, args: Any) -> None:
        local.call = _Called(module, getattr(local, "call", None), name)

    def after(module: Any, args: Any, result: Any) -> None:
        call = getattr(local, "call", None)
        while call is not None and call.module() is not module:  # those within it that did not come to their end
            call = call.outer
        if call is not None:
            local.call = call.outer

    return before, after


def _storages(torch: Any, tensors: Any) -> Iterator[Any]:
    for tensor in tensors:
        if tensor.layout is torch.strided and not torch.nn.parameter.is_lazy(tensor):
            yield tensor.untyped_storage()


def hooks(policy: Policy, model: Any = None) -> Hooks:
    """A policy for all that an installed torch saves for backward in a block.

    With `saved_tensors_hooks(*policy)` a policy sees no more than tensors. Here it gets a `SavedInfo` as it does in
    gradpack. `where(op=..., slot=...)` choose from the second step on: the first backward pass shows who saves what,
    and from then on lossy policies also leave alone what losses depend on. Where a step goes another way than those
    before, a tensor may be taken for unknown, or for another that looks like it in the same module: then it is chosen
    or not as that one would be, and comes back as any other. A saved tensor that is kept as it is, or in its own
    memory, is checked for writes in place as torch does without hooks; writes by way of `.data` are not seen.

    Names are torch's, as `where(op="addmm")` or the node's `where(op="AddmmBackward0")`; of slots, `self` is "input"
    and `result` is "out". What other hooks see, such as those of `torch.utils.checkpoint` in this block, is theirs.

    Args:
        policy: any policy that does not need to see gradpack's own operations.
        model: a module of torch. Its parameters and buffers are known under any view, and where the modules in it run.

    Returns:
        A context manager and decorator. It learns: use the same one for every step. `known` lists what it knows.

    Raises:
        TypeError: if `policy` is no policy, or `model` no module.
        ValueError: for `recompute` and `budget`, which run gradpack's operations again.
        ImportError: without torch, or if `torch` is gradpack in this process.

    Example::

        >>> import torch
        >>> from gradpack import saved
        >>> model = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.GELU(), torch.nn.Linear(64, 3))
        >>> compact = saved.torch.hooks(saved.bf16(), model)
        >>> x, y = torch.randn(32, 8), torch.randint(3, (32,))
        >>> for step in range(2):
        ...     with compact:
        ...         loss = torch.nn.functional.cross_entropy(model(x), y)
        ...     loss.backward()
        >>> ("1", "GeluBackward0", "input") in compact.known
        True
    """
    if not isinstance(policy, Policy):
        raise TypeError(f"hooks(): policy is one of saved's, such as saved.bf16(), not {type(policy).__name__}")
    if policy.watches():
        raise ValueError(
            f"hooks(): {policy!r} runs gradpack's operations again, which torch does not call. In torch use a policy "
            "that stores, such as saved.lossless() or saved.disk(), or torch.utils.checkpoint"
        )
    torch = _torch("hooks")
    if model is not None and not isinstance(model, torch.nn.Module):
        raise TypeError(f"hooks(): model is a torch.nn.Module, not {type(model).__name__}")
    return Hooks(torch, policy, model)


# --- metering ---

_METERS = threading.local()


def _metering() -> list[TorchMeter]:
    found: list[TorchMeter] | None = getattr(_METERS, "open", None)
    if found is None:
        found = _METERS.open = []
    return found


class _Around(Policy):
    """The hooks that a meter was opened in, as a policy."""

    name = "the hooks around the meter"

    def __init__(self, pair: tuple[Any, Any]) -> None:
        self._pair = pair

    def pack(self, tensor: Any, info: Any = None) -> Any:
        return (self._pair[0](tensor),)

    def unpack(self, packed: Any) -> Any:
        return self._pair[1](packed[0])


class TorchMeter(Meter):
    """What `meter` returns: a `saved.Meter` of what torch saves."""

    __slots__ = ("_blocks", "_torch")

    def __init__(self, torch: Any, model: Any) -> None:
        super().__init__()
        self._torch = torch
        tensors = [] if model is None else [*model.parameters(), *model.buffers()]
        self._exempt._known = {id(s): ref(s) for s in _storages(torch, tensors)}

    def __enter__(self) -> TorchMeter:
        pair = self._torch._C._autograd._top_saved_tensors_default_hooks(True)
        self._start = perf_counter()
        self._blocks = ExitStack()
        if pair is None or not isinstance(getattr(pair[0], "__self__", None), _Pass):
            self._blocks.enter_context(Hooks(self._torch, Policy() if pair is None else _Around(pair), None))
        _metering().append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _metering().remove(self)
        self._blocks.close()

    def saved(self, tensor: Any, packed: Any) -> None:
        """What hooks call for each tensor that torch saves."""
        self._watch(tensor)
        if packed is not None:
            self._watch_all(packed)

    def _watch(self, array: Any) -> None:
        super()._watch(array.untyped_storage() if isinstance(array, self._torch.Tensor) else array)

    def _size(self, whole: Any) -> int:
        return int(whole.nbytes() if callable(whole.nbytes) else whole.nbytes)


def meter(model: Any = None) -> TorchMeter:
    """A context manager that measures the bytes that torch keeps for backward in a block.

    Each storage counts once, whole, for as long as it lives, and what a policy keeps in place of it counts, too.
    Parameters and buffers of `model` do not. It may stand around `hooks` or within; what a function such as
    `torch.utils.checkpoint` keeps by hooks of its own is not seen.

    Args:
        model: a module of torch.

    Returns:
        A `saved.Meter`: `peak` and `now` in bytes, and the `curve` of them over time.

    Raises:
        ImportError: without torch, or if `torch` is gradpack in this process.

    Example::

        >>> import torch
        >>> from gradpack import saved
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with saved.torch.meter() as m:
        ...     y = x.exp().exp().sum()  # keeps two results of 4000 bytes
        ...     y.backward()
        >>> m.peak
        8000
    """
    return TorchMeter(_torch("meter"), model)
