"""Which operations do not take uint16, uint32, uint64 and complex32: torch moves and converts them, and little else."""

from __future__ import annotations

from ..base.dtypes import complex32, dtype
from ..base.errors import not_implemented_for

_UNSIGNED_REFUSED = frozenset(
    "abs add addbmm addcdiv addcmul addmm addmv addr amax amin aminmax argmax argmin baddbmm bilinear "
    "bitwise_left_shift bitwise_not bitwise_right_shift bmm clamp clamp_max clamp_min clamp_to_numbers cummax cummin "
    "div_rounded dot floor_divide fmax fmin fmod gather gcd ge gt hardtanh heaviside index_add index_add_scale "
    "index_copy index_fill index_fill_tensor index_put isin kthvalue lcm le linalg_cross linear "
    "logical_and logical_not logical_or logical_xor lt masked_fill masked_fill_tensor masked_scatter masked_select "
    "matmul max maximum median min minimum mm mode mv nanmedian neg nonzero pow put reflection_pad1d reflection_pad2d "
    "reflection_pad3d relu remainder replication_pad1d replication_pad2d replication_pad3d rsub scatter scatter_add "
    "scatter_extreme scatter_reduce scatter_value searchsorted sgn sign square sub take threshold topk "
    "trace tril triu _max_all _min_all _median_all _nanmedian_all _nonzero "
    "arange bincount eye hash_tensor linspace logspace nonzero randperm range".split()
)
# Not what gradients of the others are made of: sums, quotients, `gather`.
_PAIRS_REFUSED = frozenset(
    "_mean_dim _prod_dim acos acosh addbmm addcdiv addmm addmv addr asin asinh atan atanh baddbmm bmm cos cosh cumprod "
    "dot exp exp2 expm1 ldexp lerp linalg_cross linalg_matrix_exp log log10 log1p log2 logaddexp logcumsumexp "
    "logical_and logical_not logical_or logical_xor logsumexp matmul mean mv nan_to_num pow prod put reciprocal rsqrt "
    "scatter_prod sigmoid silu sin sinc sinh sqrt square take tan tanh trace".split()
)


def refuse_rare(op: str, d: dtype | None) -> None:
    """Raise for one of these dtypes, where the operation has no kernel for it."""
    if d is not None and ((d.alone and op in _UNSIGNED_REFUSED) or (d is complex32 and op in _PAIRS_REFUSED)):
        raise not_implemented_for(op, d)
