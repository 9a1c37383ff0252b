"""Operations on sets of values: unique, unique_consecutive, mode, isin."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...backends.numpy import as_int64
from ...base import dtypes, late
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.decorators import general, nondifferentiable
from ..pointwise.operands import not_implemented
from .dimensions import axis, numpy_names
from .extremes import pick, picking
from .kernels import SMALL, _array_type, float_kind, reshaped, take_along
from .order import _order

FUNCTIONS = METHODS = "unique unique_consecutive mode isin"


# -- unique --


def _differs(ordered: Any) -> Any:
    """For each row but the first, whether it differs from the row before; NaN differs from NaN."""
    changed = ordered[1:] != ordered[:-1]
    return np.any(np.reshape(changed, (changed.shape[0], -1)), axis=1) if len(ordered.shape) > 1 else changed


def _grouped(ordered: Any) -> tuple[Any, Any]:
    """The indices where runs of equal rows begin, and for each row the number of its run."""
    n = ordered.shape[0]
    first = np.ones((n,), dtype=bool)
    if n > 1:
        first[1:] = _differs(ordered)
    return as_int64(np.flatnonzero(first)), as_int64(np.cumsum(first)) - 1


def _counts(starts: Any, n: int) -> Any:
    return np.diff(np.append(starts, n))


def _unique_rows(rows: Any, consecutive: bool) -> tuple[Any, Any, Any]:
    """The unique rows, the index of each row among them (inverse), and their counts."""
    n = rows.shape[0]
    if not n:
        return rows, np.zeros((0,), dtype=np.int64), np.zeros((0,), dtype=np.int64)
    if consecutive:
        starts, number = _grouped(rows)
        return rows[starts], number, _counts(starts, n)
    if len(rows.shape) == 1:
        order = np.argsort(rows, stable=True)
    else:
        flat = np.reshape(rows, (n, -1))
        order = np.lexsort(tuple(flat[:, k] for k in range(flat.shape[1] - 1, -1, -1)))
    ordered = rows[order]
    starts, number = _grouped(ordered)
    inverse = np.empty((n,), dtype=np.int64)
    inverse[order] = number
    return ordered[starts], inverse, _counts(starts, n)


_FIRST = np.ones(1, bool)

_finding = partial(general, results=("output", "inverse_indices", "counts"), differentiable=1, dtypes="bif", int64=True)


@_finding(input=lambda g: not_implemented("_unique2"), name="_unique2")
def _unique_all(input: Array, consecutive: bool = False, alone: bool = False) -> Any:
    """The unique elements, the index of each element among them (inverse), and their counts; or empty ones for both."""
    if alone and type(input) is _array_type and input.size:
        ordered = input.reshape(-1) if consecutive else np.sort(input, None, "stable")
        none = np.zeros(0, np.int64)
        return ordered[np.concatenate((_FIRST, ordered[1:] != ordered[:-1]))], none, none
    values, inverse, counts = _unique_rows(np.reshape(input, (-1,)), consecutive)
    if alone:
        return values, np.zeros((0,), dtype=np.int64), np.zeros((0,), dtype=np.int64)
    return values, np.reshape(inverse, input.shape), counts


@_finding(input=lambda g: not_implemented("unique_dim"), name="_unique_dim", node="UniqueDimBackward0")
def _unique_dim(input: Array, dim: int = 0, consecutive: bool = False) -> Any:
    """The unique slices along a dimension, the index of each slice among them (inverse), and their counts."""
    place = axis(dim, len(input.shape))
    if not len(input.shape):
        return np.reshape(input, (1,)), np.zeros((), dtype=np.int64), np.ones((1,), dtype=np.int64)
    if not input.size and tuple(input.shape).count(0) > 1:
        raise RuntimeError(
            f"Number of zero sized dimensions is more than one, so unique cannot be applied: shape {list(input.shape)}"
        )
    if not input.size and input.shape[place]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied: got shape "
            f"{list(input.shape)} and dim {dim}"
        )
    values, inverse, counts = _unique_rows(np.moveaxis(input, place, 0), consecutive)
    return np.moveaxis(np.ascontiguousarray(values), 0, place), inverse, counts


def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The different elements in increasing order, or the different slices along a dimension. NaN differs from NaN.

    Args:
        sorted: False allows any order; the result is sorted anyway.
        return_inverse: also return the index of each element among the unique ones.
        return_counts: also return how often each occurs.

    Raises:
        NotImplementedError: for complex numbers; and in backward, as there is no gradient.

    Example::

        >>> import gradpack as torch
        >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))
    """
    return _chosen("unique", input, return_inverse, return_counts, dim, False)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements without those equal to their predecessor; with `dim`, slices along it likewise.

    Args:
        return_inverse: return also, for each element of `input`, the index of its value in the result.
        return_counts: return also how many equal ones follow one another, for each value.
        dim: the dimension whose slices are compared; None compares the elements of the flattened tensor.

    Returns:
        The values, or a tuple of them and of what was asked for besides.

    Example::

        >>> import gradpack as torch
        >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
        tensor([1, 2, 1])
        >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]), return_inverse=True, return_counts=True)
        (tensor([1, 2, 1]), tensor([0, 0, 1, 2]), tensor([2, 1, 1]))
    """
    return _chosen("unique_consecutive", input, return_inverse, return_counts, dim, True)


def _chosen(op: str, input: Any, inverse: bool, counts: bool, dim: Any, consecutive: bool) -> Any:
    if not isinstance(input, Tensor):
        raise TypeError(f"{op}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if dim is None:
        found = _unique_all(input, consecutive, not (inverse or counts))
    else:
        found = _unique_dim(input, dim, consecutive)
    wanted = [found[0], *([found[1]] if inverse else []), *([found[2]] if counts else [])]
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


# -- mode --


@numpy_names
@picking(dtypes="bif", int64=True)
def mode(input: Array, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along a dimension, the smallest of several; a named tuple (values, indices).

    The index is that of its last occurrence.

    Raises:
        IndexError: for a dimension out of range, or of size 0.

    Example::

        >>> import gradpack as torch
        >>> torch.mode(torch.tensor([[2, 1, 2], [3, 5, 4]])).values
        tensor([2, 3])
    """
    return pick("mode", _mode, input, dim, keepdim)


