"""`cpu`: a policy that offloads saved tensors of other devices to host memory."""

from __future__ import annotations

from typing import Any

from ...base.sizes import in_bytes
from ..info import SavedInfo
from .codec import CopyLimits, Parts, Stage, arguments, check_bytes
from .pinned_pool import half_of_memory
from .storage_policy import Stored

LEAST = 1024
WINDOW = "256 MiB"


class OnHost(Stage):
    """A stage that does nothing: a policy copies arrays of a device to host memory before its stages see them."""

    tier = "cpu"
    looks = False

    def __init__(self, min_bytes: int, limits: CopyLimits, name: str) -> None:
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
    """Offload saved tensors of other devices to host memory until backward needs them. Exact.

    Where the device has streams, copies are asynchronous. A tensor is freed on the device when its copy is done, and
    prefetched before it is needed, in the order in which the last backward of a similar graph unpacked its saved
    tensors, at first in the reverse order of saving. A wrong order costs time only. A tensor whose copy is not done
    is used as it is, and an in-place write to it waits for the copy. A storage that is saved several times, or in
    several views, is copied once. CPU tensors are kept as they are, under the usual version check.
    `policy.transfers` counts the copies.

    Args:
        min_bytes: smaller tensors stay where they are.
        window: bytes that may wait on the device for their copy: a number, or text such as "256 MiB". Saving more
            waits for the oldest copy. With 0 every copy is synchronous.
        ahead: bytes on the device for tensors that are prefetched, or held between two uses. With 0 nothing is
            prefetched.
        pinned: bytes of host memory that all policies together may pin, by default half of the machine's memory. It
            is reused in every step. Beyond it copies use pageable memory, and are synchronous.

    Raises:
        ValueError: for a negative number of bytes, or text that is no size.
        Exception: in backward, where the tensor is unpacked: the error of its copy.

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
    limits = CopyLimits(*[half_of_memory() if v is None else in_bytes("cpu", k, v) for k, v in given.items()])
    usual = {"window": WINDOW, "ahead": WINDOW, "pinned": None, "min_bytes": LEAST}
    told = {k: v for k, v in {"min_bytes": min_bytes, **given}.items() if v != usual[k]}
    return Stored((OnHost(min_bytes, limits, f"cpu({arguments(**told)})"), None))
