"""`torch.distributions.laplace`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from ._location_scale import Laplace as Laplace
