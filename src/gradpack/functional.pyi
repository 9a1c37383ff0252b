"""`torch.functional`: stand-ins for names that are not in gradpack.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from typing import Any

F: Any
TYPE_CHECKING: Any
Tensor: Any
atleast_1d: Any
atleast_2d: Any
atleast_3d: Any
block_diag: Any
boolean_dispatch: Any
broadcast_shapes: Any
broadcast_tensors: Any
cartesian_prod: Any
cdist: Any
chain_matmul: Any
einsum: Any
handle_torch_function: Any
has_torch_function: Any
has_torch_function_unary: Any
has_torch_function_variadic: Any
istft: Any
lu: Any
meshgrid: Any
norm: Any
overload: Any
pca_lowrank: Any
split: Any
stft: Any
svd_lowrank: Any
tensordot: Any
torch: Any
unique: Any
unique_consecutive: Any
unravel_index: Any
