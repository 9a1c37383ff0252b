"""`torch.backends.mkldnn`: not there.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from contextlib import AbstractContextManager
from typing import Any

def is_available(*args: Any, **kwargs: Any) -> bool: ...
enabled: bool
deterministic: bool
def flags(*, enabled: bool = ..., deterministic: bool = ...) -> AbstractContextManager[None]: ...
