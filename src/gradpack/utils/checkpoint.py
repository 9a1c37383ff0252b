"""Activation checkpointing: keep the inputs of a segment, compute what it saved again in backward.

Built on saved tensor hooks alone. The rules:

1. In forward, each tensor that the segment saves is replaced by a token; tokens are numbered.
2. The segment's tensor arguments are saved as an operation outside of the segment would save them: so
   hooks around the checkpoint (another checkpoint, offloading) apply to them.
3. The first token that a backward pass asks for runs the segment again, with hooks that collect what
   it saves; later tokens of that pass are served from there, once each. Another pass runs it again.
4. The second run stops as soon as everything has been collected (unless told not to).
5. Shapes, dtypes and devices of the second run must equal those of the first: else the segment is not
   deterministic and the error says where they differ.
6. The random generator and autocast are for the second run as they were for the first.
7. A collected tensor dies when it has been served, or when its token dies.

Selective checkpointing, which keeps results of some operations, is in `selective_checkpoint`; the form
that runs a backward inside the backward in `reentrant_checkpoint`.
"""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..autograd.graph import saved_tensors_hooks
from ..base.modes import MODE, RUN, change
from ..ops.generator import default_generator
from ..tensor.saved import keep_tensor
from ..tensor.tensor import Tensor
from .checkpoint_log import debug_contexts
from .checkpoint_parts import (
    CheckpointError,
    DefaultDeviceType,
    GraphExecGroup,
    check_backward_validity,
    detach_variable,
    get_device_states,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
    set_device_states,
    setting,
)
from .reentrant_checkpoint import CheckpointFunction
from .selective_checkpoint import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

_TIP = (
    "\nTip: To see a more detailed error message, either pass `debug=True` to "
    "`torch.utils.checkpoint.checkpoint(...)` or wrap the code block with "
    "`with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to enable checkpoint-debug mode globally.\n"
)


def _metadata(x: Tensor) -> dict[str, Any]:
    return {"shape": x.shape, "dtype": x.dtype, "device": x.device}


_DETERMINISM: dict[str, Callable[[Tensor], Any]] = {"default": _metadata, "none": lambda _: None}
_serials: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_next_serial = itertools.count(1)


def _serial(run: Any) -> int:
    """A number for a backward pass or group of passes; outside of one, another number each time."""
    if run is None:
        return next(_next_serial)
    found = _serials.get(run)
    if found is None:
        found = _serials[run] = next(_next_serial)
    return found


class _Stop(BaseException):
    """Ends the second run of a segment once everything has been collected."""


class _Handle:
    """Holds on to one collected tensor: the frame has it for as long as this lives."""

    __slots__ = ("__weakref__",)


class _Token:
    """Stands in the graph for one saved tensor. `handles` has one handle for each pass that asked for it."""

    __slots__ = ("__weakref__", "handles")

    def __init__(self) -> None:
        self.handles: dict[int, _Handle | None] = {}


class _Frame:
    """One checkpointed call."""

    def __init__(self, recompute: Callable[..., Any], early_stop: bool, explain: Any, metadata: Any) -> None:
        self.recompute, self.early_stop, self.explain, self.metadata = recompute, early_stop, explain, metadata
        self.kept: list[Any] = []
        self.tokens: list[weakref.ref[_Token]] = []
        self.seen: list[Any] = []  # metadata of each
        self.collected: dict[int, weakref.WeakKeyDictionary[_Handle, Tensor]] = {}
        self.counts: dict[int, int] = {}
        self.recomputed: set[int] = set()  # the passes for which the second run is over
        self.complete = False
        self.backward_inside = False

    # -- the hooks of the first run --

    def pack(self, tensor: Tensor) -> _Token:
        token = _Token()
        self.tokens.append(weakref.ref(token))
        self.seen.append(self.metadata(tensor))
        return token

    def unpack(self, token: _Token) -> Tensor:
        try:
            return self._unpack(token)
        except CheckpointError as error:
            if self.explain is not None:
                self.explain(error)
            raise

    def _unpack(self, token: _Token) -> Tensor:
        group = GraphExecGroup._get_current_group()
        key = _serial(group if group is not None else RUN.get())
        if key not in self.recomputed:
            self._again(key)
        if key not in token.handles:
            raise CheckpointError(
                "torch.utils.checkpoint: a tensor that the segment saved in forward was not saved again when it was "
                f"recomputed: the segment does not do the same things twice.{_TIP}"
            )
        handle = token.handles[key]
        if handle is None:
            extra = ""
            if group is not None:
                extra = (
                    "Performing two backward calls that overlap (i.e. require the same saved activation in order to "
                    "compute gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
                )
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. "
                f"{extra}If you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise "
                "please open an issue with details on your use case."
            )
        value = self.collected[key][handle]
        token.handles[key] = None
        return value

    # -- the second run --

    def _again(self, key: int) -> None:
        """Run the segment again and collect what it saves."""
        self.collected = {k: v for k, v in self.collected.items() if len(v)}
        collected = self.collected[key] = weakref.WeakKeyDictionary()
        self.counts[key] = 0
        before = change(grad=True, inference=False, forbidden=None)
        try:
            arguments = [k.get() if isinstance(k, _Argument) else k for k in self.kept]
            with _collecting(weakref.ref(self), key):
                self.recompute(*arguments)
        except _Stop:
            pass
        except BaseException:
            self.collected.pop(key, None)
            raise
        finally:
            change(**before)
        self.recomputed.add(key)
        self._check(key, collected)

    def collect(self, key: int, tensor: Tensor) -> Tensor:
        """The pack hook of the second run."""
        if tensor.requires_grad:
            tensor = tensor.detach()
        nr = self.counts[key]
        self.counts[key] = nr + 1
        if nr >= len(self.tokens):
            if self.complete:
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
                    f"original forward pass.\n{_TIP}"
                )
            self.backward_inside = True  # a backward inside the segment: the first run has not ended
            return tensor
        token = self.tokens[nr]()
        if token is not None:  # else a backward inside the segment has freed it
            handle = token.handles[key] = _Handle()
            self.collected[key][handle] = tensor
        if self.early_stop and nr + 1 == len(self.tokens):
            raise _Stop
        return tensor

    def _check(self, key: int, collected: weakref.WeakKeyDictionary[_Handle, Tensor]) -> None:
        if self.backward_inside:
            return
        if len(self.tokens) != self.counts[key]:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.tokens)}\n"
                f"Number of tensors saved during recomputation: {self.counts[key]}.\n{_TIP}"
            )
        differences = ""
        for nr, (ref, seen) in enumerate(zip(self.tokens, self.seen, strict=True)):
            token = ref()
            handle = None if token is None else token.handles.get(key)
            if handle is None:
                continue
            again = self.metadata(collected[handle])
            if seen != again:
                differences += f"tensor at position {nr}:\nsaved metadata: {seen}\nrecomputed metadata: {again}\n"
        if differences:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{differences}.\n{_TIP}"
            )


