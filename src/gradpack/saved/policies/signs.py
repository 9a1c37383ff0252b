"""A stage that keeps one bit per element, whether it is above zero: all that relu's backward needs of its result."""

from __future__ import annotations

from typing import Any

import numpy as np

from .codec import Parts, Stage


class Signs(Stage):
    """Pack `x > 0` as bits; unpack ones and zeros."""

    name = "signs()"
    lossless = False

    def encode(self, parts: Parts, drawn: Any) -> tuple[Parts, Any]:
        (part,) = parts
        return (np.packbits(part > 0),), (part.size, part.dtype)

    def decode(self, parts: Parts, extra: Any) -> Parts:
        size, dtype = extra
        return (np.unpackbits(parts[0], count=size).astype(dtype),)


SIGNS = Signs()
