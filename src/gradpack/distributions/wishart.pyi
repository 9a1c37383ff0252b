"""`torch.distributions.wishart`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from ._matrices import Wishart as Wishart
