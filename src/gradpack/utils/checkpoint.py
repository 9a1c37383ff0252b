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
that runs a backward inside the backward, and its helpers, in `_checkpoint/reentrant.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

from ..autograd.graph import saved_tensors_hooks
from ..base.exits import block
from ..base.modes import MODE, using
from ..base.parts import adopt_parts
from ..core.tensor import Tensor
from ..ops.random.generator import default_generator
from ._checkpoint.frame import DETERMINISM, Argument, CheckpointError, Frame, GraphExecGroup, debug_contexts
from ._checkpoint.reentrant import (
    CheckpointFunction,
    DefaultDeviceType,
    check_backward_validity,
    detach_variable,
    get_device_states,
    random_state,
    set_device_states,
)
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
    """Return two contexts that do nothing: the default of `context_fn` of `checkpoint`.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> first, second = checkpoint.noop_context_fn()
        >>> with first:
        ...     print("as without it")
        as without it
    """
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
        use_reentrant: False is recommended; True runs a backward inside the backward. None warns, and counts as True.
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
    """Return a context manager that sets whether recomputation of segments called in its block stops as soon as it can.

    Args:
        enable: whether it stops; the argument `early_stop` of `checkpoint` does not count.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> def segment(x):
        ...     y = x.exp().sin()
        ...     print("end of the segment")
        ...     return y
        >>> x = torch.ones(2, requires_grad=True)
        >>> with checkpoint.set_checkpoint_early_stop(False):
        ...     y = checkpoint.checkpoint(segment, x, use_reentrant=False)
        end of the segment
        >>> y.sum().backward()  # the second run goes to the end
        end of the segment
        >>> y = checkpoint.checkpoint(segment, x, use_reentrant=False)
        end of the segment
        >>> y.sum().backward()
    """
    return _set("early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> Any:
    """Return a context manager that sets whether segments called in its block log their operations.

    Args:
        enabled: whether they do; None leaves it to the argument `debug` of `checkpoint`.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> sizes = [1, 2]
        >>> x = torch.ones(2, requires_grad=True)
        >>> with checkpoint.set_checkpoint_debug_enabled(True):
        ...     y = checkpoint.checkpoint(lambda x: x[: sizes.pop()].exp(), x, use_reentrant=False)
        >>> try:
        ...     y.sum().backward()
        ... except checkpoint.CheckpointError as error:
        ...     print("Operations executed" in str(error))
        True
    """
    return _set("debug", enabled)


adopt_parts(__name__)
