"""The backward pass of results that require grad, as a program of XLA's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..graphs import Backward
from .arrays import TracedArray
from .packing import fetched
from .questions import Answers, Unanswered, answering
from .steps import Tracing, Untraceable


def backward_program(backward: Backward) -> Callable[..., list[Any]]:
    """Return a function of the gradients of results and of what was saved, which returns new arrays of NumPy's.

    Raises:
        Untraceable: where JAX cannot trace it.
    """
    program = backward.program

    def traced(*given: Any) -> list[Any]:
        tracing = Tracing(program, _no_update)
        for variable, value in zip(program.inputs, given, strict=True):
            tracing.arrays[variable] = TracedArray(value)
        asked = Answers([], compares=False)  # the forward pass has indices of the same values
        with answering(asked):
            tracing.run()
        if asked.values:
            raise Untraceable("the backward pass of its results looks at values")
        found = [tracing.value(v) for v in program.outputs]
        return [jnp.asarray(f.value if isinstance(f, TracedArray) else f) for f in found]

    compiled = jax.jit(traced)
    with jax.enable_x64(True):
        try:
            jax.eval_shape(compiled, *[jax.ShapeDtypeStruct(v.shape, v.dtype) for v in program.inputs])
        except Unanswered:
            raise Untraceable("the backward pass of its results looks at values") from None

    def run(*given: Any) -> list[Any]:
        with jax.enable_x64(True):
            return [fetched(made) for made in compiled(*given)]

    return run


def _no_update(*args: Any) -> None:
    raise Untraceable("the backward pass of its results has a step of an optimizer")
