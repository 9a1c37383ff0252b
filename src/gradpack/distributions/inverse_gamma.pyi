"""`torch.distributions.inverse_gamma`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .gamma import InverseGamma as InverseGamma
