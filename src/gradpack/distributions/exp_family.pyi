"""`torch.distributions.exp_family`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .distribution import ExponentialFamily as ExponentialFamily
