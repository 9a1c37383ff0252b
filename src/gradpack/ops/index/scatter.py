"""gather, scatter, scatter_add: indexing along a dimension by an index tensor of the same rank."""

from __future__ import annotations

import warnings
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...backends import spec_of
from ...backends.numpy import as_intp
from ...base import late
from ...base.callers import depth_of_user
from ...base.info import number_for
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import linear
from ...declare.inplace.inplace import inplace
from ..pointwise.blockwise import is_numpy
from ..reduce.kernels import SMALL, _array_type, add_in_rows, reshaped, set_in_rows, take_in_rows
from ..shape.dims import wrap_dim
from .accumulate import add_along, add_flat, as_dtype, flat_of, fresh, into_zeros, narrowed, set_flat, store, widened
from .places import check_bounds, check_index, places_along, steps_along, vector_along
from .writing import keep_apart, number_op, number_tensor, write_op, write_part

FUNCTIONS = "gather scatter scatter_add"
METHODS = "gather scatter scatter_add"
INPLACE = "scatter_ scatter_add_"

_INT64 = np.dtype(np.int64)


def places_in(op: str, shape: Any, dim: int, index: Any) -> Any:
    """The flat indices, in an array of a shape, of the elements that `gather` reads; checks bounds."""
    if _are_few(index):
        return _few_places(op, shape, dim, index).reshape(-1)
    d = wrap_dim(dim, len(shape))
    check_index(op, index)
    if not prod(index.shape):
        return np.zeros((0,), dtype=np.int64)
    shape, index = tuple(shape) or (1,), reshaped(index, tuple(index.shape) or (1,))
    if index.dtype != np.int64:
        index = np.astype(index, np.int64)
    _check_shapes(op, shape, d, index.shape)
    check_bounds(index, d, shape[d])
    return places_along(index, d, shape)


def _are_few(index: Any) -> bool:
    """Whether an index is so small that caching what depends on shapes only pays."""
    return type(index) is _array_type and 0 < index.size < SMALL and index.ndim > 0 and index.dtype is _INT64


def _few_places(op: str, shape: Any, dim: int, index: Any) -> Any:
    """`places_in` for a small index (see `_are_few`), in its shape."""
    if type(dim) is not int or not shape or type(shape) is not tuple:
        dim, shape = wrap_dim(dim, len(shape)), tuple(shape) or (1,)
    d, size, stride, starts = _few_along(op, shape, dim, index.shape)
    check_bounds(index, d, size)
    if len(shape) == 1:
        return index
    return starts + index if stride == 1 else starts + index * stride


@lru_cache(512)
def _few_along(op: str, shape: Any, dim: int, wanted: Any) -> tuple[int, int, int, Any]:
    """The dimension counted from the front, its size and its `steps_along`; raises if `wanted` does not fit `shape`."""
    d = wrap_dim(dim, len(shape))
    _check_shapes(op, shape, d, wanted)
    return (d, shape[d], *steps_along(shape, d, wanted))


def _check_shapes(op: str, shape: Any, d: int, wanted: Any) -> None:
    """Raise unless an index of the shape `wanted` fits `shape` apart from dimension `d`."""
    if len(shape) != len(wanted):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {'input' if op == 'gather' else 'self'} tensor: "
            f"{op}() got an index of shape "
            f"{list(wanted)} for a tensor of shape {list(shape)}"
        )
    for k, (n, m) in enumerate(zip(wanted, shape, strict=True)):
        if k != d and n > m:
            raise RuntimeError(
                f"Size does not match at dimension {k} expected index {list(wanted)} to be no larger than self "
                f"{list(shape)} apart from dimension {d} ({op}())"
            )


