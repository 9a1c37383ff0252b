"""`torch.nested`: stand-ins for names that are not in gradpack.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from typing import Any

DType: Any
Device: Any
F: Any
SymInt: Any
Tensor: Any
as_nested_tensor: Any
masked_select: Any
narrow: Any
nested_tensor: Any
nested_tensor_from_jagged: Any
to_padded_tensor: Any
torch: Any
