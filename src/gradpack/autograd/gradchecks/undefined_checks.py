"""gradcheck's checks that undefined gradients and tangents (None) are treated as zeros."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.fill_like import zeros_like
from ...ops.pointwise.compare import allclose
from ..api import grad
from ..function import Function
from .jacobian_checks import GradcheckError, direction, real
from .numerical import as_tuple, differentiable_inputs, differentiable_outputs


class _Undefined(Function):
    """The identity with an undefined gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None


def _warn_of_undefined() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        UserWarning,
        stacklevel=4,
    )


def check_undefined_forward(func: Callable[..., Any], inputs: Sequence[Any]) -> None:
    """Raise unless an undefined tangent of an input has the effect of zeros, for any tangents of the other inputs."""
    from .. import forward_ad

    places = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    with forward_ad.dual_level():
        duals = list(inputs)
        for i in places:
            x = inputs[i].detach()
            duals[i] = forward_ad.make_dual(x, direction(real(x)).to(x.dtype))
        for i in places:
            x = inputs[i].detach()
            with_zeros = [*duals[:i], forward_ad.make_dual(x, zeros_like(x)), *duals[i + 1 :]]
            without = [*duals[:i], inputs[i].detach(), *duals[i + 1 :]]
            found = [
                [forward_ad.unpack_dual(o).tangent for o in as_tuple(func(*given)) if isinstance(o, Tensor)]
                for given in (with_zeros, without)
            ]
            for nr, (expected, got) in enumerate(zip(*found, strict=True)):
                if expected is not None and got is not None and not allclose(expected, got):
                    raise GradcheckError(
                        f"Mismatch in tangent values for output with index: {nr} when input: {i} has an undefined "
                        f"tangent value. Got: {got} but expected: {expected}"
                    )


def check_undefined(func: Callable[..., Any], inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
    """Raise unless undefined gradients have the effect of zeros: of all outputs at once, and of each alone."""
    sources = differentiable_inputs(inputs)
    every = set(range(len(outputs)))
    for missing in [every, *([{nr} for nr in every] if len(every) > 1 else [])]:
        fresh = differentiable_outputs(func(*inputs))
        cut = [_Undefined.apply(o) if nr in missing else o for nr, o in enumerate(fresh)]
        seeds = [zeros_like(o) for o in cut]
        try:
            gradients = grad(cut, sources, seeds, allow_unused=True)
        except RuntimeError as error:
            _warn_of_undefined()
            raise GradcheckError(
                "Expected backward function to handle undefined output grads: a gradient of None means zeros "
                "(ctx.set_materialize_grads(True) makes them)"
            ) from error
        for nr, g in enumerate(gradients):
            if g is not None and bool((g != 0).any()):
                _warn_of_undefined()
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero: "
                    f"that of input {nr} is not"
                )
