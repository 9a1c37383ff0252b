"""`torch.nn.attention`: which implementation of attention is asked for. There is one here, whichever that is."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from ...base.exits import block


class SDPBackend(IntEnum):
    """Backends of scaled dot product attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@block
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Return a context manager, or decorator, that asks for backends: without effect, as there is one.

    Raises:
        AssertionError: for anything but an SDPBackend or a list of them.
    """
    listed = backends if isinstance(backends, list) else [backends]
    if not all(isinstance(b, SDPBackend) for b in listed):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    yield


__all__ = ["SDPBackend", "sdpa_kernel"]
