"""Names of `torch.cuda` that programs mention before they ask whether there is such a device."""

from __future__ import annotations

from typing import Any

from .refuse import refused

_initialized = False
Stream, Event, CUDAGraph = refused("cuda.Stream"), refused("cuda.Event"), refused("cuda.CUDAGraph")
graph, stream = refused("cuda.graph"), refused("cuda.stream")


class device:  # noqa: N801 - torch's name
    """`with torch.cuda.device(i)`: nothing changes."""

    def __init__(self, device: Any) -> None:
        self.idx = device

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None


__all__ = ["CUDAGraph", "Event", "Stream", "device"]
