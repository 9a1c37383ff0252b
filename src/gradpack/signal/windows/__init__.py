"""`torch.signal.windows`: weights of a stretch of signal that fall off towards its ends."""

from ...declare.signature.wrapper import wrap_module as _wrap_module
from ...ops.fft.windows import bartlett as bartlett
from ...ops.fft.windows import blackman as blackman
from ...ops.fft.windows import cosine as cosine
from ...ops.fft.windows import exponential as exponential
from ...ops.fft.windows import gaussian as gaussian
from ...ops.fft.windows import general_cosine as general_cosine
from ...ops.fft.windows import general_hamming as general_hamming
from ...ops.fft.windows import hamming as hamming
from ...ops.fft.windows import hann as hann
from ...ops.fft.windows import kaiser as kaiser
from ...ops.fft.windows import nuttall as nuttall

# A type checker takes all that is imported for public, as long as it sees no list.
globals()["__all__"] = _exported = sorted(n for n in globals() if n[0] != "_")
_wrap_module(globals(), _exported, options="")
