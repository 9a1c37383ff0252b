"""`torch.distributions.gumbel`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from ._location_scale import Gumbel as Gumbel
