"""Policies that cast saved tensors to a smaller dtype: bfloat16, float16, and 8-bit floats."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...backends.numpy import ml_dtypes, quiet
from ..info import SavedInfo
from .codec import EachPart, Lossy, arguments, check_bytes
from .storage_policy import Stored

LEAST = 1024  # bytes: smaller tensors are kept as they are


class Cast(EachPart, Lossy):
    """Cast to a smaller dtype, rounding to the nearest value."""

    def __init__(self, name: str, to: Any, min_bytes: int) -> None:
        check_bytes(name, min_bytes=min_bytes)
        self.to, self.min_bytes = np.dtype(to), min_bytes
        self.name = f"{name}({arguments(min_bytes=None if min_bytes == LEAST else min_bytes)})"

    def takes(self, info: SavedInfo) -> bool:
        return Lossy.takes(self, info) and info.dtype.itemsize > self.to.itemsize

    def encode_part(self, part: Any) -> tuple[Any, tuple[Any, ...]] | None:
        if not _is_float(part):
            return None
        with quiet():
            return part.astype(self.to), (part.dtype,)

    def decode_part(self, part: Any, *how: Any) -> Any:
        return part.astype(how[0])


class Float8Cast(Cast):
    """Cast to an 8-bit float dtype, with one scale per storage that maps its largest value to the dtype's largest."""

    coarse = True

    def encode_part(self, part: Any) -> tuple[Any, tuple[Any, ...]] | None:
        if not _is_float(part):
            return None
        largest = float(max(part.max(initial=0.0), -part.min(initial=0.0)))
        scale = largest / float(_values(self.to)[_LARGEST[self.to.name]]) if 0 < largest < np.inf else 1.0
        return _eight_bits(part, scale, self.to), (part.dtype, scale)

    def decode_part(self, part: Any, *how: Any) -> Any:
        dtype, scale = how
        with quiet():
            values = (_values(self.to) * scale).astype(dtype)
        return np.take(values, part.view(np.uint8), mode="clip")


_LARGEST = {"float8_e4m3fn": 0x7E, "float8_e5m2": 0x7B}  # the codes of the largest finite values


def _is_float(part: Any) -> bool:
    return part.dtype.kind == "f" or part.dtype.name == "bfloat16"


@cache
def _values(to: Any) -> Any:
    with quiet():
        return np.arange(256, dtype=np.uint8).view(to).astype(np.float64)


@cache
def _codes(to: Any) -> Any:
    """Return a table of the 8-bit code of each float16: rounding twice loses little, and a table is much faster."""
    with quiet():
        halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
        return halves.astype(to).view(np.uint8)


def _eight_bits(part: Any, scale: float, to: Any) -> Any:
    table = _codes(to)
    out = np.empty(part.shape, np.uint8)
    for start in range(0, part.size, 1 << 16):
        block = slice(start, start + (1 << 16))
        with quiet():
            halves = (part[block].astype(np.float32, copy=False) * np.float32(1 / scale)).astype(np.float16)
        np.take(table, halves.view(np.uint16), out=out[block], mode="clip")
    return out.view(to)


def bf16(min_bytes: int = LEAST) -> Stored:
    """Keep floating-point tensors as bfloat16: half the bytes of float32, its range, and 8 bits of precision.

    Each value is rounded to the nearest: the relative error is at most 1/256. Integers, parameters, and tensors that
    losses and statistics depend on are kept as they are.

    Args:
        min_bytes: smaller tensors stay as they are.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.tensor([1.0, 1.001], requires_grad=True)
        >>> with saved.bf16(min_bytes=0):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad  # 2 * 1.001 would be 2.002
        tensor([2., 2.])
    """
    return Stored((Cast("bf16", ml_dtypes().bfloat16, min_bytes), None))


def fp16(min_bytes: int = LEAST) -> Stored:
    """Keep floating-point tensors as float16: 11 bits of precision; values beyond 65504 become inf.

    Args:
        min_bytes: smaller tensors stay as they are.

    Example::

        >>> from gradpack import saved
        >>> saved.fp16()
        fp16()
    """
    return Stored((Cast("fp16", np.float16, min_bytes), None))


def fp8(format: str = "e4m3", min_bytes: int = LEAST) -> Stored:
    """Keep floating-point tensors in 8 bits, scaled so that the largest value of each storage is representable.

    Args:
        format: "e4m3", with 4 bits of precision, or "e5m2", with 3 and more range.
        min_bytes: smaller tensors stay as they are.

    Raises:
        ValueError: for another format.
        ImportError: without ml_dtypes.

    Example::

        >>> from gradpack import saved
        >>> saved.fp8() >> saved.lossless("zlib")
        fp8() >> lossless('zlib')
    """
    formats = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
    if format not in formats:
        raise ValueError(f"fp8(): format is 'e4m3' or 'e5m2', not {format!r}")
    return Stored((Float8Cast("fp8", getattr(ml_dtypes(), formats[format]), min_bytes), None))
