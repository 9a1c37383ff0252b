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
    "ops.pointwise.activation": "logsigmoid relu",
    "ops.nn.affine": "linear",
    "ops.pointwise.arithmetic": "lerp mul square",
    "ops.shape.arrange": "flip repeat_interleave roll",
    "ops.shape.broadcasting": "broadcast_shapes broadcast_tensors broadcast_to",
    "ops.pointwise.compare": "eq ge gt isfinite isnan le logical_and logical_not logical_or lt ne",
    "ops.pointwise.complex_parts": "_real complex conj conj_physical imag of_parts real view_as_complex view_as_real",
    "ops.create.convert": "_to_copy",
    "ops.create.create": "scalar_tensor tensor",
    "ops.reduce.cumulate": "_cumprod cumprod cumsum",
    "ops.shape.diagonal": "_diagonal_backward diag_embed diagonal tril triu triu_indices",
    "ops.pointwise.division": "floor_divide remainder true_divide",
    "ops.nn.dropout": "_apply_mask dropout",
    "ops.pointwise.exponential": "erf exp exp2 log log1p logaddexp rsqrt sigmoid sqrt xlogy",
    "ops.reduce.extremes": "amax amin argmax argmin place_along ties",
    "ops.create.fill": "empty full ones zeros",
    "ops.create.fill_like": "ones_like zeros_like",
    "ops.pointwise.gelu_backward": "gelu_backward",
    "ops.index.index": (
        "_add_into _alias _index _index_along _index_pair _index_put _newaxis _select _slice _slice_newaxis "
        "index_put narrow select zeros_as"
    ),
    "ops.index.index_dim": "index_select take",
    "ops.shape.join": "_cat _stack cat meshgrid stack",
    "ops.pointwise.limits": "_clamp_to_numbers clamp clamp_max clamp_min maximum minimum",
    "ops.linalg.products": "matmul mm",
    "ops.linalg.solve": "_inv _solve_ex",
    "ops.linalg.svd": "_svd",
    "ops.linalg.triangular": "_solve_triangular",
    "ops.special.log_gamma": "digamma lgamma polygamma",
    "ops.nn.loss": "_put_by_class",
    "ops.index.masked": "_masked_fill masked_fill nonzero",
    "ops.reduce.norm": "linalg_vector_norm norm",
    "ops.nn.normalize": "layer_norm",
    "ops.create.numbers": "is_array is_sequence",
    "ops.reduce.order": "nanmedian sort",
    "ops.index.overwrite": "_copied _filled",
    "ops.pointwise.power": "pow",
    "ops.reduce.products": "prod",
    "ops.random.floats": "rand rand_like randn",
    "ops.create.ranges": "arange",
    "ops.reduce.recurrence": "recurrence shifted",
    "ops.reduce.reduce": "_sum_dim mean sum sum_to_size",
    "ops.pointwise.rounding": "abs ceil floor round sgn sign where",
    "ops.index.scatter": "_gather_backward _scatter_add _scatter_value gather",
    "ops.index.scatter_reduce": "_scatter_prod scatter_reduce",
    "ops.shape.shape": "_method_view clone expand flatten ravel reshape squeeze unsqueeze",
    "ops.reduce.similarity": "pairwise_distance",
    "ops.reduce.softmax": "_log_softmax log_softmax logsumexp softmax",
    "ops.shape.split": "chunk split split_with_sizes unbind",
    "ops.shape.strided": "_contiguous _unfold_backward as_strided unfold",
    "ops.shape.transpose": "movedim permute t transpose",
    "ops.pointwise.trigonometry": "tanh",
    "ops.reduce.truth": "all any",
    "ops.reduce.variance": "var_mean",
}
_MODULES = {name: module for module, names in PLACES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"late.{name} is in none of the modules that `base/late.py` lists")
    value = globals()[name] = getattr(import_module(f"gradpack.{_MODULES[name]}"), name)
    return value
