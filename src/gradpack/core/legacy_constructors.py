"""Construction of tensors from data: `Tensor(...)`."""

from __future__ import annotations

from typing import Any

from ..base import dtypes, late
from ..base.devices import device
from ..base.dtypes import dtype
from ..base.size import Size
from .tensor import Tensor
from .torch_function import instance


def legacy_new(cls: type, args: tuple[Any, ...], place: Any) -> Tensor:
    """`Tensor(data)` and `Tensor(2, 3)`, as torch.Tensor has it."""
    if len(args) == 1 and isinstance(args[0], Tensor):
        if place is not None:
            raise RuntimeError(
                "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported.  Use "
                "torch.tensor(...) or torch.as_tensor(...) instead."
            )
        made = args[0][...]
    else:
        made = legacy(dtypes.get_default_dtype(), args, place)
    return made if cls is Tensor else instance(made, cls)


def legacy(d: dtype, args: tuple[Any, ...], place: Any = None) -> Tensor:
    """Make a tensor of dtype `d` from a size, uninitialised, or from data: `Tensor(2, 3)`, `FloatTensor([1, 2])`.

    Raises:
        RuntimeError: for a place that is not the CPU.
    """
    if place is not None and device(place).type != "cpu":
        raise RuntimeError(
            f"legacy constructor expects device type: cpu but device type: {device(place).type} was passed"
        )
    if len(args) == 1 and not isinstance(args[0], Size):
        data = args[0]
        if isinstance(data, Tensor):
            if data._spec.dtype is not d:
                raise TypeError(
                    f"expected a tensor of dtype {d}, got one of dtype {data.dtype}: convert it with .to({d})"
                )
            return data[...]
        if isinstance(data, str | bytes) or late.is_sequence(data) or late.is_array(data):
            made: Tensor = late.tensor(data, dtype=d)
            return made
        if isinstance(data, bool) or not hasattr(data, "__index__"):
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    elif any(isinstance(a, Tensor) and a.numel() != 1 for a in args):
        kinds = ", ".join(type(a).__name__ for a in args)
        raise TypeError(
            f"new() received an invalid combination of arguments: {kinds}, where sizes or one tensor are due"
        )
    size = args[0] if args and isinstance(args[0], Size) else args or (0,)
    out: Tensor = late.empty(size, dtype=d)
    return out
