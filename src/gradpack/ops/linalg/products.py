"""Products of matrices and vectors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...backends.numpy import product
from ...base import late
from ...declare.annotations import Array
from ...declare.decorators import bilinear, general
from ..nn.dropped import light
from ..reduce.kernels import _array_type
from .matrix_parts import sum_of

FUNCTIONS = METHODS = "matmul mm bmm mv dot"


def _shapes_for_product(name: str, a: Any, b: Any) -> None:
    """Raise torch's error where two shapes have no product."""
    inner_b = b[-2] if len(b) > 1 else b[0]
    if len(a) and len(b) and a[-1] != inner_b:
        if len(a) == 1 and len(b) == 1:
            raise RuntimeError(
                f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of "
                f"elements, but got {a[0]} and {b[0]} elements respectively: {name}()"
            )
        if len(a) == 2 and len(b) == 1:
            raise RuntimeError(f"{name}(): size mismatch, got input ({a[0]}x{a[1]}), vec ({b[0]})")
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, a[-2:]))} and "
            f"{'x'.join(map(str, b[-2:]))}): "
            f"{name}() got {list(a)} and {list(b)}"
        )


def _blame_matmul(a: Any, b: Any) -> None:
    if not len(a) or not len(b):
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D")
    _shapes_for_product("matmul", a, b)
    raise RuntimeError(f"matmul(): the batch dimensions of shapes {list(a)} and {list(b)} do not broadcast")


def _overload(node: Any) -> str:
    ndims: Any = tuple(
        len(getattr(node, n + "_shape", ())) or len(np.shape(getattr(node, n, ()))) for n in ("input", "other")
    )
    return {(1, 1): "DotBackward0", (2, 1): "MvBackward0"}.get(ndims, "MmBackward0")


@bilinear(
    input=lambda g, input_shape, other: (
        matmul(g, other.mT) if len(input_shape) > 1 and len(other.shape) > 1 else _left(g, input_shape, other)
    ),
    other=lambda g, input, other_shape: (
        matmul(input.mT, g) if len(other_shape) > 1 and len(input.shape) > 1 else _right(g, input, other_shape)
    ),
    same_dtype=True,
    dtypes="ifc",
    shape_error=_blame_matmul,
    node="MmBackward0",
    overloads=_overload,
    save_as=light,
    autocast="lower",
    refuses="unsigned complex32",
    saved_as={
        "": (
            "self=input mat2=other mat2_sym_sizes=other.shape mat2_sym_strides=other.strides "
            "self_sym_sizes=input.shape self_sym_strides=input.strides"
        ),
        "DotBackward0": "self tensor=other",
        "MvBackward0": "self vec=other",
    },
)
def matmul(input: Array, other: Array) -> Any:
    """The matrix product of two tensors: also `input @ other`.

    - Two vectors: their dot product, without dimensions.
    - A matrix and a vector: a vector. A vector on the left counts as a row, one on the right as a column.
    - Two matrices: a matrix.
    - More dimensions: the last two are those of matrices, and the dimensions before broadcast.

    Args:
        input: the first factor: (..., n, k), or (k).
        other: the second factor: (..., k, m), or (k); of the same dtype.

    Raises:
        RuntimeError: if the shapes have no product, the dtypes differ, or one has no dimensions.

    Example::

        >>> import gradpack as torch
        >>> A = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.matmul(A, torch.tensor([1.0, 10.0]))
        tensor([21., 43.])
        >>> torch.matmul(torch.ones(5, 1, 2, 3), torch.ones(4, 3, 2)).shape  # batches of (5, 1) and (4,)
        gradpack.Size([5, 4, 2, 2])
    """
    return product(input, other)


def _left(g: Any, shape: Any, other: Any) -> Any:
    """The gradient of the left factor where one of the two is a vector."""
    if len(shape) > 1:  # matrix @ vector
        return late.unsqueeze(g, -1) * other
    if len(other.shape) == 2:  # vector @ matrix
        return matmul(other, g)
    if len(other.shape) > 1:  # vector @ matrices
        return late.squeeze(matmul(other, late.unsqueeze(g, -1)), -1)
    return g * other


def _right(g: Any, input: Any, shape: Any) -> Any:
    """The gradient of the right factor where one of the two is a vector."""
    if len(shape) > 1:  # vector @ matrix
        return late.unsqueeze(input, -1) * late.unsqueeze(g, -2)
    if len(input.shape) == 2:  # matrix @ vector
        return matmul(g, input)
    if len(input.shape) > 1:  # matrices @ vector
        return late.squeeze(matmul(input.mT, late.unsqueeze(g, -1)), -1)
    return g * input


def _check_dims(name: str, *pairs: Any) -> None:
    for label, array, wanted in pairs:
        if len(array.shape) != wanted:
            raise RuntimeError(f"{name}(): {label} must be a {wanted}-D tensor, got shape {list(array.shape)}")


_product = partial(bilinear, broadcasts=False, dtypes="ifc", refuses="unsigned complex32", overlap="read_first")


@_product(
    input=lambda g, mat2: matmul(g, mat2.mT),
    mat2=lambda g, input: matmul(input.mT, g),
    same_dtype=True,
    autocast="lower",
    refuses="unsigned",
    saved_as=(
        "self mat2 mat2_sym_sizes=mat2.shape mat2_sym_strides=mat2.strides self_sym_sizes=input.shape "
        "self_sym_strides=input.strides"
    ),
)
def mm(input: Array, mat2: Array) -> Any:
    """The product of two matrices. Nothing is broadcast: see `matmul`.

    Args:
        input: the first matrix: (n, k).
        mat2: the second matrix: (k, m), of the same dtype.

    Raises:
        RuntimeError: for other than two dimensions, sizes that do not fit, or different dtypes.

    Example::

        >>> import gradpack as torch
        >>> torch.mm(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0], [10.0]]))
        tensor([[21.],
                [43.]])
    """
    _check_dims("mm", ("input", input, 2), ("mat2", mat2, 2))
    _shapes_for_product("mm", input.shape, mat2.shape)
    return product(input, mat2)


