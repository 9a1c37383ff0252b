"""`torch.nn.parallel`: one device, so a model in parallel is the model, one level down."""

from __future__ import annotations

from typing import Any

from ....nn import Module
from .refuse import refused


class DataParallel(Module):
    """Calls the module: there is one device. The module is at `module`, as in torch."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


DistributedDataParallel = refused("nn.parallel.DistributedDataParallel")

__all__ = ["DataParallel", "DistributedDataParallel"]
