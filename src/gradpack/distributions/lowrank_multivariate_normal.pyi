"""`torch.distributions.lowrank_multivariate_normal`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .multivariate_normal import LowRankMultivariateNormal as LowRankMultivariateNormal
