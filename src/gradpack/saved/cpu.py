"""Saved tensors of another device, in host memory."""

from __future__ import annotations

from typing import Any

from ..base.sizes import in_bytes
from .info import SavedInfo
from .pinned import half_of_memory
from .stage import Limits, Parts, Stage, arguments, check_bytes
from .store import Stored

LEAST = 1024
WINDOW = "256 MiB"


class OnHost(Stage):
    """Arrays of a device come to the stages of a policy as copies in host memory: there is nothing left to do."""

    tier = "cpu"
    looks = False

    def __init__(self, min_bytes: int, limits: Limits, name: str) -> None:
        check_bytes("cpu", min_bytes=min_bytes)
        self.min_bytes, self.limits, self.name = min_bytes, limits, name

    def takes(self, info: SavedInfo) -> bool:
        return Stage.takes(self, info) and info.device.type != "cpu"

    def encode(self, parts: Parts, drawn: Any) -> tuple[Parts, Any]:
        return parts, None

    def decode(self, parts: Parts, extra: Any) -> Parts:
        return parts


def cpu(
    min_bytes: int = LEAST, *, window: int | str = WINDOW, ahead: int | str = WINDOW, pinned: int | str | None = None
) -> Stored:
    """Keep saved tensors of other devices in host memory until backward needs them there. Exact.

    Where the device has streams, copies go on beside the program. A tensor leaves the device when its copy is done,
    and comes back before it is needed, in the order in which the last backward of a graph like this one asked for
    what it had saved, at first in the reverse order of saving. What backward asks for sooner than that costs time,
    and nothing else; what has not left yet is used as it is, and who writes to it in place waits for the copy.
    A storage that is saved several times, or in several views, is copied once. What is on the CPU already stays as it
    is, uncopied; the check for in-place writes watches over it. `policy.transfers` counts what was copied.

    Args:
        min_bytes: smaller tensors stay where they are.
        window: bytes that may wait on the device until they are copied: a number, or text such as "256 MiB". Who
            saves more waits. With 0 each copy is waited for.
        ahead: bytes of the device that what comes back may take before it is used, or between two uses. With 0
            nothing is fetched ahead.
        pinned: bytes of host memory that all policies together may pin, by default half of what the machine has. It
            is used again in every step. Beyond it copies use ordinary memory, and are waited for.

    Raises:
        ValueError: for a negative number of bytes, or text that is none.
        Exception: in backward, at the tensor that needs it: what went wrong in its copy.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> from gradpack.testing import sim
        >>> with sim.devices(capacity="1 MiB"):
        ...     x = torch.ones(1000, device="sim:0", requires_grad=True)
        ...     with saved.cpu(window=0) as policy:
        ...         y = x.exp().sin().sum()
        ...     y.backward()
        ...     print(policy.transfers.bytes_out, policy.transfers.bytes_back)
        4000 4000
    """
    given: dict[str, Any] = {"window": window, "ahead": ahead, "pinned": pinned}
    limits = Limits(*[half_of_memory() if v is None else in_bytes("cpu", k, v) for k, v in given.items()])
    usual = {"window": WINDOW, "ahead": WINDOW, "pinned": None, "min_bytes": LEAST}
    told = {k: v for k, v in {"min_bytes": min_bytes, **given}.items() if v != usual[k]}
    return Stored((OnHost(min_bytes, limits, f"cpu({arguments(**told)})"), None))
