"""Results that are written into tensors given as `out=`."""

from __future__ import annotations

import warnings
from typing import Any

from ...base.callers import depth_of_user
from ...base.errors import is_foreign, mixed
from ...base.modes import MODE, using
from ...core.tensor import InferenceCounter, Tensor
from ..batching.batch_tensor import is_batched
from ..batching.errors import NO_OUT
from ..inplace.inplace import write
from ..inplace.write_checks import check_overlap, check_repeats, check_writable, refuse_grad, tensors_in
from ..op import Op
from .interpreter import apply
from .out_dtypes import SILENT, check_out, is_tracked_by_none
from .tangents import tangent_of


def into(op: Op, out: Any, values: tuple[Any, ...]) -> Any:
    """Call an operation and write the result into the tensor, or tensors, given as `out=`."""
    outs = out if op.returns and isinstance(out, tuple | list) else (out,)
    for target in outs:
        if not isinstance(target, Tensor):
            if is_foreign(target):
                raise mixed(op.name)
            raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(target).__name__}")
    mode = MODE.get()
    if mode.levels and any(map(is_batched, (*outs, *tensors_in(list(values))))):
        raise RuntimeError(NO_OUT.format(op.name))
    given = tensors_in(list(values))
    if op.inputs or not is_tracked_by_none(op.name):
        refuse_grad(op.name, *outs, *(given if op.inputs else ()))
    if mode.forward and any(tangent_of(t) is not None for t in (*given, *outs)):
        raise NotImplementedError(
            f"Trying to use forward AD with {op.name}_out that does not support it because it is an out= function"
        )
    if op.overlap != "read_first":
        for target in outs:
            check_overlap(target, given, op.overlap == "apart")
    with using(autocast=None):  # autocast does not apply to `out=` forms
        result = apply(op, values)
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(outs):
        raise TypeError(f"{op.name}(): expected {len(results)} tensors as 'out', got {len(outs)}")
    # In torch, complex-to-real operations are kernels of their own, which convert the result.
    name = "out" if op.result == "real" and op.kind == "elementwise" and given[0]._spec.dtype.is_complex else op.name
    if len(outs) > 1:
        for target, value in zip(outs, results, strict=True):
            check_out(name, target, value)
    for target, value in zip(outs, results, strict=True):
        put(name, target, value)
    return type(result)(*outs) if hasattr(result, "_fields") else out


def put(name: str, target: Tensor, value: Tensor) -> None:
    """Write `value` into `target`, resizing it if its shape differs."""
    free = is_tracked_by_none(name)
    if not free:
        refuse_grad(name, target, value)
    if target._spec is not value._spec:
        if target._spec.device != value._spec.device:
            raise RuntimeError(
                f"{name}(): Expected out tensor to have device {value._spec.device}, but got {target._spec.device} "
                "instead: make `out` on the device of the operands"
            )
        check_out(name, target, value)
    if target._shape != value._shape:
        check_repeats(target)
        if target.numel() and name not in SILENT:
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(target._shape)}, which "
                f"does not match the required output shape {list(value._shape)}. This behavior is deprecated, and in a "
                "future PyTorch release outputs will not be resized unless they have zero elements. Resize it first: "
                "out.resize_(0).",
                UserWarning,
                stacklevel=depth_of_user(),
            )
        backend = target._spec.backend
        target._data = backend.copy(backend.cast(value._data, target._spec.dtype))
        target._shape = value._shape
        if type(target._counter) is not InferenceCounter:
            target._counter[0] += 1
    else:
        check_writable(target.detach() if free else target, name)
        write(target, value._data)
