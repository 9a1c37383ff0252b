"""Saved tensors of another device, in host memory."""

from __future__ import annotations

from typing import Any

from .info import SavedInfo
from .stage import Parts, Stage, arguments, check_bytes
from .store import Stored

LEAST = 1024


class OnHost(Stage):
    """Arrays of a device come to the stages of a policy as copies in host memory: there is nothing left to do."""

    tier = "cpu"

    def __init__(self, min_bytes: int) -> None:
        check_bytes("cpu", min_bytes=min_bytes)
        self.min_bytes = min_bytes
        self.name = f"cpu({arguments(min_bytes=None if min_bytes == LEAST else min_bytes)})"

    def takes(self, info: SavedInfo) -> bool:
        return Stage.takes(self, info) and info.device.type != "cpu"

    def encode(self, parts: Parts, drawn: Any) -> tuple[Parts, Any]:
        return parts, None

    def decode(self, parts: Parts, extra: Any) -> Parts:
        return parts


def cpu(min_bytes: int = LEAST) -> Stored:
    """Keep saved tensors of other devices in host memory until backward needs them there. Exact.

    A tensor that is saved several times is copied once. What is on the CPU already stays as it is, uncopied; the
    check for in-place writes watches over it.

    Args:
        min_bytes: smaller tensors stay where they are.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with saved.cpu() >> saved.bf16():  # offload what is on a device, halve the rest
        ...     y = x.exp().sum()
        >>> y.backward()
    """
    return Stored((OnHost(min_bytes), None))
