"""`torch.backends.cpu`: not there.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from typing import Any

def get_cpu_capability(*args: Any, **kwargs: Any) -> str: ...
