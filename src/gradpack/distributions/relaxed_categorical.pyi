"""`torch.distributions.relaxed_categorical`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .categorical import ExpRelaxedCategorical as ExpRelaxedCategorical
from .categorical import RelaxedOneHotCategorical as RelaxedOneHotCategorical
