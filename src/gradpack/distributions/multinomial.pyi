"""`torch.distributions.multinomial`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .categorical import Multinomial as Multinomial
