"""`torch.distributions.log_normal`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .normal import LogNormal as LogNormal
