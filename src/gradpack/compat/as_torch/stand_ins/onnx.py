"""`torch.onnx`: export is not supported."""

from .refuse import refused

export = refused("onnx.export")


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: no."""
    return False


__all__ = ["export", "is_in_onnx_export"]