@_product(
    input=lambda g, mat2: matmul(g, mat2.mT),
    mat2=lambda g, input: matmul(input.mT, g),
    same_dtype=True,
    save_as=light,
    autocast="lower",
)
def bmm(input: Array, mat2: Array) -> Any:
    """The products of two batches of matrices, one by one. Nothing is broadcast: see `matmul`.

    Args:
        input: the first batch: (b, n, k).
        mat2: the second batch: (b, k, m), of the same dtype.

    Raises:
        RuntimeError: for other than three dimensions, sizes that do not fit, or different dtypes.

    Example::

        >>> import gradpack as torch
        >>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 1)).shape
        gradpack.Size([2, 1, 1])
    """
    _check_dims("bmm", ("batch1", input, 3), ("batch2", mat2, 3))
    if input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{input.shape[0]}, {input.shape[2]}] but "
            f"got: [{mat2.shape[0]}, {mat2.shape[1]}]. (bmm() of {list(input.shape)} and {list(mat2.shape)})"
        )
    return product(input, mat2)


@_product(
    input=lambda g, vec: late.unsqueeze(g, -1) * vec,
    vec=lambda g, input: late.squeeze(matmul(input.mT, late.unsqueeze(g, -1)), -1),
    same_dtype=True,
)
def mv(input: Array, vec: Array) -> Any:
    """Product of a matrix and a vector.

    Example::

        >>> import gradpack as torch
        >>> torch.mv(torch.eye(2), torch.tensor([1.0, 2.0]))
        tensor([1., 2.])
    """
    _check_dims("mv", ("input", input, 2), ("vec", vec, 1))
    _shapes_for_product("mv", input.shape, vec.shape)
    return product(input, vec)


@_product(
    input=lambda g, tensor: g * tensor,
    tensor=lambda g, input: g * input,
    same_dtype="dot : expected both vectors to have same dtype, but found {} and {}",
)
def dot(input: Array, tensor: Array) -> Any:
    """The sum of the products of two vectors. The first is not conjugated: see `vdot`.

    Args:
        input: the first vector.
        tensor: the second vector, of the same size and dtype.

    Raises:
        RuntimeError: for other than one dimension, different sizes, or different dtypes.

    Example::

        >>> import gradpack as torch
        >>> torch.dot(torch.tensor([1, 2]), torch.tensor([3, 4]))
        tensor(11)
    """
    if len(input.shape) != 1 or len(tensor.shape) != 1:
        raise RuntimeError(
            f"1D tensors expected, but got {len(input.shape)}D and {len(tensor.shape)}D tensors in dot()"
        )
    _shapes_for_product("dot", input.shape, tensor.shape)
    return product(input, tensor)


OPERATORS = {"__matmul__": "matmul"}
REFLECTED = {"__rmatmul__": "matmul"}


# -- for each example of a batch, as `vmap` makes them: factors may be the same for all examples --


def _each(a: Any, b: Any) -> Any:
    """`a[i] @ b[i]` for arrays of three dimensions."""
    if a.shape[2] == 1:
        return a * b
    if type(b) is _array_type and type(a) is _array_type:
        if not b.strides[0] and b.shape[0] > 1:
            rows, columns = a.shape[0] * a.shape[1], a.shape[2]
            return np.reshape(np.matmul(np.reshape(a, (rows, columns)), b[0]), (*a.shape[:2], b.shape[2]))
        if not a.strides[0] and a.shape[0] > 1 and a.shape[1] > 1 and b.shape[2] == 1:
            return np.reshape(np.matmul(b[:, :, 0], a[0].mT), (a.shape[0], a.shape[1], 1))
    return product(a, b)


@bilinear(
    input=lambda g, other: product_each(g, other.mT),
    other=lambda g, input: product_each(input.mT, g),
    same_dtype=True,
    broadcasts=False,
    node="BmmBackward0",
)
def product_each(input: Array, other: Array) -> Any:
    """`input[i] @ other[i]`: shapes (B, n, k) and (B, k, m)."""
    return _each(input, other)


@general(
    input=lambda g, weight: product_each(g, weight),
    weight=lambda g, input: product_each(g.mT, input),
    bias=lambda g: late._sum_dim(g, 1),
    jvp=lambda input, weight, input_t, weight_t, bias_t: _tangent(input, weight, input_t, weight_t, bias_t),
    same_dtype=True,
    broadcasts=False,
    node="AddmmBackward0",
)
def linear_each(input: Array, weight: Array, bias: Array = None) -> Any:
    """`input[i] @ weight[i].T + bias[i]`: shapes (B, n, k), (B, m, k) and (B, m)."""
    out = _each(input, weight.mT)
    return out if bias is None else out + bias[:, None, :]


def _tangent(input: Any, weight: Any, input_t: Any, weight_t: Any, bias_t: Any) -> Any:
    terms = []
    if input_t is not None:
        terms.append(product_each(input_t, weight.mT))
    if weight_t is not None:
        terms.append(product_each(input, weight_t.mT))
    if bias_t is not None:
        shape = (*input.shape[:2], weight.shape[1])
        terms.append(late.expand(late.reshape(bias_t, (bias_t.shape[0], 1, bias_t.shape[1])), shape))
    return sum_of(*terms)
