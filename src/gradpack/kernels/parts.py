"""Kernels on parts of their arrays, over all cores.

How arrays are divided, and the order in which sums are added up, follow from the shapes alone: so results do not depend
on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.blas import on_one_thread
from ..base.pool import split

if TYPE_CHECKING:
    from .table import Kernel

_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library


def run_in_parts(kernel: Kernel, run: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return `run(*args)`, computed for parts of the first dimension of arrays."""
    first = args[0]
    size = first.shape[0]
    count = min(size, -(-first.size // kernel.part))
    if count < 2 or (first.ndim < 2 and "r" in kernel.results):
        return on_one_thread(run, *args)
    step, found = -(-size // count), _Results(size, kernel.results)
    divided = [
        i < kernel.arrays and type(a) is _array_type and a.ndim == first.ndim and a.shape[0] == size
        for i, a in enumerate(args)
    ]

    def work(low: int, high: int) -> None:
        given = [a[low:high] if is_divided else a for a, is_divided in zip(args, divided, strict=True)]
        found.take(low, high, run(*given))

    on_one_thread(split, work, size, step)
    return found.whole()


class _Results:
    """The results of a kernel, put together from parts.

    Args:
        size: the length of the first dimension of the whole.
        kinds: a letter for each result: `Kernel.results`.
    """

    def __init__(self, size: int, kinds: str) -> None:
        self.size, self.kinds = size, kinds
        self.joined: dict[int, Any] = {}
        self.sums: dict[int, Any] = {}
        self.none = False

    def take(self, low: int, high: int, made: Any) -> None:
        """Take the results for the part from `low` to `high`."""
        if made is NotImplemented:
            self.none = True
            return
        rest = []
        for i, (kind, array) in enumerate(zip(self.kinds, made if type(made) is tuple else (made,), strict=True)):
            if kind != "s" and array is not None:
                whole = self.joined.get(i)
                if whole is None:
                    whole = self.joined.setdefault(i, np.empty((self.size, *array.shape[1:]), array.dtype))
                whole[low:high] = array
                array = None
            rest.append(array)
        self.sums[low] = rest

    def whole(self) -> Any:
        """Return the results."""
        if self.none:
            return NotImplemented
        parts = [self.sums[low] for low in sorted(self.sums)]
        made = tuple(
            self.joined.get(i) if column[0] is None else reduce(add, column)
            for i, column in enumerate(zip(*parts, strict=True))
        )
        return made if len(self.kinds) > 1 else made[0]
