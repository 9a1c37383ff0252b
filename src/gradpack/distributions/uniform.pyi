"""`torch.distributions.uniform`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from ._location_scale import Uniform as Uniform
