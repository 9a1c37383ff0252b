"""`torch.distributions.one_hot_categorical`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .categorical import OneHotCategorical as OneHotCategorical
from .categorical import OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough
