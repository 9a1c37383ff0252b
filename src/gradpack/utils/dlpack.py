"""`torch.utils.dlpack`: sharing tensors with other libraries through DLPack."""

from ..ops.create.exchange import DLDeviceType, from_dlpack, to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
