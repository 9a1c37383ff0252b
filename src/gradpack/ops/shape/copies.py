"""View operations that return copies with a storage of their own: `view_copy` and the like."""

from __future__ import annotations

from typing import Any

from ...base import dtypes, late
from ...core.tensor import Tensor
from ...declare.dispatch.out_argument import put
from ...declare.inplace.write_checks import refuse_grad
from .dims import wrap_dim

FUNCTIONS = (
    "alias_copy as_strided_copy detach_copy diagonal_copy expand_copy narrow_copy permute_copy select_copy slice_copy "
    "split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy "
    "view_as_complex_copy view_as_real_copy view_copy"
)
METHODS = "narrow_copy"


def _own(op: str, view: Tensor, out: Any = None) -> Tensor:
    """Copy a view to a storage of its own, or into `out`."""
    if out is None:
        return late._contiguous(view)
    refuse_grad(op, view, out)
    put(op, out, view)
    result: Tensor = out
    return result


def _own_each(op: str, views: Any, out: Any) -> Any:
    if out is None:
        return tuple(late._contiguous(v) for v in views)
    if len(out) != len(views):
        raise RuntimeError(f"{op}_out() expected an out= argument of size {len(views)}, got size {len(out)}")
    for view, target in zip(views, out, strict=True):
        _own(op, view, target)
    return None


def alias_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of a tensor, row-major.

    Example::

        >>> import gradpack as torch
        >>> torch.alias_copy(torch.tensor([1, 2]))
        tensor([1, 2])
    """
    return _own("alias_copy", input, out)


def detach_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy of a tensor. As in torch it is not detached, despite its name: gradients flow to `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.detach_copy(torch.tensor([1, 2]))
        tensor([1, 2])
    """
    return _own("detach_copy", input, out)


def as_strided_copy(
    input: Tensor, size: Any, stride: Any, storage_offset: int | None = None, *, out: Any = None
) -> Tensor:
    """Return a copy of the view that `as_strided` returns.

    Args:
        size: the shape.
        stride: by dimension, how many elements of the storage lie between neighbours.
        storage_offset: the position of the first element in the storage; None for that which `input` has.

    Example::

        >>> import gradpack as torch
        >>> torch.as_strided_copy(torch.arange(4), (2,), (2,), 1)
        tensor([1, 3])
    """
    return _own("as_strided_copy", late.as_strided(input, size, stride, storage_offset), out)