@linear(
    input=lambda g, input_shape, dim, index, sparse_grad: _spread(g, index, input_shape, dim, sparse_grad),
    data_movement=True,
    refuses="unsigned",
    axis=True,
    overlap="apart",
)
def gather(input: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Any:
    """`out[i][j] = input[index[i][j]][j]` for `dim=0`, `input[i][index[i][j]]` for `dim=1`, and so on.

    Args:
        dim: the dimension that is indexed.
        index: the indices, of dtype int64, with as many dimensions as `input`; the result has its shape. In dimensions
            other than `dim` it may be smaller than `input`, not larger.
        sparse_grad: whether the gradient by `input` is a sparse tensor.

    Raises:
        RuntimeError: for an index out of bounds, of another rank or dtype, or larger than `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0, 0], [1, 0]]))
        tensor([[1, 1],
                [4, 3]])
    """
    if _are_few(index) and is_numpy(input):
        return input.take(as_intp(_few_places("gather", input.shape, dim, index)))
    if _in_rows(input, dim, index):
        return take_in_rows(input, index)
    vector = vector_along(input, dim, index)
    if vector is not None:
        return np.take(input, as_intp(vector), axis=dim)
    places = places_in("gather", input.shape, dim, index)
    if is_numpy(input):
        return input.reshape(-1).take(as_intp(places)).reshape(index.shape)
    return np.reshape(np.take(flat_of(input), as_intp(places), axis=0), index.shape)


def _in_rows(input: Any, dim: int, index: Any) -> bool:
    """Whether `gather` is along the last dimension of NumPy arrays of equal leading shape; raises as `places_in`."""
    ndim = len(input.shape)
    if ndim < 2 or dim not in (-1, ndim - 1) or not is_numpy(input) or not is_numpy(index) or _are_few(index):
        return False
    if input.shape[:-1] != index.shape[:-1] or not index.size:
        return False
    if index.dtype != np.int64 or not input.flags.c_contiguous:
        return False
    check_bounds(index, ndim - 1, input.shape[-1])
    return True


def _spread(g: Any, index: Any, shape: Any, dim: int, sparse: bool) -> Any:
    """The gradient of the input of `gather`: a dense or sparse tensor."""
    if sparse:
        from ..sparse.conversions import gather_sparse_backward

        return gather_sparse_backward(g, index, shape, dim)
    return _gather_backward(g, index, shape, dim)


@linear(input=lambda g, index, dim: gather(g, dim, index), data_movement=True, name="gather_backward")
def _gather_backward(input: Array, index: Array, shape: Any = (), dim: int = 0) -> Any:
    """Zeros of `shape` with `input` added where `gather` reads."""
    values = widened(input)
    if _are_few(index) and is_numpy(values) and len(shape) == values.ndim:
        places = _few_places("gather", shape, dim, index)
        out = np.zeros(shape, values.dtype)
        np.add.at(out.reshape(-1), places.reshape(-1), values.reshape(-1))
        return narrowed(out, input.dtype)
    if is_numpy(values) and values.flags.c_contiguous and len(shape) == values.ndim:
        out = np.zeros(shape, values.dtype)
        if _in_rows(out, dim, index):
            add_in_rows(values, out, index)
            return narrowed(out, input.dtype)
    places = places_in("gather", shape, dim, index)
    return into_zeros(input, shape, lambda out, values: add_flat(out, places, values))


# -- scatter --


@write_op(
    input=lambda g, dim, index: _scatter_value(g, dim, index, 0),
    src=lambda g, dim, index: gather(g, dim, index),
    name="scatter",
)
def _scatter(input: Array, dim: int, index: Array, src: Array) -> Any:
    """`input` with `src`, of the shape of `index`, where `gather` would read."""
    return set_places(fresh(input), dim, index, src)


def set_places(array: Any, dim: int, index: Any, src: Any) -> Any:
    if _are_few(index) and is_numpy(array) and array.flags.c_contiguous and src.shape == index.shape:
        array.reshape(-1)[_few_places("scatter", array.shape, dim, index)] = src
        return array
    if array.dtype == src.dtype and is_numpy(src) and src.shape == index.shape and _in_rows(array, dim, index):
        set_in_rows(np.ascontiguousarray(src), array, index)
        return array
    places = places_in("scatter", array.shape, dim, index)
    return store(array, set_flat(flat_of(array), places, reshaped(src, (-1,))))


@number_op(
    input=lambda g, dim, index: _scatter_value(g, dim, index, 0),
    jvp=lambda input_t, dim, index: _scatter_value(input_t, dim, index, 0),
    name="scatter_value",
    node="ScatterBackward1",
)
def _scatter_value(input: Array, dim: int, index: Array, value: Any = 0) -> Any:
    """`input` with one number where `gather` would read."""
    return set_value(fresh(input), dim, index, value)


def set_value(array: Any, dim: int, index: Any, value: Any) -> Any:
    if _are_few(index) and is_numpy(array) and array.flags.c_contiguous:
        array.reshape(-1)[_few_places("scatter", array.shape, dim, index)] = as_dtype(value, array.dtype)
        return array
    vector = vector_along(array, dim, index)
    if vector is not None:
        array[(*(slice(None),) * (dim % array.ndim), vector)] = as_dtype(value, array.dtype)
        return array
    places = places_in("scatter", array.shape, dim, index)
    return store(array, set_flat(flat_of(array), places, as_dtype(value, array.dtype)))


@write_op(input=lambda g: g, src=lambda g, dim, index: gather(g, dim, index), name="scatter_add")
def _scatter_add(input: Array, dim: int, index: Array, src: Array) -> Any:
    """`input` with `src`, of the shape of `index`, added where `gather` would read."""
    return add_places(fresh(input), dim, index, src)


def add_places(array: Any, dim: int, index: Any, src: Any) -> Any:
    if _are_few(index) and is_numpy(array) and array.dtype is src.dtype and array.itemsize > 2:
        if array.flags.c_contiguous and src.shape == index.shape:
            places = _few_places("scatter_add", array.shape, dim, index)
            np.add.at(array.reshape(-1), places.reshape(-1), src.reshape(-1))
            return array
    if array.dtype == src.dtype and is_numpy(src) and not spec_of(src).dtype.low and _in_rows(array, dim, index):
        add_in_rows(np.ascontiguousarray(np.broadcast_to(src, index.shape)), array, index)
        return array
    vector = vector_along(array, dim, index) if is_numpy(src) and src.dtype == array.dtype else None
    if vector is not None and src.shape == index.shape and not spec_of(src).dtype.low:
        add_along(array.reshape(-1), array.shape, dim % array.ndim, vector, src)
        return array
    places = places_in("scatter_add", array.shape, dim, index)
    return store(array, add_flat(widened(flat_of(array)), places, widened(src)))


def source_for(op: str, input: Any, dim: int, index: Any, src: Any) -> Any:
    """The part of `src` that `index` uses, after the checks of shapes and dtypes."""
    if isinstance(src, Tensor) and isinstance(index, Tensor) and src._shape == index._shape:
        if src._spec is input._spec:
            return src
    if not hasattr(src, "shape"):
        raise TypeError(f"{op}(): argument 'src' (position 4) must be Tensor, not {type(src).__name__}")
    if not hasattr(index, "shape"):
        raise TypeError(f"{op}(): argument 'index' (position 3) must be Tensor, not {type(index).__name__}")
    if src.dtype != input.dtype:
        raise RuntimeError(
            f"scatter(): Expected self.dtype to be equal to src.dtype, but {op}() got {input.dtype} and {src.dtype}"
        )
    wanted, given = tuple(index.shape), tuple(src.shape)
    if wanted == given:
        return src
    if not prod(wanted):
        return late.reshape(late._slice(late.reshape(src, (prod(given),)), (slice(0, 0),)), wanted)
    if len(wanted or (1,)) != len(given or (1,)):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as src tensor: {op}() got index {list(wanted)} and "
            f"src {list(given)}"
        )
    if any(n > m for n, m in zip(wanted or (1,), given or (1,), strict=True)):
        raise RuntimeError(
            f"Expected index {list(wanted)} to be no larger than self {list(input.shape)} apart from dimension {dim} "
            f"and to be no larger size than src {list(given)}"
        )
    part = late._slice(src, tuple(slice(0, n) for n in wanted)) if len(wanted) == len(given) else src
    return late.reshape(part, wanted)


