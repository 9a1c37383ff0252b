"""`finfo` and `iinfo`: the limits of a dtype."""

from __future__ import annotations

from . import dtypes
from .dtypes import dtype

# name: (bits, significand bits stored, smallest exponent, largest exponent, resolution digits)
FLOATS = {
    "float16": (16, 10, -14, 15, 3),
    "bfloat16": (16, 7, -126, 127, 2),
    "float32": (32, 23, -126, 127, 6),
    "float64": (64, 52, -1022, 1023, 15),
}


class finfo:  # noqa: N801 - torch's name
    """Limits of a floating-point dtype: `bits, eps, max, min, tiny, smallest_normal, resolution, dtype`.

    Example::

        >>> import gradpack as torch
        >>> torch.finfo(torch.float32).eps
        1.1920928955078125e-07
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, type: dtype | None = None) -> None:
        type = dtypes.get_default_dtype() if type is None else type
        if not isinstance(type, dtype) or type.category < dtypes.FLOATING:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle {type!r}")
        name = type.to_real().name
        self.bits, significand, low, high, digits = FLOATS[name]
        self.dtype = name
        self.eps = 2.0**-significand
        self.max = (2.0 - self.eps) * 2.0**high
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0**low
        self.resolution = float(f"1e-{digits}")

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:  # noqa: N801 - torch's name
    """Limits of an integer dtype: `bits, max, min, dtype`.

    Example::

        >>> import gradpack as torch
        >>> torch.iinfo(torch.int8).max
        127
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: dtype) -> None:
        if not isinstance(type, dtype) or type.category >= dtypes.FLOATING:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle {type!r}")
        if type.category == dtypes.BOOL:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        self.bits = type.itemsize * 8
        self.dtype = type.name
        self.max = 2 ** (self.bits - type.is_signed) - 1
        self.min = -(2 ** (self.bits - 1)) if type.is_signed else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
