"""Permutations of dimensions. All results are views."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...base import late
from ...base.callers import depth_of_user
from ...core.tensor import Tensor
from ...declare.annotations import Array, Dim
from ..reduce.kernels import _array_type
from .dims import ints_of, wrap_dim, wrap_dims
from .shape import view_op

FUNCTIONS = "permute transpose swapaxes swapdims t adjoint movedim moveaxis"
METHODS = "permute transpose swapaxes swapdims t adjoint movedim moveaxis"


@view_op(input=lambda g, dims: permute(g, _inverse(dims)))
def permute(input: Array, dims: Dim) -> Any:
    """A view with the dimensions in another order.

    Args:
        dims: for each dimension of the result, which one of `input` it is.

    Raises:
        RuntimeError: unless each dimension is named once.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.permute(torch.zeros(2, 3, 4), (2, 0, 1)).shape
        gradpack.Size([4, 2, 3])
    """
    if len(dims) != len(input.shape):
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {len(input.shape)} is not equal to len(dims) = {len(dims)}"
        )
    places = tuple([wrap_dim(d, len(dims)) for d in dims])
    if len({*places}) < len(places):
        raise RuntimeError(f"permute(): duplicate dims are not allowed: {list(dims)}")
    dims = places
    return input.transpose(dims) if type(input) is _array_type else np.transpose(input, dims)


def _inverse(dims: Any) -> tuple[int, ...]:
    dims = wrap_dims(dims, len(dims))
    return tuple(sorted(builtins.range(len(dims)), key=dims.__getitem__))


def _method_permute(self: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """A view with the dimensions in another order: `x.permute(1, 0)` or `x.permute((1, 0))`.

    Args:
        order: for each dimension of the result, which one of this tensor it is: ints, or one sequence of them.
        dims: the same, by name.

    Raises:
        RuntimeError: unless each dimension is named once.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros(2, 3, 5).permute(2, 0, 1).shape
        gradpack.Size([5, 2, 3])
    """
    if not order and dims is None:
        raise TypeError('permute() missing 1 required positional arguments: "dims"')
    return permute(self, ints_of(order if dims is None else (dims,), "permute"))


@view_op(input=lambda g, dim0, dim1: transpose(g, dim0, dim1))
def transpose(input: Array, dim0: int, dim1: int) -> Any:
    """A view with two dimensions exchanged.

    Args:
        dim0, dim1: the dimensions; negative ones count from the last.

    Raises:
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.transpose(torch.tensor([[1, 2, 3], [4, 5, 6]]), 0, 1)
        tensor([[1, 4],
                [2, 5],
                [3, 6]])
    """
    n = len(input.shape)
    a, b = wrap_dim(dim0, n), wrap_dim(dim1, n)
    if type(input) is _array_type:
        return input.swapaxes(a, b) if n else input[...]
    return np.swapaxes(input, a, b) if n else input[...]


@view_op(input=lambda g: t(g), node="TBackward0")
def t(input: Array) -> Any:
    """Transpose a matrix; a tensor of fewer dimensions stays as it is.

    Example::

        >>> import gradpack as torch
        >>> torch.t(torch.zeros(2, 3)).shape
        gradpack.Size([3, 2])
    """
    if len(input.shape) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {len(input.shape)}D")
    return np.transpose(input)


def adjoint(input: Tensor) -> Tensor:
    """Transpose the last two dimensions, and conjugate.

    Example::

        >>> import gradpack as torch
        >>> torch.adjoint(torch.tensor([[1j, 0j]])).shape
        gradpack.Size([2, 1])
    """
    return _last_two("tensor.adjoint()", input).conj()


def _last_two(name: str, input: Tensor) -> Tensor:
    """The last two dimensions exchanged; a number stays as it is."""
    if input.ndim == 1:
        raise RuntimeError(f"{name} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return transpose(input, -2, -1) if input.ndim else input


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """A view with some dimensions at other places; the others keep their order.

    Args:
        source: the dimensions that move: an int, or several.
        destination: the place of each in the result: as many.

    Raises:
        RuntimeError: for different numbers of them, or one that occurs twice.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.movedim(torch.zeros(2, 3, 4), 0, -1).shape
        gradpack.Size([3, 4, 2])
        >>> torch.movedim(torch.zeros(2, 3, 4), (0, 1), (1, 2)).shape
        gradpack.Size([4, 2, 3])
    """
    n = input.ndim
    if type(source) is int and type(destination) is int and n:
        order = [*builtins.range(n)]
        first = order.pop(wrap_dim(source, n))
        order.insert(wrap_dim(destination, n), first)
        return permute(input, tuple(order))
    given = [[dims] if isinstance(dims, int) else list(dims) for dims in (source, destination)]
    sources, targets = ([wrap_dim(d, n) for d in dims] for dims in given)
    if len(sources) != len(targets):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({given[0]} dims) should contain the same "
            f"number of dims as destination ({given[1]} dims)"
        )
    for name, dims, said in (("source", sources, given[0]), ("destination", targets, given[1])):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({said})")
    if not n:
        return late._alias(input)
    order = [d for d in builtins.range(n) if d not in sources]
    for target, d in sorted(zip(targets, sources, strict=True)):
        order.insert(target, d)
    return permute(input, tuple(order))


def _reversed(self: Tensor) -> Tensor:
    """All dimensions in the opposite order."""
    if self.ndim not in (0, 2):
        import warnings

        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated: use "
            "`x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))`.",
            UserWarning,
            stacklevel=depth_of_user(),
        )
    return permute(self, tuple(builtins.range(self.ndim - 1, -1, -1)))


def _matrix_transposed(self: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    return _last_two("tensor.mT", self)


def _matrices_adjoint(self: Tensor) -> Tensor:
    """The last two dimensions exchanged, conjugated."""
    return _last_two("tensor.mH", self).conj()


def _matrix_adjoint(self: Tensor) -> Tensor:
    """A matrix transposed and conjugated."""
    if self.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if self.ndim > 2 else "")
        )
    return _last_two("tensor.H", self).conj()


OPERATORS = {
    "T": property(_reversed),
    "mT": property(_matrix_transposed),
    "H": property(_matrix_adjoint),
    "mH": property(_matrices_adjoint),
}

swapdims = transpose
moveaxis = movedim


def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """`transpose`, by NumPy's name.

    Args:
        axis0: the first dimension.
        axis1: the second dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.swapaxes(torch.zeros(2, 3), 0, 1).shape
        gradpack.Size([3, 2])
    """
    return transpose(input, axis0, axis1)