def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None,
    *, value: Any = None, reduce: str | None = None, out: Any = None,
) -> Tensor:  # fmt: skip
    """`input` with the elements of `src`, or one number, written at `index` along `dim`.

    `out[index[i][j]][j] = src[i][j]` for `dim=0`: the inverse of `gather`. For repeated indices the
    last element is kept.

    Args:
        dim: the dimension that is indexed.
        index: the indices, of dtype int64, with as many dimensions as `input`.
        src: the elements to write: a tensor of the dtype of `input`, at least as large as `index`; or a number.
        value: a number to write, by name, instead of `src`.
        reduce: "add" the element to the one in `input`, or "multiply" them. (With a tensor as `src`, torch recommends
            `scatter_reduce`; here both have a gradient.)

    Raises:
        RuntimeError: for an index out of bounds, shapes that do not fit, or another dtype of `src`.

    Example::

        >>> import gradpack as torch
        >>> torch.scatter(torch.zeros(2, 3), 1, torch.tensor([[0], [2]]), 5.0)
        tensor([[5., 0., 0.],
                [0., 0., 5.]])
    """
    if type(src) is type(index) is Tensor and src._shape == index._shape and value is reduce is out is None:
        return _scatter(input, dim, index, source_for("scatter", input, dim, index, src))
    op, args = _scatter_call("scatter", input, dim, index, src, value, reduce)
    return op(*args) if out is None else op(*args, out=out)


