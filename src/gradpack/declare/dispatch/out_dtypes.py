"""Which dtypes of `out=` an operation takes: most convert what they computed, some of them refuse to.

torch's operations that are written as loops over elements convert the result on its way out; those
that call a library, or gather and scatter, want a tensor of the result's own dtype.
"""

from __future__ import annotations

from typing import Any

from ...base import dtypes
from ...base.dtypes import BOOL, FLOATING
from ...base.errors import cpp_name, not_implemented_for, scalar_type

_EXACT = frozenset(
    "addmm addmv alias_copy aminmax argmax argmin as_strided_copy baddbmm bmm diag diag_embed diagonal_copy "
    "expand_copy gather index_add index_copy isin log_softmax max min mm linear permute_copy scatter scatter_add "
    "scatter_reduce scatter_prod scatter_extreme slice_scatter softmax split_with_sizes_copy squeeze_copy t_copy "
    "take_along_dim transpose_copy tril triu unbind_copy unfold_copy unsqueeze_copy view_copy linalg_vector_norm mv "
    "sort msort topk avg_pool2d avg_pool3d clone cross public_cross index_reduce renorm vector_norm "
    # of linear algebra
    "linalg_cholesky linalg_cholesky_ex linalg_det linalg_eigvalsh linalg_inv linalg_inv_ex ldl_factor ldl_factor_ex "
    "ldl_solve linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve linalg_matrix_power linalg_qr "
    "linalg_eigh linalg_svd svd linalg_slogdet linalg_solve linalg_solve_ex linalg_svdvals lu_solve lu_unpack qr "
    "triangular_solve linalg_vector_norm".split()
)
# Elementwise operations that do not convert their result.
_FOUND = frozenset(
    "abs bitwise_not ceil clamp_to_numbers conj_physical floor frac neg hardshrink softshrink softplus gelu round sgn "
    "sign trunc ifft_of_real ihfft".split()
)
_SAME_SCALAR_TYPE = frozenset("index_select masked_select".split())
_EXPECTED = frozenset("cummax cummin diff logcumsumexp".split())
_ONLY_BOOL = frozenset("isposinf isneginf signbit".split())
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
    if name in _EXACT:
        return f"Expected out tensor to have dtype {cpp_name(want)}, but got {cpp_name(have)} instead"
    if name.strip("_") in _FOUND:
        return f"Found dtype {scalar_type(have)} but expected {scalar_type(want)}"
    if name == "where":
        return f"Expected out type to be {scalar_type(want)} but got {scalar_type(have)}"
    if name in ("amax", "amin"):
        return (
            f"Expected the dtype for input and out to match, but got {scalar_type(want)} for input's dtype and "
            f"{scalar_type(have)} for out's dtype."
        )
    if name in ("dot", "vdot", "matmul"):
        return f"result dtype {scalar_type(have)} does not match input dtype {scalar_type(want)}"
    if name in _SAME_SCALAR_TYPE:
        return f"{name}(): self and result must have the same scalar type"
    if name in _EXPECTED:
        return f"expected scalar_type {scalar_type(want)} but found {scalar_type(have)}"
    if name in _ONLY_BOOL:
        return f"{name} does not support non-boolean outputs."
    if name in ("all", "any") and have.category != BOOL and have is not dtypes.uint8:
        return f"{name} only supports bool tensor for result, got: {scalar_type(have)}"
    if name == "addbmm":
        return f"self and mat2 must have the same dtype, but got {scalar_type(have)} and {scalar_type(want)}"
    if name == "tensordot":
        return (
            f"tensordot: Expected the output tensor to have dtype {scalar_type(want)}, but got an output tensor with "
            f"dtype {scalar_type(have)}"
        )
    if name == "nan_to_num":
        return f"nan_to_num: dtype of out: {scalar_type(have)} should be same as input: {scalar_type(want)}"
    if name == "take":
        return (
            "take(): self and out expected to have the same dtype, but got "
            f"self.dtype = {scalar_type(want)} and out.dtype = {scalar_type(have)}"
        )
    if name in ("quantile", "nanquantile"):
        return f"{name}() out tensor must be same dtype as the input tensor"
    if name in ("complex", "polar"):
        return (
            f"Expected object of scalar type {scalar_type(want)} but got scalar type {scalar_type(have)} for argument "
            "'out'"
        )
    if name in ("norm", "matrix_norm"):
        return f"linalg.{name} expected out tensor dtype {scalar_type(want)} but got: {scalar_type(have)}"
    if name == "vecdot":
        return f"linalg.vecdot: Expected out of dtype{scalar_type(want)} but found {scalar_type(have)}"
    if name == "multi_dot":
        return f"multi_dot(): expected out tensor to have dtype {cpp_name(want)} but got {cpp_name(have)}"
    if name == "ormqr":
        return (
            "torch.ormqr: Expected input and result to have the same dtype, but input has dtype"
            f"{scalar_type(want)} and result has dtype {scalar_type(have)}"
        )
    if name in ("logsigmoid", "linalg_solve_triangular", "native_batch_norm"):
        return f"expected scalar type {scalar_type(want)} but found {scalar_type(have)}"
    if name == "hash_tensor":
        return f"Expected result to be of dtype uint64, but got {scalar_type(have)}"
    if name == "nonzero":
        return f"nonzero: Expected out tensor to have scalar type Long but got scalar type{scalar_type(have)}"
    if name == "narrow_copy":
        return "Expected self.dtype() == output.dtype() to be true, but got false."
    if name == "heaviside":
        return "heaviside is not yet implemented for tensors with different dtypes."
    if name in ("histc", "histogram", "bin_edges"):
        part = "bin_edges" if name == "bin_edges" else "hist"
        return (
            f"torch.histogram: input tensor and {part} tensor should have the same dtype, but got input "
            f"{cpp_name(want)} and {part} {cpp_name(have)}"
        )
    if name == "mode":
        part = "indices" if want is dtypes.int64 else "values"
        return f"expected scalar type '{scalar_type(want)}' but got '{scalar_type(have)}' for {part} output"
    if name == "kthvalue":
        part = "indices must be of scalar type Long" if want is dtypes.int64 else "values must be of same type as input"
        return f"output {part}"
    if name == "frexp":
        part = "exponent to have int dtype" if want is dtypes.int32 else f"mantissa to have dtype {cpp_name(want)}"
        return f"torch.frexp() expects {part} but got {cpp_name(have)}"
    return None


# Operations whose `out` torch resizes without a warning.
SILENT = frozenset("addbmm narrow_copy logsigmoid lu".split())

# Without derivative: torch does not check requires_grad here; for other operations `out` must not require grad.
_FOLLOWED_BY_NONE = frozenset(
    "eq ge gt le lt ne equal logical_and logical_or logical_xor logical_not histc _polynomial".split()
)


def is_followed_by_none(name: str) -> bool:
    """Return whether `out=` of an operation without a derivative may require grad."""
    return name in _FOLLOWED_BY_NONE or "bessel" in name or name == "special_airy_ai"
