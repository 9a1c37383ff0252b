"""Functions of one square matrix, and products of several."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...base import late
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import linear
from ..reduce.kernels import _array_type, add_up
from .check import floats, matrix_op, square, with_out
from .matrix_parts import identity
from .solve import linalg_inv

FUNCTIONS = "matrix_exp matrix_power trace kron chain_matmul"
METHODS = "matrix_exp matrix_power trace kron"


# -- exponential --

# The coefficients of the Pade approximant of degree 13, the first of them 1 for exact identities, and the norm up to
# which its error is that of rounding.
_PADE = tuple(c / 64764752532480000.0 for c in (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
))  # fmt: skip
_REACH = 5.371920351148152


def _block_gradient(g: Any, A: Any) -> Any:
    """The derivative along `g` at the transpose: the upper right block of the exponential of a larger matrix."""
    n, turned = A.shape[-1], A.mT
    upper = late._cat([turned, g], -1)
    lower = late._cat([turned * 0, turned], -1)
    return linalg_matrix_exp(late._cat([upper, lower], -2))[..., :n, n:]


@matrix_op(
    input=lambda g, input: _block_gradient(g, input),
    jvp=lambda input_t, input: _block_gradient(input_t, input.mT),
    check=floats("linalg.matrix_exp", low=True),
    refuses="complex32",
)
def linalg_matrix_exp(input: Array) -> Any:
    """The exponential of square matrices: `sum(A^k / k!)`.

    Its derivative along E is a block of the exponential of `[[A, E], [0, A]]`.

    Args:
        input: of shape (..., n, n), floating point or complex.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.matrix_exp(torch.tensor([[0.0, 1.0], [0.0, 0.0]]))
        tensor([[1., 1.],
                [0., 1.]])
    """
    square("linalg.matrix_exp", input)
    n = input.shape[-1]
    if not input.size:
        return np.array(input)
    flat = np.reshape(input, (-1, n, n))
    if flat.dtype.itemsize == (8 if flat.dtype.kind == "c" else 4):  # large terms cancel: single precision shows it
        flat = flat.astype(np.complex128 if flat.dtype.kind == "c" else np.float64)
    size = np.max(np.sum(np.abs(flat), axis=-2), axis=-1)
    with np.errstate(all="ignore"):
        times = np.where(np.isfinite(size) & (size > _REACH), np.ceil(np.log2(size / _REACH)), 0).astype(np.int64)
        found = _pade(flat * np.asarray(2.0**-times, dtype=size.dtype)[:, None, None])
        for k in range(int(times.max())):
            again = times > k
            found[again] = np.matmul(found[again], found[again])
    return np.reshape(found.astype(input.dtype), input.shape)


def _pade(a: Any) -> Any:
    b, eye = _PADE, np.eye(a.shape[-1], dtype=a.dtype)
    a2 = np.matmul(a, a)
    a4 = np.matmul(a2, a2)
    a6 = np.matmul(a4, a2)
    odd = np.matmul(a6, b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * eye
    even = np.matmul(a6, b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * eye
    u = np.matmul(a, odd)
    return np.linalg.solve(even - u, even + u)


def matrix_exp(input: Tensor) -> Any:
    """The exponential of square matrices: `linalg.matrix_exp`.

    Example::

        >>> import gradpack as torch
        >>> torch.matrix_exp(torch.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    return linalg_matrix_exp(input)


# -- powers --


@with_out
def linalg_matrix_power(input: Tensor, n: int) -> Any:
    """A whole power of square matrices, by repeated squaring; of the inverse if negative.

    Args:
        n: the exponent: an int. 0 gives identities.

    Raises:
        linalg.LinAlgError: for a negative power of a singular matrix.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.matrix_power(torch.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
        tensor([[1., 3.],
                [0., 1.]])
    """
    square("linalg.matrix_power", input)
    if n == 0:
        return late.clone(input).copy_(identity(input._shape[-1], input))
    if n == 1:
        return late.clone(input)
    if n < 0:
        input, n = linalg_inv(input), -n
    power, made = input, None
    while True:
        if n & 1:
            made = power if made is None else made @ power
        n >>= 1
        if not n:
            return made
        power = power @ power


@with_out
def matrix_power(input: Tensor, n: int) -> Any:
    """A whole power of square matrices: `linalg.matrix_power`.

    Args:
        n: the exponent: an int.

    Example::

        >>> import gradpack as torch
        >>> torch.matrix_power(2 * torch.eye(2), 2)
        tensor([[4., 0.],
                [0., 4.]])
    """
    return linalg_matrix_power(input, n)


# -- products of several matrices --


@with_out
def multi_dot(tensors: Any) -> Any:
    """The product of two matrices or more, in the order with the fewest multiplications.

    The first and the last may be vectors: a row and a column.

    Raises:
        RuntimeError: for fewer than two, for other dimensions, for shapes or dtypes that do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 1), torch.ones(1)])
        tensor([3., 3.])
    """
    given = list(tensors)
    if len(given) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(given)}")
    for place, t in (("first", given[0]), ("last", given[-1])):
        if t.ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {place} tensor must be 1D or 2D but got {t.ndim}D")
    row, column = given[0].ndim == 1, given[-1].ndim == 1
    for nr, t in enumerate(given):
        if 0 < nr < len(given) - 1 and t.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {nr} must be 2D but got {t.ndim}D")
        if t.dtype != given[0].dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{scalar_type(given[0]._spec.dtype).lower()} and tensor {nr} {scalar_type(t._spec.dtype).lower()}"
            )
    shapes = [list(t._shape) for t in given]
    first = late.unsqueeze(given[0], 0) if row else given[0]
    last = late.unsqueeze(given[-1], -1) if column else given[-1]
    matrices = [first, *given[1:-1], last]
    for nr in range(len(matrices) - 1):
        if matrices[nr]._shape[1] != matrices[nr + 1]._shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {nr} and {nr + 1} with shapes {shapes[nr]} and {shapes[nr + 1]} cannot be "
                "multiplied"
            )
    made = _product(matrices, _order(tuple([m._shape for m in matrices])), 0, len(matrices) - 1)
    shape = (*(() if row else made._shape[:1]), *(() if column else made._shape[1:]))
    return made if shape == made._shape else late.reshape(made, shape)


