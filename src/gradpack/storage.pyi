"""`torch.storage`: stand-ins for names that are not in gradpack.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from typing import Any

HAS_NUMPY: Any
Storage: Any
T: Any
TYPE_CHECKING: Any
TypedStorage: Any
UntypedStorage: Any
annotations: Any
torch: Any
