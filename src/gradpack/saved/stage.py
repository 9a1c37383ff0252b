"""A stage: one step that turns the arrays of a saved tensor into others, and back.

Policies that store are made of stages, one after the other: `quantize(8) >> disk()` has two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..base.dtypes import FLOATING
from .info import SavedInfo

Parts = tuple[Any, ...]  # contiguous arrays

OTHERS = frozenset({"parameter", "buffer"})  # stay in memory anyway: a copy would only add to it


class Limits(NamedTuple):
    """How much memory copies from and to a device may take.

    Attributes:
        window: bytes that are kept on the device only until they are copied.
        ahead: bytes that are copied back before they are asked for, or held because they will be asked for again.
        pinned: bytes of pinned memory, of all policies together.
    """

    window: int
    ahead: int
    pinned: int


class Stage:
    """What a policy does with arrays.

    Attributes:
        name: as the user would write it.
        lossless: does `decode` give back exactly what `encode` got?
        coarse: is it so inexact that a quotient of two decoded tensors means nothing?
        background: how many bytes are worth running it beside the program; None for never.
        window: how many bytes may then be under way.
        policy: the class of policies with such a stage, if it is a special one.
        tier: where the bytes are, "" for where they were.
        min_bytes: smaller tensors are left alone.
        looks: does `encode` look at the elements, so that they must be in host memory before?
        limits: of copies from and to a device, if it says.
    """

    name = "stage"
    lossless = True
    coarse = False
    background: int | None = None
    window = 0
    policy: Any = None
    tier = ""
    min_bytes = 0
    looks = True
    limits: Limits | None = None

    def takes(self, info: SavedInfo) -> bool:
        """Whether it applies to a tensor. Those that stay in memory anyway are left alone."""
        return info.nbytes >= self.min_bytes and info.kind not in OTHERS

    def draw(self, row: int, known: bool) -> Any:
        """What one encoding depends on beside the arrays: asked for in the order of packing.

        Args:
            row: the last size of the first array, 1 if it is not known.
            known: is it known which operation saves it? If not, backward may compare it with zero.
        """
        return None

    def encode(self, parts: Parts, drawn: Any) -> tuple[Parts, Any]:
        """Other arrays instead of `parts`, and whatever else decoding needs. May run on another thread."""
        raise TypeError(f"{type(self).__name__} has no encode")

    def decode(self, parts: Parts, extra: Any) -> Parts:
        """What `encode` was given."""
        raise TypeError(f"{type(self).__name__} has no decode")

    def __repr__(self) -> str:
        return self.name


class Lossy(Stage):
    """A stage for floating-point values that need not come back exactly.

    It leaves alone what is no number to round: integers, parameters, what losses and statistics depend on, and what
    backward compares.
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


def arguments(**given: Any) -> str:
    """Arguments as the user would write them, without those that are None."""
    return ", ".join(f"{key}={value!r}" for key, value in given.items() if value is not None)


def check_bytes(policy: str, **given: Any) -> None:
    """Raise unless each is a number of bytes."""
    for key, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"{policy}(): {key} is a number of bytes, 0 or more, not {value!r}")