def _method_scatter_(
    self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """In-place form of `scatter`: writes only the elements that `index` names."""
    op, args = _scatter_call("scatter_", self, dim, index, src, value, reduce)
    keep_apart(self, index, src)
    if op is late._scatter_prod:
        return inplace(op.op, "scatter_", op.op.bind(args, {}))
    return write_part(op.op, "scatter_", list(args), _KERNELS[op])


def _scatter_call(name: str, input: Any, dim: int, index: Any, src: Any, value: Any, reduce: str | None) -> Any:
    """The operation that a call of `scatter` dispatches to, and its arguments."""
    if (src is None) == (value is None):
        raise TypeError(f"{name}() takes either src, a tensor, or value, a number")
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError(f"reduce argument must be either add or multiply, got {reduce}.")
    if not hasattr(index, "shape"):
        raise TypeError(f"{name}(): argument 'index' (position 3) must be Tensor, not {type(index).__name__}")
    if isinstance(value, Tensor):
        value = value.item()  # 0-dim tensors count as numbers, as in torch
    number = src if value is None else value
    if not hasattr(number, "shape"):
        if not isinstance(number, int | float | complex):
            raise TypeError(f"{name}(): argument 'src' (position 4) must be Tensor, not {type(number).__name__}")
        if isinstance(input, Tensor):
            number = number_for(number, input._spec.dtype)
        if reduce is None:
            return _scatter_value, (input, dim, index, number)
        src = late.expand(number_tensor(number, input), tuple(index.shape))
    elif reduce is not None:
        warnings.warn(
            "the reduce argument of scatter with a tensor as src is deprecated: use scatter_reduce for more options",
            UserWarning,
            stacklevel=depth_of_user(),
        )
    source = source_for(name, input, dim, index, number if reduce is None else src)
    if reduce is None:
        return _scatter, (input, dim, index, source)
    return (_scatter_add if reduce == "add" else late._scatter_prod), (input, dim, index, source)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Any = None) -> Tensor:
    """`input` with the elements of `src` added at `index` along `dim`.

    Args:
        dim: the dimension that is indexed.
        index: the indices, of dtype int64, with as many dimensions as `input`.
        src: the elements to add: of the dtype of `input`, and at least as large as `index`.

    Example::

        >>> import gradpack as torch
        >>> torch.scatter_add(torch.zeros(3), 0, torch.tensor([0, 0, 2]), torch.tensor([1.0, 2.0, 3.0]))
        tensor([3., 0., 3.])
    """
    args = (input, dim, index, source_for("scatter_add", input, dim, index, src))
    return _scatter_add(*args) if out is None else _scatter_add(*args, out=out)


def _method_scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """In-place form of `scatter_add`."""
    values = [self, dim, index, source_for("scatter_add_", self, dim, index, src)]
    keep_apart(self, index, src)
    return write_part(_scatter_add.op, "scatter_add_", values, add_places)


_KERNELS = {_scatter: set_places, _scatter_value: set_value, _scatter_add: add_places}
