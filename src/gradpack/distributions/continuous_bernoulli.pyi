"""`torch.distributions.continuous_bernoulli`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .bernoulli import ContinuousBernoulli as ContinuousBernoulli
