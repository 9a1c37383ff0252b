"""`torch.distributions.geometric`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from ._counts import Geometric as Geometric
