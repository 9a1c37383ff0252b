"""NumPy's functions with NumPy's arguments, composed of gradpack's, where more than names differ.

Called by `protocol` with tensors; all are differentiable.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ...base import dtypes
from ...core.tensor import Tensor


def found(name: str) -> Any:
    """Return the gradpack function of a name such as `linalg.svd`; None if there is none."""
    module, _, name = name.rpartition(".")
    if module == "forms":
        return globals()[name]
    if module:
        try:
            return getattr(import_module(f"gradpack.{module}"), name, None)
        except ImportError:
            return None
    from ..methods import EXPORTED, MODULE_OF, exported

    if name in EXPORTED:
        return EXPORTED[name]
    return exported(name) if name in MODULE_OF else None


def ours(name: str, *args: Any, **kwargs: Any) -> Any:
    return found(name)(*args, **kwargs)


def in_common_dtype(*operands: Any) -> list[Tensor]:
    """The operands as tensors of their common dtype, which products ask for."""
    tensors = [t if isinstance(t, Tensor) else ours("as_tensor", t) for t in operands]
    common = tensors[0]._spec.dtype
    for t in tensors[1:]:
        common = dtypes.promote_types(common, t._spec.dtype)
    return [t.to(common) for t in tensors]


def floating(a: Tensor) -> Tensor:
    return a if a._spec.dtype.category >= dtypes.FLOATING else a.to(dtypes.get_default_dtype())


# -- ufuncs --


def cbrt(x: Tensor) -> Tensor:
    root = ours("pow", ours("abs", x), 1 / 3)
    return ours("copysign", root, x)


def heaviside(x: Tensor, values: Tensor) -> Tensor:
    return ours("heaviside", *in_common_dtype(x, values))


def divmod(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    return ours("floor_divide", a, b), ours("remainder", a, b)


def modf(x: Tensor) -> tuple[Tensor, Tensor]:
    whole = ours("trunc", x)
    return x - whole, whole


# -- reductions --


def mean(a: Tensor, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    return ours("mean", a if dtype is not None else floating(a), axis, keepdims, dtype=dtype)


def prod(a: Tensor, dim: Any = None, dtype: Any = None, keepdim: bool = False) -> Tensor:
    if isinstance(dim, int):
        return ours("prod", a, dim, keepdim, dtype=dtype)
    axes = range(a.ndim) if dim is None else [i % a.ndim for i in dim]
    for i in sorted(axes, reverse=True):
        a = ours("prod", a, i, keepdim, dtype=dtype)
    return a


def ptp(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    return ours("amax", a, axis, keepdims) - ours("amin", a, axis, keepdims)


def _deviation(name: str) -> Any:
    def deviation(
        a: Tensor, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: bool = False, correction: Any = None
    ) -> Tensor:
        a = floating(a) if dtype is None else a.to(dtype)
        return ours(name, a, axis, correction=ddof if correction is None else correction, keepdim=keepdims)

    return deviation


var, std = _deviation("var"), _deviation("std")


def quantile(a: Tensor, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Tensor:
    a = floating(a)
    if isinstance(q, Tensor):
        q = q.to(a.dtype)
    elif not isinstance(q, int | float):
        q = ours("tensor", q, dtype=a.dtype)
    return ours("quantile", a, q, axis, keepdims, interpolation=method)


def percentile(a: Tensor, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Tensor:
    q = q / 100 if isinstance(q, Tensor | int | float) else [x / 100 for x in q]
    return quantile(a, q, axis, method, keepdims)


def median(a: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The mean of the two in the middle, where torch's takes the lower one."""
    a = floating(a)
    if axis is None:
        values = ours("sort", ours("reshape", a, (-1,))).values
        axis, shape = 0, (1,) * a.ndim
    else:
        values, shape = ours("sort", a, axis).values, None
    n = values.shape[axis]
    low, high = ours("select", values, axis, (n - 1) // 2), ours("select", values, axis, n // 2)
    middle = low + 0.5 * (high - low)
    if not keepdims:
        return middle
    return ours("unsqueeze", middle, axis) if shape is None else ours("reshape", middle, shape)


def average(a: Tensor, axis: Any = None, weights: Any = None) -> Tensor:
    if weights is None:
        return mean(a, axis)
    if weights.shape != a.shape:
        weights = ours("reshape", weights, [n if i == axis % a.ndim else 1 for i, n in enumerate(a.shape)])
        weights = ours("broadcast_to", weights, a.shape)
    return ours("sum", a * weights, axis) / ours("sum", weights, axis)


def _flat_first(a: Tensor, axis: Any) -> tuple[Tensor, Any]:
    """The operand and the axis; all elements as a vector if there is none."""
    return (ours("reshape", a, (-1,)), 0) if axis is None else (a, axis)


def cumsum(a: Tensor, axis: Any = None, dtype: Any = None) -> Tensor:
    return ours("cumsum", *_flat_first(a, axis), dtype=dtype)


def cumprod(a: Tensor, axis: Any = None, dtype: Any = None) -> Tensor:
    return ours("cumprod", *_flat_first(a, axis), dtype=dtype)


def running_max(a: Tensor, dim: int) -> Tensor:
    return ours("cummax", a, dim).values


def running_min(a: Tensor, dim: int) -> Tensor:
    return ours("cummin", a, dim).values


def diff(a: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    edges = [p if p is None or (isinstance(p, Tensor) and p.ndim) else _edge(a, p, axis) for p in (prepend, append)]
    return ours("diff", a, n, axis, *edges)


def _edge(a: Tensor, value: Any, axis: int) -> Tensor:
    shape = list(a.shape)
    shape[axis] = 1
    return ours("zeros", shape, dtype=a.dtype) + value


def trapezoid(y: Tensor, x: Any = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    return ours("trapezoid", y, dx=dx, dim=axis) if x is None else ours("trapezoid", y, x, dim=axis)


def trace(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    return ours("sum", ours("diagonal", a, offset, axis1, axis2), -1)


# -- shapes --


def reshape(a: Tensor, shape: Any) -> Tensor:
    return ours("reshape", a, (shape,) if isinstance(shape, int) else tuple(shape))


def transpose(a: Tensor, axes: Any = None) -> Tensor:
    return ours("permute", a, tuple(range(a.ndim))[::-1] if axes is None else tuple(axes))


def expand_dims(a: Tensor, axis: Any) -> Tensor:
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    ndim = a.ndim + len(axes)
    for i in sorted(i % ndim for i in axes):
        a = ours("unsqueeze", a, i)
    return a


def squeeze(a: Tensor, axis: Any = None) -> Tensor:
    if axis is None:
        return ours("squeeze", a)
    for i in (axis,) if isinstance(axis, int) else axis:
        if a.shape[i] != 1:
            raise ValueError(
                f"cannot select an axis to squeeze out which has size not equal to one: axis {i} of a tensor of "
                f"shape {list(a.shape)}"
            )
    return ours("squeeze", a, axis)


def concatenate(arrays: Any, axis: Any = 0, dtype: Any = None) -> Tensor:
    parts = [a if dtype is None else a.to(dtype) for a in arrays]
    if axis is None:
        parts, axis = [ours("reshape", a, (-1,)) for a in parts], 0
    return ours("cat", parts, axis)


def array_split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    where_ = indices_or_sections
    return list(ours("tensor_split", ary, where_ if isinstance(where_, int) else [int(i) for i in where_], axis))


def split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    if isinstance(indices_or_sections, int) and ary.shape[axis] % indices_or_sections:
        raise ValueError(
            f"array split does not result in an equal division: {ary.shape[axis]} in {indices_or_sections} parts"
        )
    return array_split(ary, indices_or_sections, axis)


def flip(m: Tensor, axis: Any = None) -> Tensor:
    return ours("flip", m, tuple(range(m.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis)


def take(a: Tensor, indices: Any, axis: Any = None) -> Tensor:
    a, axis = _flat_first(a, axis)
    if not isinstance(indices, Tensor):
        indices = ours("as_tensor", indices)
    axis %= a.ndim
    picked = ours("index_select", a, axis, ours("reshape", indices, (-1,)))
    return ours("reshape", picked, (*a.shape[:axis], *indices.shape, *a.shape[axis + 1 :]))


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None:
        return nonzero(condition)
    return ours("where", condition, x, y)


def clip(a: Tensor, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Tensor:
    return ours("clamp", a, min if a_min is None else a_min, max if a_max is None else a_max)


def sort(a: Tensor, axis: Any = -1) -> Tensor:
    return ours("sort", *_flat_first(a, axis)).values


def argsort(a: Tensor, axis: Any = -1) -> Tensor:
    return ours("argsort", *_flat_first(a, axis))


def nonzero(a: Tensor) -> Any:
    return tuple(ours("unbind", ours("nonzero", a), 1))


def imag(val: Tensor) -> Tensor:
    return ours("imag", val) if val.is_complex() else ours("zeros_like", val)


def pad(array: Tensor, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Tensor:
    if mode != "constant" or not isinstance(constant_values, int | float):
        raise TypeError(f"numpy.pad() of a Tensor: mode must be 'constant' with one value, not {mode!r}")
    width = np.broadcast_to(pad_width, (array.ndim, 2))
    if (width < 0).any():
        raise ValueError("index can't contain negative values")
    return ours("constant_pad_nd", array, width[::-1].ravel().tolist(), constant_values)


# -- products, norms and decompositions --


def matmul(a: Tensor, b: Tensor) -> Tensor:
    return ours("matmul", *in_common_dtype(a, b))


def vecdot(a: Tensor, b: Tensor) -> Tensor:
    a, b = in_common_dtype(a, b)
    return ours("sum", ours("conj", a) * b, -1)


def outer(a: Tensor, b: Tensor) -> Tensor:
    return ours("reshape", a, (-1, 1)) * ours("reshape", b, (1, -1))


def _is_scalar(x: Any) -> bool:
    return not isinstance(x, Tensor) or not x.ndim


def inner(a: Tensor, b: Any) -> Tensor:
    if _is_scalar(a) or _is_scalar(b):
        return a * b
    return tensordot(a, b, ((-1,), (-1,)))


def dot(a: Tensor, b: Any) -> Tensor:
    if _is_scalar(a) or _is_scalar(b):
        return a * b
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul(a, b)
    return tensordot(a, b, ((-1,), (-2 if b.ndim > 1 else -1,)))


def vdot(a: Tensor, b: Tensor) -> Tensor:
    return vecdot(ours("reshape", a, (-1,)), ours("reshape", b, (-1,)))


def tensordot(a: Tensor, b: Tensor, axes: Any = 2) -> Tensor:
    return ours("tensordot", *in_common_dtype(a, b), axes)


def cross(a: Tensor, b: Tensor, axis: int = -1) -> Tensor:
    return ours("linalg.cross", *in_common_dtype(a, b), dim=axis)


def einsum(equation: Any, *operands: Any) -> Tensor:
    tensors = iter(in_common_dtype(*[o for o in operands if isinstance(o, Tensor)]))
    return ours("einsum", equation, *[next(tensors) if isinstance(o, Tensor) else o for o in operands])


def vector_norm(x: Tensor, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    return ours("linalg.vector_norm", floating(x), ord, axis, keepdims)


def norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    x = floating(x)
    if ord is None and axis is None:
        total = ours("norm", ours("reshape", x, (-1,)))
        return ours("reshape", total, (1,) * x.ndim) if keepdims else total
    if ord in (None, 2) and isinstance(axis, int):
        return ours("norm", x, 2, axis, keepdims)
    return ours("linalg.norm", x, ord, axis, keepdims)


def svd(a: Tensor, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return ours("linalg.svd", a, full_matrices) if compute_uv else ours("linalg.svdvals", a)
