"""`torch.distributions.cauchy`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from ._location_scale import Cauchy as Cauchy