def _collecting(frame: weakref.ref[_Frame], key: int) -> saved_tensors_hooks:
    def pack(tensor: Tensor) -> Tensor:
        found = frame()
        assert found is not None  # its own method is running
        return found.collect(key, tensor)

    return saved_tensors_hooks(pack, lambda tensor: tensor)  # type: ignore[no-any-return]


class _Argument:
    """A tensor argument of a segment, saved through the hooks that are active around it."""

    def __init__(self, tensor: Tensor) -> None:
        self.get = keep_tensor(tensor)


def noop_context_fn() -> Contexts:
    """Two contexts that do nothing."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function` without keeping what it saves for backward; backward computes it again.

    Args:
        function: the segment: a function or module.
        args, kwargs: its arguments. `preserve_rng_state=False` leaves out saving the generator's state.
        use_reentrant: False is recommended; True runs a backward inside the backward.
        context_fn: gives a context for the first run and one for the second.
        determinism_check: "default" compares shapes, dtypes and devices of both runs, "none" does not.
        debug: log the operations of both runs, and show them if the runs differ.
        early_stop: end the second run as soon as everything has been collected.

    Raises:
        CheckpointError: in backward, if the second run saved something else than the first.
        ValueError: for another `determinism_check`, or for what the reentrant form does not take.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils.checkpoint import checkpoint
        >>> x = torch.ones(2, requires_grad=True)
        >>> checkpoint(lambda t: (t.sin() * t).exp(), x, use_reentrant=False).sum().backward()
        >>> x.grad is not None
        True
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch "
            "2.9, calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is "
            "recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True. "
            "Refer to docs for more details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    explain = None
    if setting("debug", debug):
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        context_fn, explain = debug_contexts()
    if determinism_check not in _DETERMINISM:
        raise ValueError(
            f"determinism_check should be one of {list(_DETERMINISM)}, but got {determinism_check}"
        )
    first, second = context_fn()
    mode = MODE.get()
    if not mode.grad:
        return function(*args, **kwargs)
    recompute = _recomputation(function, len(args), list(kwargs), second, preserve)
    frame = _Frame(recompute, setting("early_stop", early_stop), explain, _DETERMINISM[determinism_check])
    frame.kept = [_Argument(a) if isinstance(a, Tensor) else a for a in (*args, *kwargs.values())]
    returned = False
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        result = function(*args, **kwargs)
        returned = True
    if not returned:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during "
            "the checkpointed forward. This is not supported because checkpoint cannot return a value for a failed "
            "forward."
        )
    frame.complete = True
    return result


def _recomputation(
    function: Callable[..., Any], count: int, names: list[str], context: Any, preserve: bool
) -> Callable[..., Any]:
    """The second run, with generator and autocast as they are now."""
    state = default_generator.get_state() if preserve else None
    autocast = MODE.get().autocast

    def recompute(*values: Any) -> None:
        before = default_generator.get_state() if preserve else None
        modes = change(autocast=autocast)
        try:
            if state is not None:
                default_generator.set_state(state)
            with context:
                function(*values[:count], **dict(zip(names, values[count:], strict=True)))
        finally:
            change(**modes)
            if before is not None:
                default_generator.set_state(before)

    return recompute


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run modules one after the other, checkpointed in `segments` segments; the last is not checkpointed.

    Args:
        functions: a Sequential, or a sequence of modules or functions.
        segments: how many.
        input: the input of the first.
        preserve_rng_state: replay the random generator in the second run. Default: True.

    Raises:
        ValueError: for another keyword argument.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils.checkpoint import checkpoint_sequential
        >>> x = torch.ones(2, requires_grad=True)
        >>> y = checkpoint_sequential([torch.sin, torch.exp, torch.cos], 2, x, use_reentrant=False)
        >>> y.grad_fn.name()
        'CosBackward0'
    """
    from ..nn.containers import Sequential

    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. "
            "In version 2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is "
            "recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True. "
            "Refer to docs for more details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps: Any = list(functions.children()) if isinstance(functions, Sequential) else functions

    def segment(start: int, end: int) -> Callable[[Any], Any]:
        def forward(x: Any) -> Any:
            for i in range(start, end + 1):
                x = steps[i](x)
            return x

        return forward

    size = len(steps) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(segment(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return segment(end + 1, len(steps) - 1)(input)
