"""How tensors come about from data: `Tensor(...)`, unpickling."""

from __future__ import annotations

from typing import Any

from ..backends import NUMPY, Spec
from ..base import dtypes
from ..base.devices import CPU
from ..base.size import Size
from .tensor import Tensor, alias, wrap


def empty_tensor(*shape: int) -> Tensor:
    """An uninitialised tensor of the default dtype."""
    import numpy as np

    spec = NUMPY.spec_for(dtypes.get_default_dtype(), CPU)
    return alias(np.empty(shape or (0,), spec.native), spec, shape or (0,))


def legacy_new(cls: type, data: Any, *args: Any, **kwargs: Any) -> Tensor:
    """`Tensor(data)` and `Tensor(2, 3)`, as torch.Tensor has it."""
    import numpy as np

    if isinstance(data, int) and not isinstance(data, bool):
        made = empty_tensor(data, *args)
    elif data is None:
        made = empty_tensor()
    elif isinstance(data, Size):
        spec = NUMPY.spec_for(dtypes.get_default_dtype(), CPU)
        made = alias(np.empty(data, spec.native), spec, tuple(data))
    elif isinstance(data, Tensor):
        if kwargs.get("device") is not None:
            raise RuntimeError(
                "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported.  Use "
                "torch.tensor(...) or torch.as_tensor(...) instead."
            )
        if args:
            raise TypeError(
                "new() received an invalid combination of arguments: a tensor, and "
                f"{', '.join(type(a).__name__ for a in args)}"
            )
        made = data[...]
    elif isinstance(data, bool | float | complex):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    elif isinstance(data, list | tuple):
        made = empty_tensor().new_tensor(data)
    else:
        spec = NUMPY.spec_for(dtypes.get_default_dtype(), CPU)
        array = np.array(data, dtype=spec.native)
        made = alias(array, spec, array.shape)
    if cls is not Tensor:
        out = alias(made._data, made._spec, made._shape, cls)
        out._counter, out._edge, out._view, out._tangents = made._counter, made._edge, made._view, made._tangents
        return out
    return made


def rebuild(cls: type, array: Any, requires_grad: bool, extra: dict[str, Any]) -> Tensor:
    """A tensor from what pickling kept of it."""
    made = wrap(array)
    out: Tensor = alias(made._data, made._spec, made._shape, cls)
    out.__dict__.update(extra)
    if requires_grad:
        out.requires_grad = True
    return out


def copy_storage(array: Any, spec: Spec, memo: dict[int, Any]) -> Any:
    """A copy for `deepcopy`: arrays that share memory share it in the copy too."""
    if not spec.numpy or array.base is None:
        if id(array) in memo:
            return memo[id(array)]
        copied = memo[id(array)] = array.copy(order="K") if spec.numpy else spec.backend.copy(array)
        return copied
    import numpy as np

    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    copied = memo.get(id(whole))
    if copied is None:
        copied = whole.copy(order="K")
        if copied.strides != whole.strides or not isinstance(whole, np.ndarray):
            return array.copy(order="K")
        memo[id(whole)] = copied
        memo.setdefault(id(memo), []).append(whole)  # deepcopy's way to keep it alive
    start = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, copied, start, array.strides)
