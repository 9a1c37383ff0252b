"""A saved result of dropout, kept as the input and mask that backward of other nodes holds anyway.

Softmax, tanh and the like keep their result for backward, and dropout its mask. What dropout made of the two is the
same again in one pass over memory, so that products which take it need not keep it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ...base.errors import saved_was_modified
from ...base.modes import MODE
from ...core.packed import LEAST, Rematerialized, packed_for
from ...core.tensor import Tensor
from ...kernels.dispatch import accelerated
from ..reduce.kernels import _array_type
from ..shape.memory_formats import channels_as_in


class Dropped(Rematerialized):
    """A saved dropout result, recomputed from its input and mask when unpacked."""

    __slots__ = ("_bits", "_p", "_seen", "_source", "_writes")

    def __init__(self, result: Tensor, producer: Any, bits: Any, p: float) -> None:
        super().__init__(result)
        self._source, self._writes, self._seen = producer.out, producer.out_c, producer.out_v
        self._bits, self._p = bits, p

    def made(self) -> Any:
        if self._writes[0] != self._seen:
            raise saved_was_modified(
                "a product", "the input of dropout", self._spec.dtype, self._shape, "", self._writes[0], self._seen
            )
        kept = np.reshape(np.unpackbits(self._bits, count=prod(self._shape)), self._shape).view(bool)
        return masked(self._source, kept, 1 / (1 - self._p))

    def held(self, tell: Callable[[Any], None]) -> Any:
        """The arrays that this keeps in memory, for measuring saved tensors."""
        return self._source, self._bits


@accelerated
def masked(input: Any, kept: Any, scale: float) -> Any:
    """`input * scale` where `kept`, else `input * 0`: NaN for inf and NaN, as in torch."""
    out = np.multiply(input, kept)
    fits = out.ndim > 0 and out.dtype.kind not in "biu"
    return channels_as_in(np.multiply(out, scale, out=out) if fits else out * scale, input)


def light(tensor: Tensor) -> Any:
    """Return what to save for an input: a `Dropped` to recompute a large one from saved tensors, or the tensor."""
    node: Any = tensor._edge
    if type(node).__name__ != "MulBackward0" or node.op.name != "_dropout" or tensor._data.nbytes < LEAST:
        return tensor
    producer = node.edges[0]
    source, mode = getattr(producer, "out", None), MODE.get()
    if (
        type(source) is not _array_type
        or type(tensor._data) is not _array_type
        or type(node.mask) is not _array_type
        or source.shape != tensor._shape
        or source.dtype != tensor._data.dtype
        or producer.out_c[0] != producer.out_v
        or not 0 < node.p < 1
        or tensor._counter[0]  # written to since
        or mode.levels
        or mode.forward
    ):
        return tensor
    return packed_for(tensor, Dropped(tensor, producer, node.mask, node.p))
