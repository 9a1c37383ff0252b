"""How tensors come about from data: `Tensor(...)`, unpickling."""

from __future__ import annotations

from typing import Any

from ..backends import NUMPY
from ..base import dtypes
from ..base.devices import CPU
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
    elif isinstance(data, Tensor):
        made = data.detach()
        made._counter = data._counter
    else:
        spec = NUMPY.spec_for(dtypes.get_default_dtype(), CPU)
        array = np.array(data, dtype=spec.native)
        made = alias(array, spec, array.shape)
    if cls is not Tensor:
        out = alias(made._data, made._spec, made._shape, cls)
        out._counter = made._counter
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
