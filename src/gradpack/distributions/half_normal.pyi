"""`torch.distributions.half_normal`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .normal import HalfNormal as HalfNormal
