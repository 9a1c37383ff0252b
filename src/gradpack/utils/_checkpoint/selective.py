"""Selective checkpointing: keep the results of some operations of a segment, compute the rest again.

    context_fn = functools.partial(create_selective_checkpoint_contexts, policy)
    checkpoint(function, x, use_reentrant=False, context_fn=context_fn)

The first context asks the policy about each operation and keeps results; the second serves them to
the same operations, counted per kind, instead of running those. Both are operation modes, below
autograd: what is served is saved for backward and checked as if it had been computed.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ...base.modes import MODE, OpMode
from ...core.saved import notify_recorder
from ...core.tensor import Tensor, alias
from ...ops import aten
from ...ops.aten import OpOverload, OpOverloadPacket, arguments_of, overload_of


class CheckpointPolicy(enum.Enum):
    """Decision of a selective checkpoint policy for an operation.

    SAVE keeps its results from forward to backward, RECOMPUTE does not. CPU_OFFLOAD is torch's name for
    keeping them in host memory, which its compiler acts on: outside of it, as here, they are recomputed.
    MUST or PREFER makes a difference to a compiler only.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> from functools import partial
        >>> def policy(ctx, op, *args, **kwargs):
        ...     kept = op == torch.ops.aten.mm.default
        ...     return checkpoint.CheckpointPolicy.MUST_SAVE if kept else checkpoint.CheckpointPolicy.PREFER_RECOMPUTE
        >>> contexts = partial(checkpoint.create_selective_checkpoint_contexts, policy)
        >>> x = torch.eye(2, requires_grad=True)
        >>> y = checkpoint.checkpoint(lambda x: (x @ x).sin(), x, use_reentrant=False, context_fn=contexts)
        >>> y.sum().backward()
        >>> x.grad
        tensor([[1.0806, 2.0000],
                [2.0000, 1.0806]])
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """The first argument of the policy of `create_selective_checkpoint_contexts`.

    Args:
        is_recompute: False: policies are asked in the first run only.
        op_output: the result of the operation, or the tuple of its results.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> from functools import partial
        >>> def small(ctx, op, *args, **kwargs):
        ...     print(op, ctx.op_output.shape)
        ...     return ctx.op_output.numel() < 10  # True to save it
        >>> contexts = partial(checkpoint.create_selective_checkpoint_contexts, small)
        >>> x = torch.ones(2, 3, requires_grad=True)
        >>> y = checkpoint.checkpoint(lambda x: x.exp().sum(1), x, use_reentrant=False, context_fn=contexts)
        aten.exp.default gradpack.Size([2, 3])
        aten.sum.dim_IntList gradpack.Size([2])
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


_detach: OpOverloadPacket = aten.detach
SAC_IGNORED_OPS: set[OpOverload] = {_detach.default}  # never asked about

_MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state "
    "that changed between forward and backward."
)
_SAVES = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
_RECOMPUTE, _CONSUMED = object(), object()


class _Entry:
    """Stored results of one operation."""

    holds: list[Any]  # what a recorder gave for each, to keep as long; where there is one

    def __init__(self, op: Any, values: list[Any], outs: list[Tensor], extras: list[Any]) -> None:
        self.extras = extras
        # A view of what the segment has anyway is taken again, but checked.
        checked = [v for v in values if isinstance(v, Tensor)][:1] if op.view else outs
        self.counters = [t._counter for t in checked]
        self.versions: list[int] = [c[0] for c in self.counters]
        self.outs = [] if op.view else [_alias(t) for t in outs]

    def check(self) -> None:
        if any(c[0] != v for c, v in zip(self.counters, self.versions, strict=True)):
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")


def _alias(tensor: Tensor) -> Tensor:
    out = alias(tensor._data, tensor._spec, tensor._shape)
    out._counter = tensor._counter
    return out


class _Keeping(OpMode):
    """Context of the original forward: stores the results that the policy saves."""

    def __init__(self, policy: Callable[..., Any], storage: dict[Any, dict[int, Any]]) -> None:
        super().__init__()
        self.policy, self.storage = policy, storage
        self.counts: dict[Any, int] = defaultdict(int)

    def operation(self, op: Any, values: list[Any], run: Any) -> Any:
        name = overload_of(op, values)
        if name in SAC_IGNORED_OPS:
            return run()
        outs, extras = run()
        nr = self.counts[name]
        self.counts[name] += 1
        context = SelectiveCheckpointContext(is_recompute=False, op_output=outs[0] if len(outs) == 1 else tuple(outs))
        decision = self.policy(context, name, *arguments_of(op, values))
        if isinstance(decision, bool):
            decision = CheckpointPolicy.MUST_SAVE if decision else CheckpointPolicy.PREFER_RECOMPUTE
        if decision not in _SAVES:
            self.storage[name][nr] = _RECOMPUTE
            return outs, extras
        entry = self.storage[name][nr] = _Entry(op, values, outs, extras)
        mode = MODE.get()
        if mode.recorder is not None:
            label = (op.name, "selective checkpoint")
            entry.holds = [notify_recorder(mode, op.name, label, kept, None) for kept in entry.outs]
        return outs, extras


class _Serving(OpMode):
    """Context of recomputation: returns the stored results."""

    def __init__(self, storage: dict[Any, dict[int, Any]], allow_mutation: bool) -> None:
        super().__init__()
        self.storage, self.allow_mutation = storage, allow_mutation
        self.counts: dict[Any, int] = defaultdict(int)

    def __enter__(self) -> Any:
        self.counts.clear()
        return super().__enter__()

    def operation(self, op: Any, values: list[Any], run: Any) -> Any:
        name = overload_of(op, values)
        if name in SAC_IGNORED_OPS:
            return run()
        nr = self.counts[name]
        self.counts[name] += 1
        entries = self.storage.get(name)
        if entries is None:
            raise RuntimeError(f"{name} encountered during backward but not found in storage. {_MISMATCH}")
        entry = entries.get(nr)
        if entry is None:
            raise RuntimeError(
                f"{name} invocation index {nr} encountered during backward but not found in storage. {_MISMATCH}"
            )
        if entry is _CONSUMED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        if entry is _RECOMPUTE:
            return run()
        entries[nr] = _CONSUMED
        if not self.allow_mutation:
            entry.check()
        if not entry.outs:
            return run()
        outs = [_alias(t) for t in entry.outs]
        if self.allow_mutation:  # in-place operations of the recomputation must not count against saved tensors
            for out in outs:
                out._counter = [0]
        return outs, entry.extras


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[OpMode, OpMode]:
    """Two contexts for `context_fn` of `checkpoint`, which keep results of some operations.

    Args:
        policy_fn_or_list: called as `policy_fn(ctx, op, *args)` with each operation of the first run, such as
            `torch.ops.aten.mm.default`; returns a `CheckpointPolicy`. Or a list of operations to save.
        allow_cache_entry_mutation: do not check whether what was kept has been written to.

    Raises:
        ValueError: if the list has anything but overloads in it.
        TypeError: for neither a function nor a list.
        RuntimeError: in backward, if the second run is not like the first, a kept tensor was written to,
            or the segment has been run backward before.

    Example::

        >>> import functools
        >>> import gradpack as torch
        >>> from gradpack.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
        >>> x = torch.ones(2, 2, requires_grad=True)
        >>> save_products = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
        >>> y = checkpoint(lambda x: (x @ x).sin(), x, use_reentrant=False, context_fn=save_products)
        >>> y.sum().backward()
    """
    if isinstance(policy_fn_or_list, list):
        ops = policy_fn_or_list
        for op in ops:
            if not isinstance(op, OpOverload):
                extra = ""
                if isinstance(op, OpOverloadPacket):
                    extra = (
                        "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have "
                        "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                    )
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {extra}"
                )

        def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if op in ops else CheckpointPolicy.PREFER_RECOMPUTE

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage: dict[Any, dict[int, Any]] = defaultdict(dict)
    return _Keeping(policy, storage), _Serving(storage, allow_cache_entry_mutation)
