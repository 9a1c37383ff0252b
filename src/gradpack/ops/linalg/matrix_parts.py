"""Parts of matrices that formulas of derivatives are made of, for arrays and tensors."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ...base import late
from ...core.tensor import Tensor
from ...declare.batching.batch_tensor import is_batched
from ..create.making import beside
from ..pointwise.operands import is_complex


def array_of(value: Any) -> Any:
    """Return the array of a tensor (of all examples if batched); an array as it is."""
    while is_batched(value):  # to look at values of all examples
        value = value._data.value
    return value._data if isinstance(value, Tensor) else value


def adjoint_of(x: Any) -> Any:
    """The conjugate transpose of matrices."""
    return late.conj(x).mT


def diagonal_of(x: Any) -> Any:
    """The main diagonals of matrices."""
    return late.diagonal(x, 0, -2, -1)


def identity(n: int, like: Any, columns: int | None = None) -> Any:
    """Return an identity matrix with the type and dtype of `like`."""
    if isinstance(like, Tensor):
        return beside(np.eye(n, columns, dtype=like._spec.native), like)
    return np.eye(n, columns, dtype=like.dtype)


def as_like(x: Any, other: Any) -> Any:
    """Convert real `x` to complex if `other` is complex."""
    if is_complex(other) and not is_complex(x):
        return x * (1 + 0j)
    return x


def sum_of(*terms: Any) -> Any:
    """The sum of those terms that are not None; None of none."""
    there = [t for t in terms if t is not None]
    return reduce(add, there) if there else None


def padded(x: Any, rows: int = 0, columns: int = 0) -> Any:
    """Matrices with as many rows of zeros below, and columns of zeros on the right."""
    if rows:
        x = late._cat([x, late.zeros_as(x, (*x.shape[:-2], rows, x.shape[-1]))], -2)
    return late._cat([x, late.zeros_as(x, (*x.shape[:-1], columns))], -1) if columns else x


def cat_of(parts: list[Any]) -> Any:
    """Matrices side by side."""
    return late._cat(parts, -1)
