"""Checkpointing that runs a backward inside the backward, and torch's helpers for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from ...autograd.api import backward
from ...autograd.function import Function
from ...base.exits import block, surely
from ...base.modes import MODE, RUN, using
from ...core.tensor import Tensor
from ...ops.random.generator import default_generator


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
    """Return the tensors of a tuple detached from their graph, requiring grad as before, and other values as they are.

    Args:
        inputs: the tuple.

    Raises:
        RuntimeError: for anything but a tuple.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> x = torch.ones(2, requires_grad=True)
        >>> checkpoint.detach_variable((x * 2, torch.zeros(1), "other"))
        (tensor([2., 2.], requires_grad=True), tensor([0.]), 'other')
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(_detached(value) if isinstance(value, Tensor) else value for value in inputs)


def _detached(value: Tensor) -> Tensor:
    out = value.detach()
    out.requires_grad = value.requires_grad
    return out


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among `inputs` requires grad.

    Args:
        inputs: tensors, and other values, which do not count.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     checkpoint.check_backward_validity([torch.ones(1, requires_grad=True), 3])
        ...     checkpoint.check_backward_validity([torch.ones(1), 3])
        >>> [str(warning.message) for warning in caught]
        ['None of the inputs have requires_grad=True. Gradients will be None']
    """
    if not any(value.requires_grad for value in inputs if isinstance(value, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


class DefaultDeviceType:
    """The type of device whose random state checkpointing saves when no argument is on another than the CPU.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> checkpoint.DefaultDeviceType.set_device_type("cuda")
        >>> checkpoint.DefaultDeviceType.get_device_type()
        'cuda'
        >>> checkpoint.DefaultDeviceType.set_device_type("cpu")
    """

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

    Args:
        args: tensors, and other values.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> checkpoint.get_device_states(torch.ones(1), 3)
        ([], [])
    """
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Restore the states from `get_device_states`: a no-op.

    Args:
        devices: the first result of `get_device_states`.
        states: the second one.
        device_type: the kind of the devices; that of `DefaultDeviceType`, unless given.

    Raises:
        RuntimeError: for states of devices other than the CPU, which have no generators of their own.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> devices, states = checkpoint.get_device_states(torch.ones(1))
        >>> checkpoint.set_device_states(devices, states)
    """
    if len(devices) and (device_type or DefaultDeviceType.get_device_type()) not in ("cpu", "meta"):
        raise RuntimeError("set_device_states(): no device has a random generator of its own; see get_device_states")


class CheckpointFunction(Function):
    """Runs a segment without recording it; its backward runs it again, recorded, and backward through it.

    So it takes no `inputs` and no `autograd.grad`, sees tensors only that are arguments themselves, and
    needs one that requires grad.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> x = torch.ones(2, requires_grad=True)
        >>> y = checkpoint.checkpoint(torch.exp, x, use_reentrant=True)
        >>> y.grad_fn.name()
        'CheckpointFunctionBackward'
        >>> z = checkpoint.CheckpointFunction.apply(torch.exp, True, x)  # True: with the generator's state
        >>> torch.equal(y, z)
        True
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
