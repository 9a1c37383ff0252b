"""What backward of relu needs of a result that nothing else keeps: one bit for each element."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from sys import _getframe
from typing import Any
from weakref import ref

import numpy as np

from ..base.callers import place_of
from ..base.modes import MODE
from ..tensor.saved import Packed, PackedWithInfo, tell
from ..tensor.tensor import Tensor, _new, alias

LEAST = 1 << 16  # bytes: smaller results stay as they are


class Bits:
    """Which elements of an array are above zero. Gives the array itself while somebody holds it."""

    __slots__ = ("__weakref__", "_array", "_counter", "_dtype", "_shape", "_spec", "bits")

    def __init__(self, result: Tensor, array: Any) -> None:
        self.bits = np.packbits(array > 0)
        self._array, self._counter = ref(array), result._counter
        self._shape, self._spec, self._dtype = result._shape, result._spec, array.dtype

    def tensor(self) -> Tensor:
        array = self._array()
        if array is not None:
            out: Tensor = alias(array, self._spec, self._shape)
            out._counter = self._counter  # so that a write in place is noticed
            return out
        ones = np.unpackbits(self.bits, count=prod(self._shape)).astype(self._dtype)
        return alias(np.reshape(ones, self._shape), self._spec, self._shape)

    def held(self, tell: Callable[[Any], None]) -> Any:
        """The array in memory that this keeps, for a meter."""
        return (self.bits,)


def keep_bits(result: Tensor) -> None:
    """Have the relu that made `result`, if one did, keep bits of it in place of it.

    For operations that do not keep their input themselves, such as pooling and dropout: then nothing else needs the
    result. What hooks were given stays as they have it, unless they are a policy that says otherwise.
    """
    node: Any = result._edge
    if type(node).__name__ != "ReluBackward0":
        return
    kept, array, mode = node.out, result._data, MODE.get()
    if type(array) is not np.ndarray or array.nbytes < LEAST or mode.levels or mode.dual or mode.mutation:
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
        return  # backward is to say so
    packed = _new(Packed)
    packed.spec, packed.shape, packed.where = result._spec, result._shape, None
    packed.counter, packed.seen = counter, seen
    packed.handle, packed.unpack = Bits(result, array), Bits.tensor
    node.out = packed
    if mode.recorder is not None:
        label = ("ReluBackward0", "out")
        if hasattr(mode.recorder, "describe"):
            packed.__class__ = PackedWithInfo
            packed.info = mode.recorder.describe(result, label, node, place_of(_getframe(1)))
            packed.info.policy, packed.info.packed_bytes = "bits", packed.handle.bits.nbytes
        node.held = (tell(mode, "relu", label, result, packed, node),)
