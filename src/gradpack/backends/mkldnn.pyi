"""`torch.backends.mkldnn`: not there.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from contextlib import AbstractContextManager

def is_available() -> bool: ...
enabled: bool
deterministic: bool
def flags(*, enabled: bool = ..., deterministic: bool = ...) -> AbstractContextManager[None]: ...
