"""`torch.distributions.lkj_cholesky`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from ._matrices import LKJCholesky as LKJCholesky
