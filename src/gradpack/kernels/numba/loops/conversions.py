"""Between float32 and fewer bits: float16 and bfloat16, and whole numbers for the columns of blocks, which are groups.

Numbers of 16 bits are made by integer arithmetic. Rounding is to the nearest number, to the even one of two that are
equally near; what becomes NaN is quiet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions import bits_of_float, float_of_bits
from .loop import loop

_i = np.int32
_SIGN, _REST, _INFINITE = _i(-0x80000000), _i(0x7FFFFFFF), _i(0x7F800000)
_SHIFT = _i((127 - 15) << 23)  # what the exponents differ by
_LEAST_NORMAL = _i((127 - 14) << 23)  # the bits of 2^-14
_ULP_IS_LEAST = _i((127 - 1) << 23)  # those of 1/2, whose last bit stands for 2^-24, the least number of float16


@loop
def to_bfloat16(x: Any, out: Any) -> None:
    """The upper half of the bits, and one more if the lower half is more than half of the last."""
    for i in range(x.size):
        bits = bits_of_float(x[i])
        rounded = (bits + _i(0x7FFF) + ((bits >> _i(16)) & _i(1))) >> _i(16)
        quiet = (bits >> _i(16)) | _i(0x40)
        out[i] = np.uint16(quiet if (bits & _REST) > _INFINITE else rounded)


@loop
def from_bfloat16(x: Any, out: Any) -> None:
    """The bits, and 16 zeros."""
    for i in range(x.size):
        out[i] = float_of_bits(_i(x[i]) << _i(16))


@loop
def to_float16(x: Any, out: Any) -> None:
    """The exponent moved and the fraction cut; numbers below 2^-14 are rounded by adding 1/2 in float32."""
    for i in range(x.size):
        bits = bits_of_float(x[i])
        size = bits & _REST
        normal = (size - _SHIFT + _i(0xFFF) + ((size >> _i(13)) & _i(1))) >> _i(13)
        normal = normal if normal < _i(0x7C00) else _i(0x7C00)
        below = bits_of_float(float_of_bits(size) + np.float32(0.5)) - _ULP_IS_LEAST
        made = below if size < _LEAST_NORMAL else normal
        made = _i(0x7E00) if size > _INFINITE else made
        out[i] = np.uint16(made | ((bits >> _i(16)) & _i(0x8000)))


@loop
def from_float16(x: Any, out: Any) -> None:
    """The same backwards; a fraction without an exponent counts steps of 2^-24."""
    for i in range(x.size):
        bits = _i(x[i])
        size = bits & _i(0x7FFF)
        normal = (size << _i(13)) + _SHIFT
        normal = normal | _INFINITE if size >= _i(0x7C00) else normal
        quiet = normal | _i(0x400000) if size > _i(0x7C00) else normal
        below = bits_of_float(np.float32(size) * np.float32(2.0**-24))
        made = below if size < _i(0x400) else quiet
        out[i] = float_of_bits(made | ((bits << _i(16)) & _SIGN))


@loop
def extremes(block: Any, least: Any, largest: Any) -> None:
    """The least and the largest of each column; not finite for a column in which there is an inf or a NaN."""
    count, width = block.shape
    strange = np.zeros(width, np.float32)
    for j in range(width):
        least[j] = largest[j] = block[0, j]
    for i in range(count):
        for j in range(width):
            x = block[i, j]
            least[j] = x if x < least[j] else least[j]
            largest[j] = x if x > largest[j] else largest[j]
            strange[j] += x - x
    for j in range(width):
        largest[j] += strange[j]


@loop
def whole_numbers(block: Any, least: Any, per_step: Any, noise: Any, codes: Any) -> None:
    """`(x - least) * per_step + noise`, cut off, as bytes."""
    count, width = block.shape
    for i in range(count):
        for j in range(width):
            codes[i, j] = np.uint8(np.int32((block[i, j] - least[j]) * per_step[j] + noise[i, j]))


@loop
def numbers(codes: Any, least: Any, step: Any, noise: Any, out: Any) -> None:
    """`least + step * (code - noise)`."""
    count, width = out.shape
    for i in range(count):
        for j in range(width):
            out[i, j] = least[j] + step[j] * (np.float32(codes[i, j]) - noise[i, j])
