"""`FloatTensor`, `LongTensor` and the others: constructors of one dtype, and classes for `isinstance`."""

from __future__ import annotations

import warnings
from typing import Any

from ..backends import NUMPY
from ..base import dtypes
from ..base.devices import CPU
from ..base.dtypes import dtype
from .tensor import Tensor, alias

_NAMES = {
    "BoolTensor": "bool",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "ShortTensor": "int16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
}


class tensortype(type):  # noqa: N801 - torch's name
    """The type of the typed constructors."""

    dtype: dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance._spec.dtype is cls.dtype

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        return legacy(cls.dtype, args)


def legacy(d: dtype, args: tuple[Any, ...]) -> Tensor:
    """`FloatTensor(2, 3)`, `FloatTensor([1, 2])`, `FloatTensor(tensor)`, `FloatTensor(size)`."""
    import numpy as np

    from ..base.size import Size

    spec, sized = NUMPY.spec_for(d, CPU), False
    if (len(args) == 1 and not isinstance(args[0], int)) or (len(args) == 1 and isinstance(args[0], bool)):
        data = args[0]
        if isinstance(data, Tensor):
            if data._spec.dtype is not d:
                raise TypeError(
                    f"expected a tensor of dtype {d}, got one of dtype {data.dtype}: convert it with .to({d})"
                )
            return data.detach()
        if type(data) is Size:
            args, sized = tuple(data), True
        elif isinstance(data, list | tuple | np.ndarray):
            plain = [x.item() if isinstance(x, Tensor) else x for x in data]
            array = NUMPY.cast(np.array(plain), d)
            return alias(np.array(array), spec, array.shape)
        else:
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    shape = tuple(n.__index__() for n in args) if args or sized else (0,)
    if any(n < 0 for n in shape):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return alias(np.empty(shape, spec.native), spec, shape)


def _made(name: str, of: str) -> tensortype:
    kind: Any = tensortype(name, (), {"dtype": dtypes.DTYPES[of], "__module__": "gradpack"})
    kind.__doc__ = f"Makes a tensor of dtype {of}: of a size, or of nested sequences. `isinstance` asks for the dtype."
    return kind


TYPES: dict[str, tensortype] = {name: _made(name, of) for name, of in _NAMES.items()}
globals().update(TYPES)


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by a typed constructor, or its name. Old: use `set_default_dtype`.

    Raises:
        TypeError: for one that is not of a floating-point dtype.

    Example::

        >>> import gradpack as torch
        >>> import warnings
        >>> warnings.simplefilter("ignore")
        >>> torch.set_default_tensor_type(torch.FloatTensor)
    """
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    kind = TYPES.get(t.rpartition(".")[2]) if isinstance(t, str) else t
    if not isinstance(kind, tensortype):
        raise TypeError(f"invalid type object: {t!r}: give one of {', '.join(_NAMES)}")
    if not kind.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    dtypes.set_default_dtype(kind.dtype)


def typename(obj: Any, /) -> str:
    """The name of an object's type; of a tensor with its dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.typename(torch.ones(1))
        'torch.FloatTensor'
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if isinstance(obj, type) else type(obj)
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None) or kind.__qualname__
    module = getattr(obj, "__module__", None) or ""
    return name if module in ("", "builtins", "__builtin__") else f"{module}.{name}"


def is_storage(obj: Any, /) -> bool:
    """Whether an object is the storage of a tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.is_storage(torch.ones(1).untyped_storage())
        True
    """
    from .storage import UntypedStorage

    return isinstance(obj, UntypedStorage)
