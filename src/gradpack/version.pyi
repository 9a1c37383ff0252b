"""`torch.version`: which version this is, and what it was built with.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from typing import Any

__version__: str
debug: bool
cuda: Any
hip: Any
xpu: Any
git_version: Any
