"""`torch.signal.windows`: weights of a stretch of signal that fall off towards its ends."""

from ...declare.signature.wrapper import open_doors as _open_doors
from ...ops.fft.windows import (
    bartlett,
    blackman,
    cosine,
    exponential,
    gaussian,
    general_cosine,
    general_hamming,
    hamming,
    hann,
    kaiser,
    nuttall,
)

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]

_open_doors(globals(), __all__, options="")
