"""`torch.nn.attention`: there is one way to compute attention, whichever is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any


class SDPBackend(IntEnum):
    """Backends of scaled dot product attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Accept any selection of backends: there is one implementation, which is always used."""
    yield


__all__ = ["SDPBackend", "sdpa_kernel"]
