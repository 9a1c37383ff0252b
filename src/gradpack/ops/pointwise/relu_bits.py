"""Save the result of relu as a bit mask (one bit per element), if no other node saves that result."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from sys import _getframe
from typing import Any

import numpy as np

from ...base.callers import place_of
from ...base.modes import MODE
from ...base.pool import split
from ...core.packed import LEAST, Packed, PackedWithInfo, Rematerialized, packed_for
from ...core.saved import notify_recorder
from ...core.tensor import Tensor
from ...kernels.dispatch import HEAVY, accelerated
from ..reduce.kernels import _array_type

_PART = HEAVY // 2  # bytes of bits that a core takes at a time


class Bits(Rematerialized):
    """A packed saved tensor: a bit for each element that is not zero; unpacks to ones and zeros."""

    __slots__ = ("_dtype", "bits")

    def __init__(self, result: Tensor) -> None:
        super().__init__(result)
        self._dtype = result._data.dtype
        self.bits = bits_of(result._data.reshape(-1))

    def made(self) -> Any:
        return ones_of(self.bits, prod(self._shape), self._dtype).reshape(self._shape)

    def held(self, tell: Callable[[Any], None]) -> Any:
        """The arrays that this holds, for measuring memory."""
        return (self.bits,)


@accelerated
def bits_of(x: Any) -> Any:
    """Return a bit for each element of a vector, in the order of `numpy.packbits`: whether it is not zero."""
    bits = np.empty(-(-len(x) // 8), np.uint8)

    def pack(low: int, high: int) -> None:
        bits[low:high] = np.packbits(x[8 * low : 8 * high] != 0)

    split(pack, len(bits), _PART)
    return bits


@accelerated
def ones_of(bits: Any, count: int, native: Any) -> Any:
    """Return a vector of ones and zeros, as many as `count` of the bits."""
    ones = np.empty(count, native)

    def unpack(low: int, high: int) -> None:
        part = ones[8 * low : 8 * high]
        part[:] = np.unpackbits(bits[low:high], count=len(part))

    split(unpack, len(bits), _PART)
    return ones


def keep_bits(result: Tensor) -> None:
    """If the grad_fn of `result` is a relu's, replace its saved tensor by one bit per element.

    To be called by operations that do not save their input, such as pooling and dropout. A saved tensor that pack
    hooks have packed is left alone, unless they belong to a policy with `bits_for_relu`.
    """
    node: Any = result._edge
    if type(node).__name__ != "ReluBackward0":
        return
    kept, array, mode = node.out, result._data, MODE.get()
    if type(array) is not _array_type or array.nbytes < LEAST or mode.levels or mode.forward or mode.mutation:
        return
    if isinstance(kept, Packed):
        counter, seen = kept.counter, kept.seen
        if not getattr(getattr(kept.unpack, "__self__", None), "bits_for_relu", False):
            return
    else:
        counter, seen = node.out_c, node.out_v
        if kept is not array:
            return
    if counter is not result._counter or counter[0] != seen:
        return  # modified in-place: backward raises the version error
    node.out = packed = packed_for(result, Bits(result))
    if mode.recorder is not None:
        label = ("ReluBackward0", "out")
        if hasattr(mode.recorder, "describe"):
            packed.__class__ = PackedWithInfo
            packed.info = mode.recorder.describe(result, label, node, place_of(_getframe(1)))
            packed.info.policy, packed.info.packed_bytes = "bits", packed.handle.bits.nbytes
        node.held = (notify_recorder(mode, "relu", label, result, packed, node),)
