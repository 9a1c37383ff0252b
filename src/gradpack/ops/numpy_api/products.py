"""NumPy's products, norms and decompositions, with NumPy's arguments, composed of gradpack's.

Called by `protocol` with tensors; all are differentiable.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...core.tensor import Tensor
from .forms import floating, in_common_dtype, ours


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
    a, b = in_common_dtype(a, b)
    if isinstance(axes, int):
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        left, right = ([x] if isinstance(x, int) else list(x) for x in axes)
        left, right = [i % a.ndim for i in left], [i % b.ndim for i in right]
    free_a = [i for i in range(a.ndim) if i not in left]
    free_b = [i for i in range(b.ndim) if i not in right]
    inside = prod(a.shape[i] for i in left)
    x = ours("reshape", ours("permute", a, (*free_a, *left)), (prod(a.shape[i] for i in free_a), inside))
    y = ours("reshape", ours("permute", b, (*right, *free_b)), (inside, prod(b.shape[i] for i in free_b)))
    return ours("reshape", ours("matmul", x, y), [a.shape[i] for i in free_a] + [b.shape[i] for i in free_b])


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
