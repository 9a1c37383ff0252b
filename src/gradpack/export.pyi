"""`torch.export`: stand-ins for names that are not in gradpack.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from typing import Any

AdditionalInputs: Any
Constraint: Any
CustomDecompTable: Any
DEFAULT_PICKLE_PROTOCOL: Any
Dim: Any
ExportBackwardSignature: Any
ExportGraphSignature: Any
ExportedProgram: Any
FileLike: Any
FlatArgsAdapter: Any
ModuleCallEntry: Any
ModuleCallSignature: Any
PassResult: Any
PassType: Any
ShapesCollection: Any
UnflattenedModule: Any
default_decompositions: Any
dims: Any
draft_export: Any
export: Any
load: Any
log: Any
pytree: Any
register_dataclass: Any
save: Any
torch: Any
unflatten: Any
