"""Collating examples into batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from ....base.dtypes import float64
from ....core.tensor import Tensor
from ....ops.create.create import as_tensor, tensor
from ....ops.shape.join import stack


def default_convert(data: Any) -> Any:
    """NumPy arrays and numbers in nested containers as tensors; all else as it is. Tuples become lists.

    Args:
        data: an example: an array, a NumPy number, nested containers of them, or anything else.

    Example::

        >>> import numpy as np
        >>> from gradpack.utils.data import default_convert
        >>> default_convert({"x": np.ones(2), "y": "text"})
        {'x': tensor([1., 1.], dtype=gradpack.float64), 'y': 'text'}
    """
    if isinstance(data, np.ndarray | np.generic):
        return data if data.dtype.kind in "SUO" else as_tensor(data)
    if isinstance(data, Tensor | str | bytes):
        return data
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, Sequence):
        return _like(data, [default_convert(value) for value in data])
    return data


def default_collate(batch: Any) -> Any:
    """One batch out of a list of examples: tensors stacked, numbers as a tensor, containers item by item.

    Floats become float64, integers int64; strings stay a list.

    Args:
        batch: the examples: a list.

    Raises:
        TypeError: for examples of any other type.
        RuntimeError: for sequences of different lengths.

    Example::

        >>> from gradpack.utils.data import default_collate
        >>> default_collate([{"x": 1, "name": "a"}, {"x": 2, "name": "b"}])
        {'x': tensor([1, 2]), 'name': ['a', 'b']}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Any, *, collate_fn_map: dict[Any, Callable[..., Any]] | None = None) -> Any:
    """Collate as `default_collate` does, with a function for each type, or tuple of types, of examples."""
    first = batch[0]
    kinds = collate_fn_map or {}
    found = kinds.get(type(first)) or next((f for kind, f in kinds.items() if isinstance(first, kind)), None)
    if found is not None:
        return found(batch, collate_fn_map=collate_fn_map)

    def again(items: Any) -> Any:
        return collate(items, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _like(first, {key: again([example[key] for example in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(again(items) for items in zip(*batch, strict=True)))
    if isinstance(first, Sequence) and not isinstance(first, str | bytes):
        if any(len(example) != len(first) for example in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [again(items) for items in zip(*batch, strict=True)]
        return columns if isinstance(first, tuple) else _like(first, columns)
    raise TypeError(_refused(type(first)))


def _like(model: Any, items: Any) -> Any:
    """The items in a container of the type of `model`, where one can be made; else in a dict or a list."""
    kind = type(model)
    if kind is type(items) or kind is tuple:
        return items
    try:
        made = copy(model)
        if isinstance(items, dict):
            made.update(items)
        else:
            made[:] = items
    except (TypeError, AttributeError):
        try:
            return kind(items)
        except TypeError:
            return items
    return made


def _refused(kind: Any) -> str:
    return (
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{kind}. Give collate_fn a function that makes a batch of these"
    )


def collate_tensor_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Tensors, stacked."""
    return stack(list(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """NumPy arrays as one tensor."""
    if batch[0].dtype.kind in "SUO":
        raise TypeError(_refused(batch[0].dtype))
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """NumPy numbers as one tensor."""
    return as_tensor(np.array(list(batch)))


def collate_float_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Floats as a float64 tensor."""
    return tensor(list(batch), dtype=float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Integers as a tensor."""
    return tensor(list(batch))


def collate_str_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """Strings as they are, in a list."""
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]
