"""`torch.distributions.generalized_pareto`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .pareto import GeneralizedPareto as GeneralizedPareto
