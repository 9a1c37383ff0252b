"""`torch.distributions.exponential`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .gamma import Exponential as Exponential
