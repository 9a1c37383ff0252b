"""`torch.distributions.kumaraswamy`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .dirichlet import Kumaraswamy as Kumaraswamy