def diagonal_copy(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, *, out: Any = None) -> Tensor:
    """Return a copy of the view that `diagonal` returns.

    Example::

        >>> import gradpack as torch
        >>> torch.diagonal_copy(torch.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    return _own("diagonal_copy", late.diagonal(input, offset, dim1, dim2), out)


def expand_copy(input: Tensor, size: Any, *, implicit: bool = False, out: Any = None) -> Tensor:
    """Return a copy of the view that `expand` returns.

    Args:
        size: the shape, with as many dimensions as `input` has or more. -1 keeps the size of a dimension.
        implicit: of no effect: for programs that say how the call came about.

    Example::

        >>> import gradpack as torch
        >>> torch.expand_copy(torch.tensor([1, 2]), (2, 2))
        tensor([[1, 2],
                [1, 2]])
    """
    return _own("expand_copy", late.expand(input, tuple(size)), out)


def narrow_copy(input: Tensor, dim: int, start: int, length: int, *, out: Any = None) -> Tensor:
    """Return a copy of the view that `narrow` returns.

    Args:
        start: the first element; negative ones count from the end.
        length: the number of elements.

    Example::

        >>> import gradpack as torch
        >>> torch.narrow_copy(torch.tensor([1, 2, 3]), 0, 1, 2)
        tensor([2, 3])
    """
    if input.ndim and dim >= input.ndim:
        raise RuntimeError(
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (narrow_copy() got "
            f"dim={dim} for {input.ndim} dimensions)"
        )
    if length < 0:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({input._shape[dim]}).")
    return _own("narrow_copy", late.narrow(input, dim, start, length), out)


def permute_copy(input: Tensor, dims: Any, *, out: Any = None) -> Tensor:
    """Return a copy of the view that `permute` returns.

    Example::

        >>> import gradpack as torch
        >>> torch.permute_copy(torch.tensor([[1, 2], [3, 4]]), (1, 0))
        tensor([[1, 3],
                [2, 4]])
    """
    return _own("permute_copy", late.permute(input, dims), out)


def select_copy(input: Tensor, dim: int, index: int, *, out: Any = None) -> Tensor:
    """Return a copy of the view that `select` returns.

    Args:
        dim: the dimension; negative ones count from the last.
        index: an int; negative ones count from the end.

    Example::

        >>> import gradpack as torch
        >>> torch.select_copy(torch.tensor([[1, 2], [3, 4]]), 1, 0)
        tensor([1, 3])
    """
    return _own("select_copy", late.select(input, dim, index), out)


def slice_copy(
    input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1, *, out: Any = None
) -> Tensor:
    """`input[start:end:step]` along a dimension, as a copy.

    Args:
        dim: the dimension; negative ones count from the last.
        start, end: the first index, and the one that is no longer part of it; None for the ends. Negative ones count
            from the end.
        step: the distance between two indices; positive.

    Raises:
        RuntimeError: for a step that is not positive.

    Example::

        >>> import gradpack as torch
        >>> torch.slice_copy(torch.tensor([1, 2, 3, 4]), 0, 1, None, 2)
        tensor([2, 4])
    """
    if step <= 0:
        raise RuntimeError(f"slice step must be positive, but slice_copy() got {step}")
    if not input.ndim:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    place = (slice(None),) * wrap_dim(dim, input.ndim) + (slice(start, end, step),)
    return _own("slice_copy", input[place], out)


def split_copy(input: Tensor, split_size: int, dim: int = 0, *, out: Any = None) -> Any:
    """Return copies of the views that `split` returns, as a tuple. With `out`, a tuple to write into, return None.

    Example::

        >>> import gradpack as torch
        >>> torch.split_copy(torch.tensor([1, 2, 3]), 2)
        (tensor([1, 2]), tensor([3]))
    """
    return _own_each("split_copy", late.split(input, split_size, dim), out)


def split_with_sizes_copy(input: Tensor, split_sizes: Any, dim: int = 0, *, out: Any = None) -> Any:
    """Return copies of the views that `split_with_sizes` returns. With `out`, a tuple to write into, return None.

    Example::

        >>> import gradpack as torch
        >>> torch.split_with_sizes_copy(torch.tensor([1, 2, 3]), (1, 2))
        (tensor([1]), tensor([2, 3]))
    """
    return _own_each("split_with_sizes_copy", late.split_with_sizes(input, split_sizes, dim), out)


def squeeze_copy(input: Tensor, dim: Any = None, *, out: Any = None) -> Tensor:
    """Return a copy of the view that `squeeze` returns.

    Example::

        >>> import gradpack as torch
        >>> torch.squeeze_copy(torch.tensor([[1, 2]]))
        tensor([1, 2])
    """
    return _own("squeeze_copy", late.squeeze(input) if dim is None else late.squeeze(input, dim), out)


def t_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """Return a copy of the view that `t` returns.

    Example::

        >>> import gradpack as torch
        >>> torch.t_copy(torch.tensor([[1, 2], [3, 4]]))
        tensor([[1, 3],
                [2, 4]])
    """
    return _own("t_copy", late.t(input), out)


def transpose_copy(input: Tensor, dim0: int, dim1: int, *, out: Any = None) -> Tensor:
    """Return a copy of the view that `transpose` returns.

    Example::

        >>> import gradpack as torch
        >>> torch.transpose_copy(torch.tensor([[1, 2], [3, 4]]), 0, 1)
        tensor([[1, 3],
                [2, 4]])
    """
    return _own("transpose_copy", late.transpose(input, dim0, dim1), out)


def unbind_copy(input: Tensor, dim: int = 0, *, out: Any = None) -> Any:
    """Return copies of the views that `unbind` returns, as a tuple. With `out`, a tuple to write into, return None.

    Example::

        >>> import gradpack as torch
        >>> torch.unbind_copy(torch.tensor([[1, 2], [3, 4]]))
        (tensor([1, 2]), tensor([3, 4]))
    """
    return _own_each("unbind_copy", late.unbind(input, dim), out)


def unfold_copy(input: Tensor, dimension: int, size: int, step: int, *, out: Any = None) -> Tensor:
    """Return a copy of the view that `unfold` returns.

    Args:
        dimension: the dimension that the windows lie along.
        size: the number of elements of a window.
        step: the distance between the starts of two windows.

    Example::

        >>> import gradpack as torch
        >>> torch.unfold_copy(torch.tensor([1, 2, 3]), 0, 2, 1)
        tensor([[1, 2],
                [2, 3]])
    """
    return _own("unfold_copy", late.unfold(input, dimension, size, step), out)


def unsqueeze_copy(input: Tensor, dim: int, *, out: Any = None) -> Tensor:
    """Return a copy of the view that `unsqueeze` returns.

    Example::

        >>> import gradpack as torch
        >>> torch.unsqueeze_copy(torch.tensor([1, 2]), 0)
        tensor([[1, 2]])
    """
    return _own("unsqueeze_copy", late.unsqueeze(input, dim), out)


def view_as_complex_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """Return a copy of the view that `view_as_complex` returns.

    Example::

        >>> import gradpack as torch
        >>> torch.view_as_complex_copy(torch.tensor([[1.0, 2.0]]))
        tensor([1.+2.j])
    """
    return _own("view_as_complex_copy", late.view_as_complex(input), out)


def view_as_real_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """Return a copy of the view that `view_as_real` returns.

    Example::

        >>> import gradpack as torch
        >>> torch.view_as_real_copy(torch.tensor([1 + 2j]))
        tensor([[1., 2.]])
    """
    return _own("view_as_real_copy", late.view_as_real(input), out)


def view_copy(input: Tensor, size: Any = None, *, dtype: Any = None, out: Any = None) -> Tensor:
    """Return a copy of the view that `view` returns for a shape, or for a dtype that reinterprets the bits.

    Example::

        >>> import gradpack as torch
        >>> torch.view_copy(torch.tensor([1, 2, 3, 4]), (2, 2))
        tensor([[1, 2],
                [3, 4]])
    """
    whole = input if input._data.flags.c_contiguous else late._contiguous(input)
    if isinstance(size, dtypes.dtype):
        size, dtype = None, size
    if (size is None) == (dtype is None):
        raise TypeError("view_copy() takes either a size or a dtype")
    shown = late._method_view(whole, dtype=dtype) if size is None else late._method_view(whole, tuple(size))
    return _own("view_copy", shown, out)
