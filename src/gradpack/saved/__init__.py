"""Ways of keeping saved tensors, as pairs of functions for `saved_tensors_hooks`, and a meter."""

from .codecs import bfloat16
from .meter import Meter, meter
from .spill import Disk

__all__ = ["Disk", "Meter", "bfloat16", "meter"]
