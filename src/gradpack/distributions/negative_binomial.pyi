"""`torch.distributions.negative_binomial`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from ._counts import NegativeBinomial as NegativeBinomial
