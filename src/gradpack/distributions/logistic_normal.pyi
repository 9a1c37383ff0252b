"""`torch.distributions.logistic_normal`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .normal import LogisticNormal as LogisticNormal