@lru_cache(64)
def _order(shapes: tuple[Any, ...]) -> dict[tuple[int, int], int]:
    """Where to split each run of matrices."""
    sizes = [shapes[0][0], *(s[1] for s in shapes)]
    cost = {(i, i): 0 for i in range(len(shapes))}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, len(shapes)):
        for i in range(len(shapes) - length):
            j = i + length
            options = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(options)
    return split


def _product(matrices: list[Any], split: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return matrices[i]
    k = split[i, j]
    return late.mm(_product(matrices, split, i, k), _product(matrices, split, k + 1, j))


def chain_matmul(*matrices: Tensor, out: Any = None) -> Any:
    """The product of matrices, in the order with the fewest multiplications: see `linalg.multi_dot`.

    Args:
        matrices: the matrices, one or more, in the order of the product.

    Example::

        >>> import gradpack as torch
        >>> torch.chain_matmul(torch.ones(1, 2), torch.ones(2, 1))
        tensor([[2.]])
    """
    if len(matrices) == 1 and isinstance(matrices[0], list | tuple):
        matrices = tuple(matrices[0])
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for t in matrices:
        if t.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {t.ndim}, expected 2 instead.")
    if len(matrices) == 1:
        return late.clone(matrices[0]) if out is None else matrix_power(matrices[0], 1, out=out)
    return multi_dot(matrices) if out is None else multi_dot(matrices, out=out)


# -- sums and products of elements --


@linear(
    input=lambda g, input_shape: _spread(g, input_shape),
    result="sum",
    dtypes="ifc",
    refuses="unsigned complex32",
    int64=True,
    autocast="float32",
)
def trace(input: Array) -> Any:
    """The sum of the main diagonal of a matrix. Integers give int64.

    Raises:
        RuntimeError: for other than two dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.trace(torch.tensor([[1, 2], [3, 4]]))
        tensor(5)
    """
    if len(input.shape) != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {len(input.shape)}")
    if type(input) is _array_type:
        return add_up(input.diagonal())
    return add_up(np.einsum("ii->i", input[: min(input.shape), : min(input.shape)]))


def _spread(g: Any, shape: Any) -> Any:
    n = min(shape)
    return late._diagonal_backward(late.expand(g, (n,)), tuple(shape), 0, 0, 1)


@with_out
def kron(input: Tensor, other: Tensor) -> Any:
    """The Kronecker product: `input` with each element replaced by its product with `other`.

    Args:
        other: the second factor: a tensor. Sizes of the result are products of both.

    Example::

        >>> import gradpack as torch
        >>> torch.kron(torch.tensor([[1, 2]]), torch.tensor([[1], [10]]))
        tensor([[ 1,  2],
                [10, 20]])
    """
    n = max(input.ndim, other.ndim)
    a = (1,) * (n - input.ndim) + tuple(input._shape)
    b = (1,) * (n - other.ndim) + tuple(other._shape)
    left = late.reshape(input, tuple(s for size in a for s in (size, 1)))
    right = late.reshape(other, tuple(s for size in b for s in (1, size)))
    return late.reshape(left * right, tuple(x * y for x, y in zip(a, b, strict=True)))
