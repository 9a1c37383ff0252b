"""Parts shared by both forms of checkpointing (settings, errors, random state), and the reentrant form."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

from ...autograd.api import backward
from ...autograd.function import Function
from ...base.exits import Exit, block, surely
from ...base.modes import MODE, RUN, using
from ...core.tensor import Tensor
from ...ops.random.generator import default_generator

_SETTINGS: dict[str, ContextVar[bool | None]] = {
    name: ContextVar(f"gradpack checkpoint {name}", default=None) for name in ("early_stop", "debug")
}


def setting(name: str, given: bool) -> bool:
    """Return an argument of `checkpoint`, or its override by an enclosing context."""
    found = _SETTINGS[name].get()
    return given if found is None else found


class CheckpointError(RuntimeError):
    """Raised if recomputation saved other tensors than the original forward."""


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


_group: ContextVar[Any] = ContextVar("gradpack checkpoint group", default=None)


@block
def random_state(state: Tensor | None) -> Iterator[None]:
    """Within, random numbers are drawn as they were in this state; after it, as if none had been. None: as usual."""
    if state is None:
        yield
        return
    with surely(partial(default_generator.set_state, default_generator.get_state())):
        default_generator.set_state(state)
        yield


class GraphExecGroup:
    """Backward passes in this block share one recomputation of each segment.

    The passes must not need the same saved tensor.

    Raises:
        RuntimeError: if the block is inside of another of its kind.
    """

    def __enter__(self) -> GraphExecGroup:
        if _group.get() is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {_group.get()}")
        try:
            _group.set(self)
        except BaseException:  # an interrupt
            _group.set(None)
            raise
        return self

    __exit__ = Exit(lambda self: None, lambda self, _: _group.set(None))

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return _group.get()


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
        pairs = [
            (outputs[i], grads[i])
            for i in range(len(outputs))
            if isinstance(outputs[i], Tensor) and outputs[i].requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[a.grad if isinstance(a, Tensor) else None for a in detached])
