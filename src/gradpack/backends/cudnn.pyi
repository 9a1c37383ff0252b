"""`torch.backends.cudnn`: not there.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from contextlib import AbstractContextManager
from typing import Any

def is_available() -> bool: ...
def version() -> Any: ...
def is_acceptable(tensor: Any) -> bool: ...
enabled: bool
deterministic: bool
benchmark: bool
benchmark_limit: Any
allow_tf32: bool
def flags(*, enabled: bool = ..., deterministic: bool = ..., benchmark: bool = ..., benchmark_limit: Any = ..., allow_tf32: bool = ...) -> AbstractContextManager[None]: ...
