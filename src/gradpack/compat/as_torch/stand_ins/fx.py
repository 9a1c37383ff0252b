"""`torch.fx`: programs are not traced."""

from .jit import _identity
from .refuse import refusals

wrap = _identity
globals().update(refusals("fx", "GraphModule Graph Node Proxy Tracer symbolic_trace"))

__all__ = ["wrap"]
