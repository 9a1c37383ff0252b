"""`torch.distributions.weibull`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .pareto import Weibull as Weibull
