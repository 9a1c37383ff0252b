"""`FloatTensor`, `LongTensor` and the others: constructors of one dtype, and classes for `isinstance`."""

from __future__ import annotations

import warnings
from typing import Any

from ..base import dtypes
from ..base.dtypes import dtype
from ..core.legacy_constructors import legacy
from ..core.tensor import Tensor

__name__ = "gradpack"  # as torch has it

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
        return legacy(cls.dtype, args, device)


def _made(name: str, of: str) -> tensortype:
    kind: Any = tensortype(name, (), {"dtype": dtypes.DTYPES[of], "__module__": "gradpack"})
    kind.__doc__ = f"""Makes a tensor of dtype {of}: of a size, or of nested sequences. `isinstance` asks for the dtype.

    Args:
        *args: ints or one `torch.Size`: the size, and elements are not set; or one argument with the elements: a
            sequence, an array, or a tensor of this dtype.
        device: None, or the CPU.

    Raises:
        RuntimeError: for another device.

    Example::

        >>> import gradpack as torch
        >>> x = torch.{name}([[1, 0], [0, 1]])
        >>> x.dtype, isinstance(x, torch.{name}), torch.{name}(2, 3).shape
        (gradpack.{of}, True, gradpack.Size([2, 3]))
    """
    return kind


TYPES: dict[str, tensortype] = {name: _made(name, of) for name, of in _NAMES.items()}
globals().update(TYPES)


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by a typed constructor, or its name. Deprecated: use `set_default_dtype`.

    Args:
        t: the constructor of a floating-point dtype, such as `torch.DoubleTensor`, or `"torch.DoubleTensor"`.

    Raises:
        TypeError: for one that is not of a floating-point dtype, or of another device.

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
    module, _, name = t.rpartition(".") if isinstance(t, str) else ("", "", "")
    if module in ("torch.cuda", "gradpack.cuda"):
        raise TypeError(f"type {t} not available. Torch not compiled with CUDA enabled.")
    kind = TYPES.get(name) if module in ("", "torch", "gradpack") and name else t
    if not isinstance(kind, tensortype):
        raise TypeError(f"invalid type object: {t!r}: give one of {', '.join(_NAMES)}")
    if not kind.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    dtypes.set_default_dtype(kind.dtype)
