"""A simulated accelerator `sim:0`, for tests of everything about an accelerator but its speed.

Its memory is an arena with a capacity, and running out of it is an error. The host does not see it:
what reads it as an array raises, and copies are counted. It has streams: copies into pinned memory
run as late as they may, and what two streams do to the same memory without waiting for each other
raises `StreamRaceError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...backends.base import register_backend
from ...base.errors import OutOfMemoryError as OutOfMemoryError
from ...base.sizes import in_bytes
from .array import DEVICES
from .array import ImplicitTransferError as ImplicitTransferError
from .array import SimArray as SimArray
from .array import pinned as pinned
from .streams import Device as Device
from .streams import Event as Event
from .streams import Stream as Stream
from .streams import StreamRaceError as StreamRaceError


@contextmanager
def devices(count: int = 1, capacity: int | str = "64 MiB") -> Iterator[list[Device]]:
    """Simulated devices `sim:0`, `sim:1`, ... for the block.

    Args:
        count: how many.
        capacity: bytes of memory of each, as a number or as text: "64 MiB".

    Raises:
        RuntimeError: if there are some already.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.testing import sim
        >>> with sim.devices(capacity="1 MiB") as (first,):
        ...     x = torch.ones(1000, device="sim:0", requires_grad=True)
        ...     (x * x).sum().backward()
        ...     x.grad.device, first.counts["d2h"]
        (device(type='sim', index=0), 0)
    """
    from ...extend.operators import remove
    from ...extend.places import device
    from .backend import SimBackend

    if DEVICES:
        raise RuntimeError("sim.devices(): there are simulated devices already")
    backend = SimBackend()
    size = in_bytes("sim.devices", "capacity", capacity)
    DEVICES.extend(Device(i, size) for i in range(count))
    register_backend(backend, replace=True)
    device("sim", backend)
    try:
        yield list(DEVICES)
    finally:
        remove("sim")
        DEVICES.clear()
