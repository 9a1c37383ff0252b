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

Selective checkpointing, which keeps results of some operations, is in `_checkpoint/selective.py`; the form
that runs a backward inside the backward in `CheckpointFunction`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import partial
from typing import Any

from ..autograd.api import backward
from ..autograd.function import Function
from ..autograd.graph import saved_tensors_hooks
from ..base.exits import block, surely
from ..base.modes import MODE, RUN, using
from ..base.parts import adopt_parts
from ..core.tensor import Tensor
from ..ops.random.generator import default_generator
from ._checkpoint.frame import DETERMINISM, Argument, CheckpointError, Frame, GraphExecGroup, debug_contexts
from ._checkpoint.selective import (
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


_EXPLICIT = (
    "the use_reentrant parameter should be passed explicitly. {} use_reentrant=False is recommended, but if you need "
    "to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
    "differences between the two variants."
)


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
        change = "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception."
        warnings.warn(f"torch.utils.checkpoint: {_EXPLICIT.format(change)}", stacklevel=2)
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
    if determinism_check not in DETERMINISM:
        raise ValueError(f"determinism_check should be one of {list(DETERMINISM)}, but got {determinism_check}")
    first, second = context_fn()
    mode = MODE.get()
    if not mode.grad:
        return function(*args, **kwargs)
    recompute = _recomputation(function, len(args), list(kwargs), second, preserve)
    frame = Frame(recompute, setting("early_stop", early_stop), explain, DETERMINISM[determinism_check])
    frame.kept = [Argument(a) if isinstance(a, Tensor) else a for a in (*args, *kwargs.values())]
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
    """The second run, with generator, autocast, levels of `vmap` and forward mode as they are now."""
    state = default_generator.get_state() if preserve else None
    now = MODE.get()
    forward_modes = {name: getattr(now, name) for name in ("autocast", "levels", "dual", "tangents")}

    def recompute(*values: Any) -> None:
        with random_state(state), using(**forward_modes), context:
            function(*values[:count], **dict(zip(names, values[count:], strict=True)))

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
    from ..nn.modules.container import Sequential

    if use_reentrant is None:
        change = "In version 2.9 we will raise an exception if use_reentrant is not passed."
        warnings.warn(f"torch.utils.checkpoint.checkpoint_sequential: {_EXPLICIT.format(change)}", stacklevel=2)
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


_SETTINGS: dict[str, ContextVar[bool | None]] = {
    name: ContextVar(f"gradpack checkpoint {name}", default=None) for name in ("early_stop", "debug")
}


def setting(name: str, given: bool) -> bool:
    """Return an argument of `checkpoint`, or its override by an enclosing context."""
    found = _SETTINGS[name].get()
    return given if found is None else found


@block
def _set(name: str, value: bool | None) -> Iterator[None]:
    before = _SETTINGS[name].get()
    try:
        _SETTINGS[name].set(value)
        yield
    finally:
        _SETTINGS[name].set(before)


def set_checkpoint_early_stop(enable: bool) -> Any:
    """Whether recomputation of segments called in this block stops as soon as it can; beats the argument."""
    return _set("early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> Any:
    """Whether segments called in this block log their operations; None leaves it to the argument `debug`."""
    return _set("debug", enabled)


@block
def random_state(state: Tensor | None) -> Iterator[None]:
    """Within, random numbers are drawn as they were in this state; after it, as if none had been. None: as usual."""
    if state is None:
        yield
        return
    with surely(partial(default_generator.set_state, default_generator.get_state())):
        default_generator.set_state(state)
        yield


def detach_variable(inputs: Any) -> tuple[Any, ...]:
    """Tensors of a tuple out of their graph, requiring grad as before; other values as they are.

    Raises:
        RuntimeError: for anything but a tuple.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(_detached(value) if isinstance(value, Tensor) else value for value in inputs)


def _detached(value: Tensor) -> Tensor:
    out = value.detach()
    out.requires_grad = value.requires_grad
    return out


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among `inputs` requires grad."""
    if not any(value.requires_grad for value in inputs if isinstance(value, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


class DefaultDeviceType:
    """The type of device whose random state checkpointing saves when no argument is on another than the CPU."""

    _default_device_type: str | None = None

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the type."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        """The type: "cpu" unless another was set."""
        return DefaultDeviceType._default_device_type or "cpu"


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Devices of the arguments that have random generators of their own, and their states: none here.

    All random numbers come from `default_generator`, whatever the device.
    """
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Restore the states from `get_device_states`: a no-op."""
    if len(devices) and (device_type or DefaultDeviceType.get_device_type()) not in ("cpu", "meta"):
        raise RuntimeError("set_device_states(): no device has a random generator of its own; see get_device_states")


class CheckpointFunction(Function):
    """Runs a segment without recording it; its backward runs it again, recorded, and backward through it.

    So it takes no `inputs` and no `autograd.grad`, sees tensors only that are arguments themselves, and
    needs one that requires grad.
    """

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function, ctx.preserve_rng_state = run_function, preserve_rng_state
        ctx.state = default_generator.get_state() if preserve_rng_state else None
        ctx.autocast = MODE.get().autocast
        ctx.tensor_indices = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.inputs = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*[a for a in args if isinstance(a, Tensor)])
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if getattr(RUN.get(), "needed", None) is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.inputs)
        for place, value in zip(ctx.tensor_indices, ctx.saved_tensors, strict=True):
            inputs[place] = value
        with random_state(ctx.state), using(grad=True, autocast=ctx.autocast):
            detached = detach_variable(tuple(inputs))
            outputs = ctx.run_function(*detached)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        results = zip(outputs, grads, strict=False)
        pairs = [(out, grad) for out, grad in results if isinstance(out, Tensor) and out.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[a.grad if isinstance(a, Tensor) else None for a in detached])


adopt_parts(__name__)
