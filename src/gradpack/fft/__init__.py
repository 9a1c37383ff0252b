"""`torch.fft`: discrete Fourier transforms."""

from ..declare.signature.wrapper import open_doors as _open_doors
from ..ops.fft.fourier import fft, hfft, ifft, ihfft, irfft, rfft
from ..ops.fft.fourier_many import (
    fft2,
    fftfreq,
    fftn,
    fftshift,
    hfft2,
    hfftn,
    ifft2,
    ifftn,
    ifftshift,
    ihfft2,
    ihfftn,
    irfft2,
    irfftn,
    rfft2,
    rfftfreq,
    rfftn,
)

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

_open_doors(globals(), __all__, "fft_")
