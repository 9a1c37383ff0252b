"""`torch.backends.mkl`: not there.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from typing import Any

def is_available(*args: Any, **kwargs: Any) -> bool: ...
