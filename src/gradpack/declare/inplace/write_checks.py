"""Checks before an in-place write: whether autograd allows it, and whether shape and dtype of the result fit."""

from __future__ import annotations

import warnings
from typing import Any

from ...backends.memory_layout import overlap, partly_overlap, repeats
from ...base import dtypes
from ...base.callers import depth_of_user
from ...base.errors import scalar_type
from ...base.modes import MODE, TRANSFORMS
from ...core.tensor import InferenceCounter, Tensor
from ...core.views import base_of, meta_of, refused
from ...graph.node import AccumulateGrad, NoGradEdge, TransformInput


def tensors_in(values: list[Any]) -> list[Tensor]:
    """The tensors among arguments, and in lists among them."""
    found = [v for v in values if isinstance(v, Tensor)]
    return found + [t for v in values if isinstance(v, list | tuple) for t in v if isinstance(t, Tensor)]


def check_writable(target: Tensor, name: str, others_need: bool = False, *, indexed: bool | None = False) -> None:
    """Raise what torch raises where a tensor may not be written to.

    Args:
        others_need: whether one of the other operands requires grad.
        indexed: the write is by an index: expanded tensors are allowed with a warning; None: without a warning.
    """
    if not isinstance(target, Tensor):
        raise TypeError(f"{name}(): argument 'self' must be Tensor, not {type(target).__name__}")
    check_history(target, others_need)
    if others_need and TRANSFORMS.get():
        from ..batching.captured import refuse_captured

        refuse_captured(target, name)
    refuse_inference(target)
    if indexed is not None and repeats(target._data):
        if indexed:
            warnings.warn(
                f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this "
                "operation. This also applies to advanced indexing e.g. tensor[indices] = tensor",
                UserWarning,
                stacklevel=depth_of_user(),
            )
        else:
            check_repeats(target)


def refuse_grad(name: str, *tensors: Any) -> None:
    """Raise RuntimeError if grad mode is on and an argument of an `out=` call requires grad."""
    if MODE.get().grad and any(isinstance(t, Tensor) and t.requires_grad for t in tensors):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )


def check_repeats(target: Tensor) -> None:
    """Raise RuntimeError if several elements of the tensor share a memory location (expanded tensors)."""
    if repeats(target._data):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            "location. Please clone() the tensor before performing the operation."
        )


def refuse_inference(target: Tensor) -> None:
    """Raise for a write to an inference tensor outside of inference mode."""
    if type(target._counter) is InferenceCounter and not MODE.get().inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
            "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )


def check_history(target: Tensor, others_need: bool = False) -> None:
    """Raise for an in-place write to a leaf that requires grad, a view of one, or a view that forbids writes."""
    if not MODE.get().grad or not (others_need or target.requires_grad):
        return
    view = target._view
    if view is not None and type(target._counter) is not InferenceCounter:
        meta = meta_of(target)
        if meta is not None:
            raise RuntimeError(refused(target, meta, "is being"))
        if target.requires_grad:
            base = base_of(target)
            if base._edge is None or type(base._edge) is AccumulateGrad:
                raise RuntimeError(
                    "a view of a leaf Variable that requires grad is being used in an in-place operation."
                )
    if type(target._edge) in (AccumulateGrad, NoGradEdge, TransformInput):
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def check_overlap(target: Tensor, others: list[Tensor], apart: bool = False) -> None:
    """Raise RuntimeError if an operand partly overlaps the written tensor, or overlaps at all if `apart`."""
    data = target._data
    own = getattr(data, "base", None) is None
    for other in others:
        same = other is target or other._data is data
        if not same and own and getattr(other._data, "base", None) is None:
            continue
        if (apart and (same or overlap(other._data, data))) or (not same and partly_overlap(other._data, data)):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                "memory location. Please clone() the tensor before performing the operation."
            )


def check_result(target: Tensor, result: Tensor) -> None:
    """Raise if a result cannot be written into `target`: its dtype cannot be cast, or its shape differs."""
    if result._spec is not target._spec and not dtypes.can_cast(result._spec.dtype, target._spec.dtype):
        raise RuntimeError(
            f"result type {scalar_type(result._spec.dtype)} can't be cast to the desired output type "
            f"{scalar_type(target._spec.dtype)}"
        )
    if result._shape != target._shape:
        raise RuntimeError(
            f"output with shape {list(target._shape)} doesn't match the broadcast shape {list(result._shape)}"
        )
