"""Products that sum over chosen dimensions, or over none: `vdot`, `outer`, `inner`, `tensordot`."""

from __future__ import annotations

from math import prod
from typing import Any

from ...base import late
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import bilinear
from ...declare.dispatch.autocast import as_given
from ..create.making import _into_out
from ..reduce.kernels import reshaped
from .products import _check_dims, dot, matmul, mm

FUNCTIONS = "vdot inner outer ger tensordot"
METHODS = "vdot inner outer ger"


def vdot(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Sum of the products of two vectors, the first conjugated.

    Args:
        other: the second vector, of the same size and dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.vdot(torch.tensor([1j]), torch.tensor([1j]))
        tensor(1.+0.j)
    """
    first = input.conj() if input.is_complex() else input
    return dot(first, other) if out is None else dot(first, other, out=out)


@bilinear(
    input=lambda g, vec2: matmul(g, vec2),
    vec2=lambda g, input: matmul(input, g),
    node="MulBackward0",
    broadcasts=False,
    saved_as="self=input other=vec2",
)
def outer(input: Array, vec2: Array) -> Any:
    """All products of elements of two vectors.

    Args:
        input: the first vector, for the rows of the result.
        vec2: the second vector, for its columns.

    Example::

        >>> import gradpack as torch
        >>> torch.outer(torch.tensor([1, 2]), torch.tensor([3, 4]))
        tensor([[3, 4],
                [6, 8]])
    """
    _check_dims("outer", ("input", input, 1), ("vec2", vec2, 1))
    return reshaped(input, (*input.shape, 1)) * vec2


ger = outer


def inner(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Sums of products over the last dimension of both.

    Args:
        other: the second tensor, with the same size in the last dimension; or one without dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.inner(torch.tensor([1, 2]), torch.tensor([3, 4]))
        tensor(11)
    """
    if not input.ndim or not other.ndim:
        return input * other if out is None else late.mul(input, other, out=out)
    if input._shape[-1] != other._shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(input._shape)} and "
            f"{list(other._shape)}"
        )
    return _tensordot(input, other, ([-1], [-1]), out)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Tensor:
    """Sums of products over several dimensions of both tensors. The others are those of the result, first those of `a`.

    Args:
        a: the first tensor.
        b: the second tensor, of the same dtype.
        dims: how many dimensions to sum over: the last ones of `a` and the first ones of `b`; or a pair of lists: those
            of `a` and those of `b`.
        out: a tensor that the result is written into.

    Raises:
        RuntimeError: if the sizes or numbers of dimensions do not fit, or the dtypes differ.

    Example::

        >>> import gradpack as torch
        >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(3, 4, 5), dims=2).shape
        gradpack.Size([2, 5])
        >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(4, 3, 5), dims=([1, 2], [1, 0])).shape
        gradpack.Size([2, 5])
    """
    return _tensordot(a, b, dims, out)


_product_of_vectors = as_given(mm)


def _tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Tensor:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0 or dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims >= 0 and at most the number of dimensions, but got dims={dims}")
        over_a, over_b = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        over_a, over_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    if len(over_a) != len(over_b):
        raise RuntimeError("both dimension lists should have same length")
    over_a, over_b = [d % max(a.ndim, 1) for d in over_a], [d % max(b.ndim, 1) for d in over_b]
    for i, j in zip(over_a, over_b, strict=True):
        if a._shape[i] != b._shape[j]:
            if a._shape[i] == 1:  # a dimension of size 1 is broadcast
                b = b.sum(j, keepdim=True, dtype=b.dtype)
                continue
            if b._shape[j] == 1:
                a = a.sum(i, keepdim=True, dtype=a.dtype)
                continue
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a._shape[i]} in dim {i} and second has "
                f"size {b._shape[j]} in dim {j}"
            )
    rest_a = [d for d in range(a.ndim) if d not in over_a]
    rest_b = [d for d in range(b.ndim) if d not in over_b]
    inner_size = prod(a._shape[d] for d in over_a)
    shape_a, shape_b = [a._shape[d] for d in rest_a], [b._shape[d] for d in rest_b]
    left = late.reshape(late.permute(a, (*rest_a, *over_a)), (prod(shape_a), inner_size))
    right = late.reshape(late.permute(b, (*over_b, *rest_b)), (inner_size, prod(shape_b)))
    if right._spec.dtype is not left._spec.dtype:
        raise RuntimeError(
            "tensordot: both inputs should have same dtype, but got "
            f"{scalar_type(left._spec.dtype)} and {scalar_type(right._spec.dtype)}"
        )
    product = mm if left._shape[0] != 1 or right._shape[1] != 1 else _product_of_vectors
    made = late.reshape(product(left, right), (*shape_a, *shape_b))
    return _into_out(out, made, "tensordot")
