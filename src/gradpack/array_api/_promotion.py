"""Data types by the rules of the array API standard: promotion, kinds, limits."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ..base import dtypes
from ..base.devices import CPU, device, get_default_device
from ..base.dtypes import dtype, promote_types
from ..base.info import finfo as _finfo
from ..base.info import iinfo as _iinfo
from ..core.tensor import Tensor
from ._types import FloatLimits, IntLimits, Where

_KINDS = {
    "bool": "bool",
    "signed integer": "int8 int16 int32 int64",
    "unsigned integer": "uint8",
    "real floating": "float32 float64",
    "complex floating": "complex64 complex128",
}
_KINDS["integral"] = f"{_KINDS['signed integer']} {_KINDS['unsigned integer']}"
_KINDS["numeric"] = f"{_KINDS['integral']} {_KINDS['real floating']} {_KINDS['complex floating']}"
# In the order in which a kind gives way to the next one.
_ORDER = "bool", "integral", "real floating", "complex floating"
NAMES = f"bool {_KINDS['numeric']}"  # words: the standard's data types that have the standard's promotion here
_SCALARS = {bool: 0, int: 1, float: 2, complex: 3}


def _kind(d: dtype) -> int:
    return 3 if d.is_complex else 2 if d.is_floating_point else 0 if d is dtypes.bool_ else 1


def _with_scalar(d: dtype, scalar: complex) -> dtype:
    """Return the dtype of an operation on an array and a Python number: that of the array, if it has the kind."""
    kind = _SCALARS[type(scalar)]
    if kind <= _kind(d):
        return d
    if kind == 1:
        return dtypes.int64
    floating = d if d.is_floating_point else dtypes.get_default_dtype()
    return floating if kind == 2 else promote_types(floating, dtypes.complex64)


def result_type(*arrays_and_dtypes: Any) -> dtype:
    """Return the dtype of an operation on these arrays, dtypes and Python numbers.

    An array of no dimensions counts as any other array, unlike in `torch.result_type`. A Python number decides only
    where it is of a higher kind than all arrays.

    Raises:
        ValueError: if there is no array and no dtype among the arguments.
        TypeError: if an argument is neither an array, a dtype nor a number.
    """
    found, scalars = [], []
    for x in arrays_and_dtypes:
        if isinstance(x, Tensor | dtype):
            found.append(x if isinstance(x, dtype) else x.dtype)
        elif type(x) in _SCALARS:
            scalars.append(x)
        else:
            raise TypeError(f"result_type(): takes tensors, dtypes and Python numbers, and got {type(x).__name__}")
    if not found:
        raise ValueError("result_type(): at least one tensor or dtype is needed, and all arguments are Python numbers")
    return reduce(_with_scalar, scalars, reduce(promote_types, found))


def promoted(*operands: Any) -> list[Tensor]:
    """Return the operands as tensors of the dtype that the standard gives to an operation on them."""
    first = next((x for x in operands if isinstance(x, Tensor)), None)
    if first is None:
        raise TypeError(
            f"expected at least one tensor, and got {', '.join(type(x).__name__ for x in operands)}: "
            "convert one with asarray(...)"
        )
    d = result_type(*operands)
    return [x.to(d) if isinstance(x, Tensor) else first.new_tensor(x, dtype=d) for x in operands]


def can_cast(from_: dtype | Tensor, to: dtype, /) -> bool:
    """Return whether promotion leads from one dtype, or that of an array, to another.

    Raises:
        TypeError: if `from_` is neither a dtype nor a tensor.
    """
    given: dtype = from_.dtype if isinstance(from_, Tensor) else from_
    try:
        return promote_types(given, to) is to
    except RuntimeError:  # a dtype that takes part in no promotion
        return given is to


def isdtype(dtype: dtype, kind: dtype | str | tuple[dtype | str, ...]) -> bool:
    """Return whether a dtype is of a kind, or of one of several.

    Args:
        kind: a dtype, a tuple of kinds, or "bool", "signed integer", "unsigned integer", "integral", "real floating",
            "complex floating" or "numeric".

    Raises:
        ValueError: if there is no such kind.
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    unknown = [k for k in kinds if isinstance(k, str) and k not in _KINDS]
    if unknown:
        raise ValueError(f"isdtype(): no kind of dtypes is called {unknown[0]!r}; there are {', '.join(_KINDS)}")
    own = _ORDER[_kind(dtype)]
    if own == "integral":
        own = "signed integer" if dtype.is_signed else "unsigned integer"
    wider = {own, *(["integral"] if own.endswith("integer") else []), *(["numeric"] if own != "bool" else [])}
    return any(k in wider if isinstance(k, str) else k is dtype for k in kinds)


def astype(x: Tensor, dtype: dtype, /, *, copy: bool = True, device: Where = None) -> Tensor:
    """Return a tensor with another dtype; a copy even if it has that dtype, unless `copy=False`.

    Args:
        copy: whether to copy a tensor that has the dtype already.
        device: the device of the result; None for that of `x`.
    """
    return x.to(device=x.device if device is None else device, dtype=dtype, copy=copy)


def finfo(type: dtype | Tensor, /) -> FloatLimits:
    """Return the limits of a floating or complex dtype, or of that of a tensor; `dtype` is a dtype, unlike torch's."""
    own: dtype = type.dtype if isinstance(type, Tensor) else type
    found = _finfo(own)
    return FloatLimits(found.bits, found.eps, found.max, found.min, found.smallest_normal, own.to_real())


def iinfo(type: dtype | Tensor, /) -> IntLimits:
    """Return the limits of an integer dtype, or of that of a tensor; `dtype` is a dtype, unlike torch's."""
    own: dtype = type.dtype if isinstance(type, Tensor) else type
    found = _iinfo(own)
    return IntLimits(found.bits, found.max, found.min, own)


class __array_namespace_info__:  # noqa: N801 - the standard's name
    """The standard's inspection of a namespace: what it can do, and its devices and dtypes."""

    def capabilities(self) -> dict[str, Any]:
        """Return what is supported: boolean indexing, shapes that depend on values, and how many dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> device:
        """Return the device of new tensors."""
        return get_default_device()

    def default_dtypes(self, *, device: Where = None) -> dict[str, dtype]:
        """Return the dtypes of new tensors."""
        real = dtypes.get_default_dtype()
        complex_ = promote_types(real, dtypes.complex64)
        integral = dtypes.int64
        return {"real floating": real, "complex floating": complex_, "integral": integral, "indexing": integral}

    def dtypes(self, *, device: Where = None, kind: str | tuple[str, ...] | None = None) -> dict[str, dtype]:
        """Return the dtypes of a kind, by name."""
        found = [dtypes.DTYPES[name] for name in NAMES.split()]
        return {d.name: d for d in found if kind is None or isdtype(d, kind)}

    def devices(self) -> list[device]:
        """Return the devices."""
        return [CPU]
