"""`torch.export`: stand-ins for names that are not in gradpack.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from typing import Any

def __getattr__(name: str) -> Any: ...
