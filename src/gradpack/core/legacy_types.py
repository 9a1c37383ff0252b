"""`FloatTensor`, `LongTensor` and the others: constructors of one dtype, and classes for `isinstance`."""

from __future__ import annotations

import warnings
from typing import Any

from ..base import dtypes
from ..base.dtypes import dtype
from .legacy_constructors import legacy
from .tensor import Tensor

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
    """The metaclass of the typed constructors."""

    dtype: dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance._spec.dtype is cls.dtype

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        return legacy(cls.dtype, args)


def _made(name: str, of: str) -> tensortype:
    kind: Any = tensortype(name, (), {"dtype": dtypes.DTYPES[of], "__module__": "gradpack"})
    kind.__doc__ = f"Makes a tensor of dtype {of}: of a size, or of nested sequences. `isinstance` asks for the dtype."
    return kind


TYPES: dict[str, tensortype] = {name: _made(name, of) for name, of in _NAMES.items()}
globals().update(TYPES)


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by a typed constructor, or its name. Deprecated: use `set_default_dtype`.

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
