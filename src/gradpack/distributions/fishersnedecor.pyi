"""`torch.distributions.fishersnedecor`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .gamma import FisherSnedecor as FisherSnedecor
