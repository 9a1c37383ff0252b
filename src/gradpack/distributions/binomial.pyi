"""`torch.distributions.binomial`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from ._counts import Binomial as Binomial
