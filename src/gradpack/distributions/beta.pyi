"""`torch.distributions.beta`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .dirichlet import Beta as Beta
