"""Changes in place of the rows of matrices, each by a number of its own."""

from __future__ import annotations

from typing import Any

import numpy as np


def add_repeated(matrix: Any, column: Any) -> None:
    """`matrix[k] += column[k]`."""
    np.add(matrix, repeated(column, np.empty_like(matrix)), out=matrix)


def repeated(column: Any, out: Any) -> Any:
    """Fill each row of `out` with its element of a column.

    As a product of matrices with two columns and two rows, that takes BLAS a third of the time of an operation in
    which NumPy repeats a column, and a tenth of that of a product with one.
    """
    pair = np.zeros((len(column), 2), out.dtype)
    pair[:, 0] = column
    return np.matmul(pair, np.ones((2, out.shape[1]), out.dtype), out=out)
