"""Policies for the saved tensors of an installed torch, with the same checks as in gradpack.

Torch's pack and unpack hooks get nothing but the tensor. This adds: the running module, parameters and
buffers (by storage, so that `weight.t()` is one), the operation that saves the tensor and its slot (learned
in the first backward pass, known from the second step on), and the version check for in-place writes, which
torch omits under hooks.
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
from ..core.tensor import Tensor
from .meter import Meter
from .policy import Policy
from .torch_graph import METERS, LearnedTable, PerThread, TorchHooks, TorchModuleCall

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["Hooks", "TorchMeter", "hooks", "meter"]


def _torch(who: str) -> Any:
    try:
        torch: Any = import_module("torch")
    except ImportError as error:
        raise ImportError(f"saved.torch.{who}() needs an installed torch: pip install torch ({error})") from None
    if getattr(torch, "Tensor", None) is Tensor or not hasattr(getattr(torch, "_C", None), "_TensorBase"):
        raise ImportError(
            f"saved.torch.{who}() needs an installed torch, and `torch` is {torch.__name__} in this process: "
            "use the policy itself, or leave install_as_torch out"
        )
    return torch


class Hooks:
    """A reusable context manager and decorator that applies a policy to torch's saved tensors: see `hooks`.

    Args:
        torch: the module.
        policy: the policy.
        model: a module whose parameters, buffers and submodules the policy is told of; None for none.

    Example::

        >>> import torch
        >>> from gradpack import saved
        >>> hooks = saved.torch.hooks(saved.mask())
        >>> x = torch.randn(100, requires_grad=True)
        >>> with hooks:
        ...     y = torch.where(x > 0, x, 0.0).sum()
        >>> hooks.policy.packed_bytes
        13
        >>> y.backward()
    """

    def __init__(self, torch: Any, policy: Policy, model: Any) -> None:
        self.policy, self.model = policy, model
        self._torch = torch
        self._table = LearnedTable()
        self._local = PerThread()
        self._lock = threading.Lock()
        self._observed = 0  # how many blocks are open
        self._removers: list[Any] = []

    def __enter__(self) -> Hooks:
        blocks = ExitStack()
        now = TorchHooks(self._torch, self.policy, self._table, self._kinds(), self._local)
        with blocks:
            blocks.enter_context(self._torch.autograd.graph.saved_tensors_hooks(now.pack, now.unpack))
            blocks.callback(self._leave)
            self._observe()
            self._local.open.append(blocks.pop_all())
        return self

    def __exit__(self, *exc: object) -> None:
        self._local.open.pop().close()

    def __call__(self, function: F) -> F:
        return decorate(lambda: self, function)

    @property
    def known(self) -> list[tuple[str, str, str]]:
        """The learned (module, node name, slot) of each tensor that a step saves."""
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


def _noting(local: PerThread, name: str) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return a forward pre-hook and a forward hook that keep track of the running module in `local.call`."""

    def before(module: Any, args: Any) -> None:
        local.call = TorchModuleCall(module, local.call, name)

    def after(module: Any, args: Any, result: Any) -> None:
        call = local.call
        while call is not None and call.module() is not module:  # inner calls whose forward hook did not run
            call = call.outer
        if call is not None:
            local.call = call.outer

    return before, after


def _storages(torch: Any, tensors: Any) -> Iterator[Any]:
    for tensor in tensors:
        if tensor.layout is torch.strided and not torch.nn.parameter.is_lazy(tensor):
            yield tensor.untyped_storage()


def hooks(policy: Policy, model: Any = None) -> Hooks:
    """Apply a policy to all tensors that an installed torch saves for backward in a block.

    With `saved_tensors_hooks(*policy)` a policy sees only tensors. Here it gets a `SavedInfo`, as in gradpack.
    `where(op=..., slot=...)` apply from the second step on: the first backward pass shows which node saves which
    tensor, and from then on lossy policies also skip tensors that losses depend on. If a step differs from those
    before, a tensor may be unknown, or be confused with a similar one of the same module: then it is selected as that
    one would be, and is restored as usual. A saved tensor that is kept as it is, or unpacked in its own memory, is
    checked for in-place modification, as in torch without hooks; writes through `.data` are not detected.

    Names are torch's: `where(op="addmm")`, or that of the node, `where(op="AddmmBackward0")`; of slots, `self` is
    "input" and `result` is "out". Inner hooks, such as those of `torch.utils.checkpoint`, take precedence.

    Args:
        policy: any policy except `recompute` and `budget`.
        model: a `torch.nn.Module`, to recognise its parameters and buffers, and to know which of its modules runs.

    Returns:
        A context manager and decorator. Use the same one for every step, because it learns. `known` lists what it has
        learned.

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


class _Around(Policy):
    """The saved tensor hooks of the enclosing block, as a policy."""

    name = "the hooks around the meter"

    def __init__(self, pair: tuple[Any, Any]) -> None:
        self._pair = pair

    def pack(self, tensor: Any, info: Any = None) -> Any:
        return (self._pair[0](tensor),)

    def unpack(self, packed: Any) -> Any:
        return self._pair[1](packed[0])


class TorchMeter(Meter):
    """A `saved.Meter` for the saved tensors of an installed torch: the result of `meter`.

    Args:
        torch: the module.
        model: a module whose parameters and buffers do not count; None for none.

    Example::

        >>> import torch
        >>> from gradpack import saved
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with saved.torch.meter() as m:
        ...     y = x.exp().sum()
        ...     print(m.now)
        ...     y.backward()
        4000
        >>> m.now, m.peak
        (0, 4000)
    """

    def __init__(self, torch: Any, model: Any) -> None:
        super().__init__()
        self._torch = torch
        tensors = [] if model is None else [*model.parameters(), *model.buffers()]
        for storage in _storages(torch, tensors):
            self._exempt.set(storage, True)

    def __enter__(self) -> TorchMeter:
        pair = self._torch._C._autograd._top_saved_tensors_default_hooks(True)
        self._start = perf_counter()
        self._blocks = ExitStack()
        if pair is None or not isinstance(getattr(pair[0], "__self__", None), TorchHooks):
            self._blocks.enter_context(Hooks(self._torch, Policy() if pair is None else _Around(pair), None))
        METERS.open.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        METERS.open.remove(self)
        self._blocks.close()

    def saved(self, tensor: Any, packed: Any) -> None:
        """Count a saved tensor and its packed form. `TorchHooks.pack` calls it for each."""
        self._watch(tensor)
        if packed is not None:
            self._watch_all(packed)

    def _watch(self, array: Any) -> None:
        super()._watch(array.untyped_storage() if isinstance(array, self._torch.Tensor) else array)

    def _size(self, whole: Any) -> int:
        return int(whole.nbytes() if callable(whole.nbytes) else whole.nbytes)


def meter(model: Any = None) -> TorchMeter:
    """Return a context manager that measures the bytes that an installed torch keeps for backward in a block.

    Each storage counts once, in full, as long as it lives, and so do the packed objects of a policy. Parameters and
    buffers of `model` do not count. It may enclose `hooks` or be inside of it. Tensors packed by inner hooks, such as
    those of `torch.utils.checkpoint`, are not seen.

    Args:
        model: a `torch.nn.Module`.

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
