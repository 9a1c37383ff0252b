"""`torch.distributions.independent`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .transformed_distribution import Independent as Independent
