"""Operations by name, imported when they are first used.

Formulas name operations of other modules, and pairs of adjoints name each other. A formula says `late.expand(...)`, so
that its module need not import the other one, which would be a circular import. Generated code refers to the
operation itself: the lookup costs nothing there.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# The names of each module. `tests/test_layers.py` finds those that are missing.
PLACES = {
    "autograd.api": "grad",
    "ops.activation": "logsigmoid relu",
    "ops.affine": "linear",
    "ops.arithmetic": "lerp mul square",
    "ops.arrange": "flip repeat_interleave roll",
    "ops.broadcasting": "broadcast_shapes broadcast_tensors broadcast_to",
    "ops.compare": "eq ge gt isfinite isnan le logical_and logical_not logical_or lt ne",
    "ops.complex_from_parts": "complex",
    "ops.complex_parts": "_real conj conj_physical imag of_parts real view_as_complex view_as_real",
    "ops.convert": "_to_copy",
    "ops.create": "scalar_tensor tensor",
    "ops.cumulate": "_cumprod cumprod cumsum",
    "ops.diagonal": "_diagonal_backward diag_embed diagonal tril triu triu_indices",
    "ops.division": "floor_divide remainder true_divide",
    "ops.dropout": "_apply_mask dropout",
    "ops.exponential": "erf exp exp2 log log1p logaddexp rsqrt sigmoid sqrt xlogy",
    "ops.extremes": "amax amin argmax argmin place_along ties",
    "ops.fill": "empty full ones zeros",
    "ops.fill_like": "ones_like zeros_like",
    "ops.gelu_backward": "gelu_backward",
    "ops.index": (
        "_add_into _alias _index _index_along _index_pair _index_put _newaxis _select _slice _slice_newaxis "
        "index_put narrow select zeros_as"
    ),
    "ops.index_dim": "index_select take",
    "ops.join": "_cat _stack cat meshgrid stack",
    "ops.limits": "_clamp_to_numbers clamp clamp_max clamp_min",
    "ops.linalg": "matmul mm",
    "ops.linalg_solve": "_inv _solve_ex",
    "ops.linalg_svd": "_svd",
    "ops.linalg_triangular": "_solve_triangular",
    "ops.log_gamma": "digamma lgamma polygamma",
    "ops.loss": "_put_by_class",
    "ops.masked": "_masked_fill masked_fill nonzero",
    "ops.norm": "linalg_vector_norm norm",
    "ops.normalize": "layer_norm",
    "ops.numbers": "is_array is_sequence",
    "ops.order": "nanmedian sort",
    "ops.overwrite": "_copied _filled",
    "ops.pairwise": "maximum minimum",
    "ops.power": "pow",
    "ops.products": "prod",
    "ops.random": "rand randn",
    "ops.random_like": "rand_like",
    "ops.ranges": "arange",
    "ops.recurrence": "recurrence shifted",
    "ops.reduce": "_sum_dim mean sum sum_to_size",
    "ops.repeated_index": "spread vector_along",
    "ops.rounding": "abs ceil floor round sgn sign where",
    "ops.scatter": "_gather_backward _scatter_add _scatter_value gather",
    "ops.scatter_reduce": "_scatter_prod scatter_reduce",
    "ops.shape": "_method_view clone expand flatten ravel reshape squeeze unsqueeze",
    "ops.similarity": "pairwise_distance",
    "ops.softmax": "_log_softmax log_softmax logsumexp softmax",
    "ops.split": "chunk split split_with_sizes unbind",
    "ops.strided": "_contiguous _unfold_backward as_strided unfold",
    "ops.transpose": "movedim permute t transpose",
    "ops.trigonometry": "tanh",
    "ops.truth": "all any",
    "ops.variance": "var_mean",
}
_MODULES = {name: module for module, names in PLACES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"late.{name} is in none of the modules that `base/late.py` lists")
    value = globals()[name] = getattr(import_module(f"gradpack.{_MODULES[name]}"), name)
    return value
