"""Which operations are cheap for the bytes of their results, so that `recompute` may run them again."""

from __future__ import annotations

from typing import Any

from ..declare.op import Op

_KINDS = ("elementwise", "linear")  # cheap kinds: one pass over memory; exceptions are in `_DEAR`

# Cheap operations of other kinds: normalisations, softmax, comparisons, masks.
_ALSO = frozenset(
    "_softmax softmax _log_softmax log_softmax _layer_norm _group_norm _batch_norm masked_fill index_fill "
    "constant_pad_nd eq ne lt le gt ge isfinite isinf isnan isneginf isposinf logical_and logical_not logical_or "
    "logical_xor bitwise_and bitwise_not bitwise_or bitwise_xor signbit rrelu shifted zeros_as _exp".split()
)

# Operations of the cheap kinds that are expensive: tens of nanoseconds for each element.
_DEAR = frozenset(
    "_standard_gamma digamma erfinv igamma igammac _igamma_in_shape lgamma mvlgamma polygamma special_zeta "
    "special_erfcx special_i0e special_i1 special_i1e i0 special_log_ndtr special_ndtri _fft_c2c _fft_c2r _fft_r2c "
    "masked_select".split()
)


def is_cheap(op: Op) -> bool:
    """Return whether running an operation again takes about as long as reading its result from memory."""
    return op.name in _ALSO or (op.kind in _KINDS and op.name not in _DEAR)


def is_product(op: Op) -> bool:
    """Return whether an operation is a matrix product, as in a linear layer."""
    return op.name in _PRODUCTS


_PRODUCTS = frozenset({"linear", "mm", "matmul"})


def reads_little(made: int, tensors: Any) -> bool:
    """Return whether the operands have at most 8 times the `made` bytes of the result; reductions read much more."""
    return sum(t._data.nbytes for t in tensors if not is_held(t)) <= 8 * made


def is_held(tensor: Any) -> bool:
    """Return whether the program holds a tensor anyway: a parameter or a leaf that requires grad, or a view of one."""
    while tensor._view is not None:
        tensor = tensor._view.parent
    return bool(tensor._is_param) or (tensor._edge is not None and tensor.is_leaf)
