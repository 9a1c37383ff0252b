"""`torch.distributions.chi2`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .gamma import Chi2 as Chi2
