"""Loops over batches of which some ranks have more than others."""

from __future__ import annotations

from typing import Any

from ... import distributed as dist
from ...core.tensor import Tensor
from ...ops.create.create import tensor


def total(group: Any, value: int, op: Any = dist.ReduceOp.SUM) -> int:
    """Return the sum, or another reduction, of a number of each rank."""
    made: Tensor = tensor(value)
    dist.all_reduce(made, op, group)
    return int(made)


class Join:
    """Context manager: see `DistributedDataParallel.join`.

    A rank that has left calls `shadow` of its model in each step of the others, and `end_together` at the end.
    """

    def __init__(self, model: Any, divide_by_all: bool, enable: bool, throw: bool) -> None:
        self._model, self._divide_by_all, self._enable, self._throw = model, divide_by_all, enable, throw
        self._group: dist.ProcessGroup = model.process_group

    def __enter__(self) -> None:
        self._model.joining = self if self._enable else None

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        self._model.joining, self._model.reducer.divisor = None, self._group.size()
        if kind is not None or not self._enable:
            return
        last = self._group.rank()
        while total(self._group, 0):
            if self._throw:
                total(self._group, 1)
                raise RuntimeError(f"Rank {dist.get_rank()} exhausted all inputs.")
            self._model.shadow()
            last = -1
        self._model.end_together(total(self._group, last, dist.ReduceOp.MAX))

    def step(self, training: bool) -> None:
        """Begin a step, and tell the ranks that have left what is going to be called.

        Raises:
            RuntimeError: if a rank has left, and all are to end then.
        """
        there = total(self._group, 1)
        if self._throw and total(self._group, 0):
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        self._model.reducer.divisor = self._group.size() if self._divide_by_all else there
        self._model._sync_buffers(self._group.rank())
        total(self._group, int(training))
