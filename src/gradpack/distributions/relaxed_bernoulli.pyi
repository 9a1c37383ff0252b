"""`torch.distributions.relaxed_bernoulli`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .bernoulli import LogitRelaxedBernoulli as LogitRelaxedBernoulli
from .bernoulli import RelaxedBernoulli as RelaxedBernoulli
