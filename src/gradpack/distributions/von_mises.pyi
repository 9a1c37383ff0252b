"""`torch.distributions.von_mises`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from ._location_scale import VonMises as VonMises
