"""Checkpointing by a backward inside the backward: `checkpoint(..., use_reentrant=True)`."""

from __future__ import annotations

from typing import Any

from ..autograd.api import backward
from ..autograd.function import Function
from ..base.modes import MODE, RUN, using
from ..core.tensor import Tensor
from ..ops.random.generator import default_generator
from .checkpoint_parts import check_backward_validity, detach_variable, random_state


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
        plan = getattr(RUN.get(), "plan", None)
        if plan is not None and plan.needed is not None:
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


CheckpointFunction.__module__ = "gradpack.utils.checkpoint"
