"""Which dtypes of `out=` an operation takes: most convert what they computed, some of them refuse to.

torch's operations that are written as loops over elements convert the result on its way out; those
that call a library, or gather and scatter, want a tensor of the result's own dtype.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ...base import dtypes
from ...base.dtypes import BOOL, FLOATING
from ...base.errors import cpp_name, not_implemented_for, scalar_type

_EXACT = (
    "addmm addmv alias_copy aminmax argmax argmin as_strided_copy baddbmm bmm diag diag_embed diagonal_copy "
    "expand_copy gather index_add index_copy isin log_softmax max min mm linear permute_copy scatter scatter_add "
    "scatter_reduce scatter_prod scatter_extreme slice_scatter softmax split_with_sizes_copy squeeze_copy t_copy "
    "take_along_dim transpose_copy tril triu unbind_copy unfold_copy unsqueeze_copy view_copy linalg_vector_norm mv "
    "sort msort topk avg_pool2d avg_pool3d clone cross public_cross index_reduce renorm vector_norm "
    # of linear algebra
    "linalg_cholesky linalg_cholesky_ex linalg_det linalg_eigvalsh linalg_inv linalg_inv_ex ldl_factor ldl_factor_ex "
    "ldl_solve linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve linalg_matrix_power linalg_qr "
    "linalg_eigh linalg_svd svd linalg_slogdet linalg_solve linalg_solve_ex linalg_svdvals lu_solve lu_unpack qr "
    "triangular_solve linalg_vector_norm"
)
# What torch says, by operation: {have} and {want} are the dtypes of `out` and of the result as torch's scalar types,
# {c_have} and {c_want} as types of C++. "index" says it of a result of int64, "exponent" of one of int32.
_MESSAGES = {
    _EXACT: "Expected out tensor to have dtype {c_want}, but got {c_have} instead",
    # Elementwise operations that do not convert their result.
    "abs bitwise_not ceil clamp_to_numbers conj_physical floor frac neg hardshrink softshrink softplus gelu round sgn "
    "sign trunc ifft_of_real ihfft": "Found dtype {have} but expected {want}",
    "where": "Expected out type to be {want} but got {have}",
    "amax amin": "Expected the dtype for input and out to match, but got {want} for input's dtype and {have} for out's "
    "dtype.",
    "dot vdot matmul": "result dtype {have} does not match input dtype {want}",
    "index_select masked_select": "{name}(): self and result must have the same scalar type",
    "cummax cummin diff logcumsumexp": "expected scalar_type {want} but found {have}",
    "isposinf isneginf signbit": "{name} does not support non-boolean outputs.",
    "all any": "{name} only supports bool tensor for result, got: {have}",
    "addbmm": "self and mat2 must have the same dtype, but got {have} and {want}",
    "tensordot": "tensordot: Expected the output tensor to have dtype {want}, but got an output tensor with dtype "
    "{have}",
    "nan_to_num": "nan_to_num: dtype of out: {have} should be same as input: {want}",
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {want} and out.dtype = {have}",
    "quantile nanquantile": "{name}() out tensor must be same dtype as the input tensor",
    "complex polar": "Expected object of scalar type {want} but got scalar type {have} for argument 'out'",
    "norm matrix_norm": "linalg.{name} expected out tensor dtype {want} but got: {have}",
    "vecdot": "linalg.vecdot: Expected out of dtype{want} but found {have}",
    "multi_dot": "multi_dot(): expected out tensor to have dtype {c_want} but got {c_have}",
    "ormqr": "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{want} and result has "
    "dtype {have}",
    "logsigmoid linalg_solve_triangular native_batch_norm": "expected scalar type {want} but found {have}",
    "hash_tensor": "Expected result to be of dtype uint64, but got {have}",
    "nonzero": "nonzero: Expected out tensor to have scalar type Long but got scalar type{have}",
    "narrow_copy": "Expected self.dtype() == output.dtype() to be true, but got false.",
    "heaviside": "heaviside is not yet implemented for tensors with different dtypes.",
    "histc histogram": "torch.histogram: input tensor and hist tensor should have the same dtype, but got input "
    "{c_want} and hist {c_have}",
    "bin_edges": "torch.histogram: input tensor and bin_edges tensor should have the same dtype, but got input "
    "{c_want} and bin_edges {c_have}",
    "mode": "expected scalar type '{want}' but got '{have}' for values output",
    "mode index": "expected scalar type '{want}' but got '{have}' for indices output",
    "kthvalue": "output values must be of same type as input",
    "kthvalue index": "output indices must be of scalar type Long",
    "frexp": "torch.frexp() expects mantissa to have dtype {c_want} but got {c_have}",
    "frexp exponent": "torch.frexp() expects exponent to have int dtype but got {c_have}",
}
_OF_SEVERAL = {dtypes.int64: " index", dtypes.int32: " exponent"}
_CONVERTS_ALL = frozenset("cumsum cumprod sum prod nansum lu".split())  # computes in the dtype of `out`
_CONVERTS_COMPLEX = frozenset("mean logsumexp".split())  # keeps the real part


def check_out(name: str, out: Any, result: Any) -> None:
    """Raise what torch raises where `out` has a dtype that the operation does not convert its result to."""
    have, want = out._spec.dtype, result._spec.dtype
    if have is want:
        return
    message = _message(name, have, want)
    if message is not None:
        raise RuntimeError(message)
    if name == "nansum" and want.category == FLOATING and have.category != FLOATING:
        raise not_implemented_for("nansum_cpu", have)
    kind = name.strip("_").removesuffix("_dim").removesuffix("_all")  # `_sum_dim` is `sum` along dimensions
    free = kind in _CONVERTS_ALL or (kind in _CONVERTS_COMPLEX and have.category >= FLOATING)
    if not free and not dtypes.can_cast(want, have):
        raise _cannot_cast(name, want, have)


def _cannot_cast(name: str, want: Any, have: Any) -> Exception:
    words = f"can't be cast to the desired output type {scalar_type(have)}"
    if name in ("cat", "stack", "_chunk_cat"):
        return TypeError(f"torch.cat(): input types {words}")
    return RuntimeError(f"result type {scalar_type(want)} {words}")


def _message(name: str, have: Any, want: Any) -> str | None:
    """Return what torch says of an `out` of another dtype; None if it converts the result."""
    if name in ("all", "any") and (have.category == BOOL or have is dtypes.uint8):
        return None
    known = _messages()
    found = known.get(name + _OF_SEVERAL.get(want, "")) or known.get(name) or known.get(name.strip("_"))
    if found is None:
        return None
    words = {"have": scalar_type(have), "want": scalar_type(want), "c_have": cpp_name(have), "c_want": cpp_name(want)}
    return found.format(name=name, **words)


@cache
def _messages() -> dict[str, str]:
    """Return the messages by operation; of one among several results by its name and a word."""
    found = {}
    for names, message in _MESSAGES.items():
        several = names if names in ("mode index", "kthvalue index", "frexp exponent") else None
        found.update(dict.fromkeys([several] if several else names.split(), message))
    return found


# Operations whose `out` torch resizes without a warning.
SILENT = frozenset("addbmm narrow_copy logsigmoid lu".split())

# Without derivative: torch does not check requires_grad here; for other operations `out` must not require grad.
_FOLLOWED_BY_NONE = frozenset(
    "eq ge gt le lt ne equal logical_and logical_or logical_xor logical_not histc _polynomial".split()
)


def is_tracked_by_none(name: str) -> bool:
    """Return whether `out=` of an operation without a derivative may require grad."""
    return name in _FOLLOWED_BY_NONE or "bessel" in name or name == "special_airy_ai"
