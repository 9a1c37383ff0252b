"""`torch.distributions.poisson`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from ._counts import Poisson as Poisson
