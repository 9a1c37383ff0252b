"""How autocast casts the arguments of operations and functions, as torch does it on the CPU.

Matrix products run in low precision; losses, decompositions and long products in float32; what joins tensors, in
the widest dtype among them. Everything else runs in the dtypes that it is given. Declarations of operations say which,
and `POLICIES` for functions of several operations, whose own checks are to see what was cast.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ...base import dtypes
from ...base.autocast import Autocast
from ...base.dtypes import FLOATING, dtype
from ...base.modes import MODE, using
from ...core.tensor import Tensor
from ...graph.node import AccumulateGrad
from ..op import REGISTRY, Op

F = TypeVar("F", bound=Callable[..., Any])

# By the names that messages call them.
POLICIES: dict[str, str] = dict.fromkeys(
    """conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d linalg_vecdot
    scaled_dot_product_attention""".split(),
    "lower",
) | dict.fromkeys(
    """adaptive_avg_pool3d adaptive_max_pool3d adaptive_max_pool3d_with_indices avg_pool3d cdist cholesky
    cholesky_inverse cholesky_solve fft_fft fft_fft2 fft_fftn fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2
    fft_ifftn fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn
    fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
    fractional_max_pool3d_with_indices grid_sample grid_sampler grid_sampler_2d grid_sampler_3d inverse
    linalg_cholesky linalg_cholesky_ex linalg_cond linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh
    linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq linalg_matrix_rank linalg_qr linalg_solve
    linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve local_response_norm lu lu_solve max_pool3d
    max_pool3d_with_indices max_unpool2d max_unpool3d nanquantile orgqr ormqr pinverse polar qr quantile stft svd
    triangular_solve""".split(),
    "float32",
)


def _eligible(value: Any) -> bool:
    return (
        isinstance(value, Tensor) and value._spec.dtype.category == FLOATING and value._spec.dtype is not dtypes.float64
    )


def cast_arguments(state: Autocast, op: Op, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Cast the arguments of an operation as autocast asks."""
    if op.autocast == "lower":
        target = _low(state, values)
    elif op.autocast == "float32":
        target = dtypes.float32 if _low(state, values) is not None else None
    elif op.autocast == "widest":
        target = _widest(state, values)
    else:
        return values
    return values if target is None else tuple(_cast_all(state, v, target) for v in values)


def _tensors(values: Any) -> list[Tensor]:
    found: list[Tensor] = []
    for v in values:
        found.extend(_tensors(v) if isinstance(v, list | tuple) else [v] if isinstance(v, Tensor) else [])
    return found


def _low(state: Autocast, values: Any) -> dtype | None:
    """The low dtype for the device of the arguments, if autocast is on for it."""
    for t in _tensors(values):
        kind = t._spec.device.type
        if kind in state.enabled:
            return state.dtype_of(kind)
    return None


def _widest(state: Autocast, values: Any) -> dtype | None:
    low = _low(state, values)
    if low is None:
        return None
    target = low
    for t in _tensors(values):
        if _eligible(t) and target is not dtypes.float32 and t._spec.dtype is not low:
            if t._spec.dtype is not dtypes.float32:
                raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
            target = dtypes.float32
    return target


def _cast_all(state: Autocast, value: Any, target: dtype) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_cast_all(state, v, target) for v in value) if type(value) in (list, tuple) else value
    if not _eligible(value) or value._spec.dtype is target:
        return value
    if not (state.caching and type(value._edge) is AccumulateGrad and value._view is None and target.low):
        return REGISTRY["_to_copy"].public(value, target)
    key = (id(value), MODE.get().grad, target)
    found = state.cache.get(key)
    if found is not None and found[0] is value and found[2] == value._counter[0]:
        return found[1]
    made = REGISTRY["_to_copy"].public(value, target)
    state.cache[key] = (value, made, value._counter[0])
    return made


def in_float32(function: F) -> F:
    """Decorate a function of several operations that autocast runs as a whole in float32."""
    return cast_by("float32", function)


def cast_by(policy: str, function: F) -> F:
    """Return a function of several operations that autocast runs as a whole in float32; "lower": in low precision."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        state = MODE.get().autocast
        if state is None or not state.enabled:
            return function(*args, **kwargs)
        low = _low(state, (*args, *kwargs.values()))
        if low is None:
            return function(*args, **kwargs)
        target = low if policy == "lower" else dtypes.float32
        args = tuple(_cast_all(state, v, target) for v in args)
        kwargs = {k: _cast_all(state, v, target) for k, v in kwargs.items()}
        with using(autocast=None):
            return function(*args, **kwargs)

    made: Any = wrapper
    made.casts, made.usual = True, function  # the public form calls the latter where no mode is active
    made.inside = getattr(function, "inside", function)
    return made


def as_given(function: F) -> F:
    """Decorate a function made of matrix products that autocast leaves alone."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if MODE.get().autocast is None:
            return function(*args, **kwargs)
        with using(autocast=None):
            return function(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


__all__ = ["POLICIES", "as_given", "cast_arguments", "cast_by", "in_float32"]
