"""`Stage`: one step that encodes the arrays of a saved tensor as other arrays, and decodes them.

A `Stored` policy is a sequence of stages: `quantize(8) >> disk()` has two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...base.dtypes import FLOATING
from ..info import SavedInfo

Parts = tuple[Any, ...]  # contiguous arrays

OTHERS = frozenset({"parameter", "buffer"})  # kinds that stay in memory anyway: a copy would only add to it


class CopyLimits(NamedTuple):
    """Limits in bytes of the memory that copies from and to a device may take.

    Attributes:
        window: bytes kept on the device only until they are copied to the host.
        ahead: bytes on the device that are prefetched, or held for further uses.
        pinned: bytes of pinned host memory, of all policies together.
    """

    window: int
    ahead: int
    pinned: int


class Stage:
    """One encoding step of a policy.

    Attributes:
        name: the call that makes it, as text.
        lossless: whether `decode` restores exactly what `encode` got.
        coarse: whether it is so inexact that a quotient of two decoded tensors is meaningless.
        background: from how many bytes on it runs in the background; None for never.
        window: how many bytes may then be in flight.
        tier: where the encoded bytes are, such as "disk"; "" if the stage does not move them.
        min_bytes: smaller tensors are kept as they are.
        looks: whether `encode` reads the elements, so that they must be in host memory first.
        limits: the limits of copies from and to a device, None for the default.
    """

    name = "stage"
    lossless = True
    coarse = False
    background: int | None = None
    window = 0
    tier = ""
    min_bytes = 0
    looks = True
    limits: CopyLimits | None = None

    def takes(self, info: SavedInfo) -> bool:
        """Return whether it applies to a tensor: not to small ones, nor to parameters and buffers."""
        return info.nbytes >= self.min_bytes and info.kind not in OTHERS

    @property
    def bytes_on_disk(self) -> int:
        """The bytes in use in its file."""
        return 0

    def draw(self, row: int, known: bool) -> Any:
        """Return what one encoding depends on beside the arrays, such as a random seed. Called in packing order.

        Args:
            row: the size of the first array's last dimension, 1 if not known.
            known: whether the operation that saves it is known. If not, its backward may compare it with zero.
        """
        return None

    def encode(self, parts: Parts, drawn: Any) -> tuple[Parts, Any]:
        """Return arrays that replace `parts`, and anything else that `decode` needs. May run on another thread."""
        return parts, None

    def decode(self, parts: Parts, extra: Any) -> Parts:
        """Return the arrays that `encode` was given, exactly so if the stage is lossless."""
        return parts

    def __repr__(self) -> str:
        return self.name


class EachPart(Stage):
    """A stage that encodes each array for itself, or keeps it as it is."""

    def encode(self, parts: Parts, drawn: Any) -> tuple[Parts, Any]:
        pairs = [self.encode_part(part) or (part, None) for part in parts]
        return tuple([code for code, _ in pairs]), [how for _, how in pairs]

    def decode(self, parts: Parts, extra: Any) -> Parts:
        pairs = zip(parts, extra, strict=True)
        return tuple([part if how is None else self.decode_part(part, *how) for part, how in pairs])

    def encode_part(self, part: Any) -> tuple[Any, tuple[Any, ...]] | None:
        """Return the encoded array and further arguments for `decode_part`; None to keep the array."""
        return None

    def decode_part(self, part: Any, *how: Any) -> Any:
        """Undo `encode_part`."""
        return part


class Lossy(Stage):
    """A stage that rounds floating-point tensors.

    It does not apply to integers, parameters, tensors that losses and statistics depend on, and tensors that backward
    compares.
    """

    lossless = False
    background = 1 << 18
    window = 16 << 20

    def takes(self, info: SavedInfo) -> bool:
        return (
            Stage.takes(self, info)
            and info.dtype.category == FLOATING
            and not info.exact
            and info.kind not in ("stat", "mask", "index")
            and not info.compares
        )


def arguments(usual: dict[str, Any], **given: Any) -> str:
    """Format keyword arguments as source text, without those that have their usual values."""
    return ", ".join(f"{key}={value!r}" for key, value in given.items() if value != usual[key])


def check_bytes(policy: str, **given: Any) -> None:
    """Raise ValueError if any value is not an int of at least 0."""
    for key, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"{policy}(): {key} is a number of bytes, 0 or more, not {value!r}")


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
