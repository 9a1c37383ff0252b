"""`mask`: a policy that keeps masks as one bit per element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..info import SavedInfo
from .codec import EachPart, check_bytes
from .storage_policy import Stored

_LOOK = 256  # elements to test first


class Bits(EachPart):
    """A stage that packs arrays with only two values, 0 and one other, as bits, and keeps other arrays. Exact."""

    def __init__(self, min_bytes: int) -> None:
        check_bytes("mask", min_bytes=min_bytes)
        self.min_bytes = min_bytes
        self.name = "mask()" if min_bytes == 64 else f"mask(min_bytes={min_bytes})"

    def takes(self, info: SavedInfo) -> bool:
        return EachPart.takes(self, info) and info.kind in ("mask", "constant", "index") and not info.dtype.is_complex

    def encode_part(self, part: Any) -> tuple[Any, tuple[Any, ...]] | None:
        value = _other(part)
        if value is None:
            return None
        return np.packbits(part if part.dtype == np.bool_ else part != 0), (part.size, part.dtype, value)

    def decode_part(self, part: Any, *how: Any) -> Any:
        size, dtype, value = how
        bits = np.unpackbits(part, count=size)
        return bits.view(np.bool_) if dtype == np.bool_ else np.array([0, value], dtype)[bits]


def _other(part: Any) -> Any:
    """Return the other value of a flat array that has only 0 and one more value; None for any other array."""
    if part.dtype == np.bool_:
        return True
    for some in (part[:_LOOK], part):  # most arrays that are no masks fail the first test
        if not some.size:
            return None
        least, largest = some.min(), some.max()
        value = largest if least == 0 else least
        if not (least == 0 or largest == 0) or not ((some == 0) | (some == value)).all():
            return None
    if part.dtype.kind != "u" and np.signbit(part[part == 0]).any():  # the sign of a zero would be lost
        return None
    return value


def mask(min_bytes: int = 64) -> Stored:
    """Keep masks as bits: bool tensors, and constants whose only values are 0 and one other. Exact.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.randn(100, requires_grad=True)
        >>> policy = saved.mask()
        >>> with policy:
        ...     y = torch.where(x > 0, x, 0.0).sum()
        >>> policy.packed_bytes
        13
        >>> y.backward()
    """
    return Stored((Bits(min_bytes), None))
