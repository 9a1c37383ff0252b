"""`torch.distributions.studentT`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from .gamma import StudentT as StudentT
