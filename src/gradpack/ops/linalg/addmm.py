"""Products of matrices and vectors, added to a tensor."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...backends.numpy import product
from ...declare.annotations import Array
from ...declare.decorators import general
from ..pointwise.arithmetic import check_factor
from ..pointwise.operands import factor_for
from ..reduce.kernels import add_up
from ..reduce.reduce import sum_to_size
from ..shape.shape import squeeze, unsqueeze
from .products import _check_dims, _shapes_for_product, matmul

FUNCTIONS = METHODS = "addmm addmv addr addbmm baddbmm"
INPLACE = "addmm_ addmv_ addr_ addbmm_ baddbmm_"


def _times(x: Any, factor: Any) -> Any:
    return x if factor == 1 else x * factor


_added = partial(
    general,
    input=lambda g, input_shape, beta: sum_to_size(g if beta == 1 else g * beta, input_shape),
    same_dtype=True,
    dtypes="ifc",
    refuses="unsigned complex32",
    legacy="beta",
)


@_added(
    mat1=lambda g, mat2, alpha: _times(matmul(g, mat2.mT), alpha),
    mat2=lambda g, mat1, alpha: _times(matmul(mat1.mT, g), alpha),
    autocast="lower",
    saved_as="alpha beta mat1 mat2 mat1_sym_sizes=mat1.shape mat1_sym_strides=mat1.strides "
    "mat2_sym_sizes=mat2.shape mat2_sym_strides=mat2.strides",
)
def addmm(input: Array, mat1: Array, mat2: Array, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * input + alpha * (mat1 @ mat2)`, `input` broadcast.

    Example::

        >>> import gradpack as torch
        >>> torch.addmm(torch.ones(1), torch.ones(1, 2), torch.ones(2, 1))
        tensor([[3.]])
    """
    return (
        product(mat1, mat2) + input
        if type(alpha) is type(beta) is int
        and alpha == beta == 1
        and mat1.ndim == mat2.ndim == 2
        and mat1.shape[1] == mat2.shape[0]
        and input.shape == (mat1.shape[0], mat2.shape[1])
        else _addmm(input, mat1, mat2, beta, alpha)
    )


def _addmm(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    _check_dims("addmm", ("mat1", mat1, 2), ("mat2", mat2, 2))
    _shapes_for_product("addmm", mat1.shape, mat2.shape)
    return _plus(input, product(mat1, mat2), beta, alpha)


def _plus(input: Any, made: Any, beta: Any, alpha: Any) -> Any:
    """`beta * input + alpha * made`; a beta of 0 ignores even nan in `input`."""
    if type(alpha) is type(beta) is int and alpha == beta == 1 and input.shape == made.shape:
        return made + input
    alpha, beta = factor_for(alpha, made), factor_for(beta, made)
    if alpha != 1:
        made = made * alpha
    if input.shape != made.shape and np.broadcast_shapes(input.shape, made.shape) != tuple(made.shape):
        raise RuntimeError(
            f"The expanded size of the tensor must match: input of shape {list(input.shape)} does not broadcast to "
            f"{list(made.shape)}"
        )
    if beta == 0:
        return made
    return made + (input if beta == 1 else input * beta)


@_added(
    mat=lambda g, vec, alpha: _times(unsqueeze(g, -1) * vec, alpha),
    vec=lambda g, mat, alpha: _times(squeeze(matmul(mat.mT, unsqueeze(g, -1)), -1), alpha),
    saved_as="alpha beta mat vec",
)
def addmv(input: Array, mat: Array, vec: Array, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * input + alpha * (mat @ vec)`.

    Example::

        >>> import gradpack as torch
        >>> torch.addmv(torch.ones(2), torch.ones(2, 3), torch.ones(3))
        tensor([4., 4.])
    """
    _check_dims("addmv", ("mat", mat, 2), ("vec", vec, 1))
    _shapes_for_product("addmv", mat.shape, vec.shape)
    return _plus(input, product(mat, vec), beta, alpha)


@_added(
    vec1=lambda g, vec2, alpha: _times(matmul(g, vec2), alpha),
    vec2=lambda g, vec1, alpha: _times(matmul(vec1, g), alpha),
    same_dtype=False,
    check=lambda op, values, common: _check_factors(op, values, common),
    dtypes="bifc",
    saved_as="alpha beta vec1 vec2",
)
def addr(input: Array, vec1: Array, vec2: Array, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * input + alpha * outer(vec1, vec2)`.

    Example::

        >>> import gradpack as torch
        >>> torch.addr(torch.ones(1, 2), torch.ones(1), torch.tensor([1.0, 2.0]))
        tensor([[2., 3.]])
    """
    _check_dims("addr", ("vec1", vec1, 1), ("vec2", vec2, 1))
    return _plus(input, vec1[:, None] * vec2, beta, alpha)


def _check_factors(op: Any, values: Any, common: Any) -> None:
    for label, factor in zip(("beta", "alpha"), values[3:5], strict=True):
        check_factor(op, label, factor, common)


def _check_batches(name: str, batch1: Any, batch2: Any) -> None:
    """Raise unless both are batches of matrices; what lacks a dimension that torch asks for first is an IndexError."""
    for label, array, dim in (("batch1", batch1, 1), ("batch2", batch2, 2)):
        if len(array.shape) <= dim:
            raise IndexError(
                f"Dimension out of range: {name}(): {label} must be a 3-D tensor, got shape {list(array.shape)}"
            )
    _check_dims(name, ("batch1", batch1, 3), ("batch2", batch2, 3))


@_added(
    batch1=lambda g, batch2, alpha: _times(matmul(g, batch2.mT), alpha),
    batch2=lambda g, batch1, alpha: _times(matmul(batch1.mT, g), alpha),
    autocast="lower",
    saved_as="alpha beta batch1 batch2",
)
def baddbmm(input: Array, batch1: Array, batch2: Array, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * input + alpha * (batch1 @ batch2)` for batches of matrices.

    Example::

        >>> import gradpack as torch
        >>> torch.baddbmm(torch.ones(1), torch.ones(2, 1, 3), torch.ones(2, 3, 1)).shape
        gradpack.Size([2, 1, 1])
    """
    _check_batches("baddbmm", batch1, batch2)
    if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{batch1.shape[0]}, {batch1.shape[2]}] "
            f"but got: [{batch2.shape[0]}, {batch2.shape[1]}]."
        )
    return _plus(input, product(batch1, batch2), beta, alpha)


@_added(
    batch1=lambda g, batch2, alpha: _times(matmul(g, batch2.mT), alpha),
    batch2=lambda g, batch1, alpha: _times(matmul(batch1.mT, g), alpha),
    autocast="lower",
    saved_as="alpha beta batch1 batch1_sym_argsize_0=batch1.shape[0] batch1_sym_argsize_1=batch1.shape[1] batch2 "
    "batch2_sym_argsize_2=batch2.shape[2]",
)
def addbmm(input: Array, batch1: Array, batch2: Array, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * input + alpha * sum of (batch1 @ batch2)` over the batch.

    Example::

        >>> import gradpack as torch
        >>> torch.addbmm(torch.ones(1), torch.ones(2, 1, 3), torch.ones(2, 3, 1))
        tensor([[7.]])
    """
    _check_batches("addbmm", batch1, batch2)
    if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(f"Incompatible matrix sizes for addbmm ({list(batch1.shape)} and {list(batch2.shape)})")
    return _plus(input, add_up(np.matmul(batch1, batch2), 0), beta, alpha)