def _mode(input: Any, place: int) -> tuple[Any, Any]:
    order = _order(input, place, False)
    ordered = take_along(input, order, place)
    if place != ordered.ndim - 1:
        ordered = np.moveaxis(ordered, place, -1)
    n = ordered.shape[-1]
    differs = ordered[..., 1:] != ordered[..., :-1]
    if type(differs) is _array_type and differs.all():  # each occurs once
        at: Any = (*(slice(None),) * place, slice(1))
        return take_along(input, order[at], place), order[at].copy()
    step = np.arange(n)
    last = np.ones(ordered.shape, dtype=bool)  # where a run of equal elements ends
    last[..., :-1] = differs
    first = np.ones(ordered.shape, dtype=bool)
    first[..., 1:] = differs
    begin = np.maximum.accumulate(np.where(first, step, 0), axis=-1)
    length = np.where(last, step - begin + 1, 0)
    best = np.moveaxis(np.argmax(length, axis=-1, keepdims=True), -1, place)
    indices = take_along(order, best, place)
    return take_along(input, indices, place), indices


# -- isin --


@nondifferentiable(result="bool", promote=("elements", "test_elements"), dtypes="bif", name="isin", refuses="unsigned")
def _isin(elements: Array, test_elements: Array, assume_unique: bool = False, invert: bool = False) -> Any:
    """Which of `elements` are among `test_elements`."""
    tests, found = reshaped(test_elements, (-1,)), elements
    if type(found) is type(tests) is _array_type and 0 < tests.size * found.size < SMALL:
        hit = (tests[:, None] == found.reshape(-1)).any(0).reshape(found.shape)
    elif tests.shape[0] <= 8:
        hit = np.zeros(found.shape, dtype=bool)
        for k in range(tests.shape[0]):
            hit |= found == tests[k]
    else:
        tests = np.sort(tests)
        if float_kind(tests):
            tests = tests[tests == tests]  # noqa: PLR0124 - NaN is nowhere
        place = np.searchsorted(tests, np.reshape(found, (-1,)))
        near = tests[np.minimum(place, max(tests.shape[0] - 1, 0))] if tests.shape[0] else None
        hit = np.zeros(found.shape, dtype=bool) if near is None else np.reshape(near, found.shape) == found
    return ~hit if invert else hit


def _tensors(*values: Any) -> list[Tensor]:
    """Wrap numbers as 0-dim tensors, which have lower priority in dtype promotion."""
    return [v if isinstance(v, Tensor) else late.scalar_tensor(v, dtype=dtypes.scalar_dtype(v)) for v in values]


def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False, out: Any = None
) -> Any:
    """Which of `elements` are among `test_elements`; either may be a number.

    Args:
        elements: the tensor whose elements are looked for, or a number; the result has its shape.
        test_elements: the tensor among whose elements they are looked for, or a number.
        assume_unique: that no element occurs twice; ignored.
        invert: return which are not.

    Raises:
        TypeError: for two numbers.
        RuntimeError: for bool and complex dtypes.

    Example::

        >>> import gradpack as torch
        >>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 3]))
        tensor([False,  True,  True])
    """
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise TypeError("isin() takes a tensor as elements or test_elements, or as both, and got two numbers")
    for name, value in (("elements", elements), ("test_elements", test_elements)):
        if not isinstance(value, Tensor | bool | int | float | complex):
            raise TypeError(f"isin(): argument '{name}' must be Tensor or Number, not {type(value).__name__}")
    elements, test_elements = _tensors(elements, test_elements)
    for t in elements, test_elements:
        if t._spec.dtype.category in (dtypes.BOOL, dtypes.COMPLEX):
            raise RuntimeError(f"Unsupported input type encountered for isin(): {scalar_type(t._spec.dtype)}")
    more = {} if out is None else {"out": out}
    return _isin(elements, test_elements, assume_unique, invert, **more)
