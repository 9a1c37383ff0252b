"""`torch.fft`: discrete Fourier transforms."""

from ..declare.signature.wrapper import wrap_module as _wrap_module
from ..ops.fft.fourier import fft as fft
from ..ops.fft.fourier import hfft as hfft
from ..ops.fft.fourier import ifft as ifft
from ..ops.fft.fourier import ihfft as ihfft
from ..ops.fft.fourier import irfft as irfft
from ..ops.fft.fourier import rfft as rfft
from ..ops.fft.fourier_many import fft2 as fft2
from ..ops.fft.fourier_many import fftfreq as fftfreq
from ..ops.fft.fourier_many import fftn as fftn
from ..ops.fft.fourier_many import fftshift as fftshift
from ..ops.fft.fourier_many import hfft2 as hfft2
from ..ops.fft.fourier_many import hfftn as hfftn
from ..ops.fft.fourier_many import ifft2 as ifft2
from ..ops.fft.fourier_many import ifftn as ifftn
from ..ops.fft.fourier_many import ifftshift as ifftshift
from ..ops.fft.fourier_many import ihfft2 as ihfft2
from ..ops.fft.fourier_many import ihfftn as ihfftn
from ..ops.fft.fourier_many import irfft2 as irfft2
from ..ops.fft.fourier_many import irfftn as irfftn
from ..ops.fft.fourier_many import rfft2 as rfft2
from ..ops.fft.fourier_many import rfftfreq as rfftfreq
from ..ops.fft.fourier_many import rfftn as rfftn

# A type checker takes all that is imported for public, as long as it sees no list.
globals()["__all__"] = _exported = sorted(n for n in globals() if n[0] != "_")
_wrap_module(globals(), _exported, "fft_")
