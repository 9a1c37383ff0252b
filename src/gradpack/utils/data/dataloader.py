"""Batches of a dataset, one after the other, in this process or with worker processes."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.context import BaseContext
from typing import Any, Generic, TypeVar

from ...ops.random.generator import Generator
from ._iterators import _BaseDataLoaderIter, _DatasetKind, _MultiProcessingDataLoaderIter, _SingleProcessDataLoaderIter
from ._utils.collate import default_collate, default_convert
from ._utils.worker import get_worker_info
from .dataset import Dataset, IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler

T_co = TypeVar("T_co", covariant=True)
_T = TypeVar("_T")
_worker_init_fn_t = Callable[[int], None]
_collate_fn_t = Callable[[list[_T]], Any]

_FIXED = frozenset("batch_size batch_sampler sampler drop_last dataset persistent_workers".split())


class DataLoader(Generic[T_co]):
    """Goes through a dataset in batches.

    Args:
        dataset: with `__getitem__` and `__len__`, or an `IterableDataset`.
        batch_size: how many examples a batch has; None for examples as they are.
        shuffle: in an order drawn anew each time.
        sampler: indices in the order wanted, instead of `shuffle`.
        batch_sampler: lists of indices, instead of `batch_size`, `shuffle`, `sampler` and `drop_last`.
        num_workers: how many processes read ahead; 0 for this one.
        collate_fn: makes a batch of a list of examples: `default_collate`, or `default_convert` without batches.
        drop_last: leave out a last batch that is not full.
        generator: draws the order, and the seed of workers: that of a worker is its number more.
        timeout: for how many seconds to wait for a worker; 0 for ever.
        worker_init_fn: is called in each worker first, with its number.
        multiprocessing_context: how workers start, `"fork"`, `"spawn"`, or a context of `multiprocessing`.
        prefetch_factor: how many batches each worker reads ahead, 2 if not given.
        persistent_workers: keep the workers for the next epoch.
        in_order: give batches in the order of the sampler, else as they come.
        pin_memory, pin_memory_device: of devices that are not there; accepted.

    Raises:
        ValueError: for options that contradict one another.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils.data import DataLoader, TensorDataset
        >>> for x, y in DataLoader(TensorDataset(torch.arange(3), torch.arange(3) * 10), batch_size=2):
        ...     print(x, y)
        tensor([0, 1]) tensor([ 0, 10])
        tensor([2]) tensor([20])
    """

    def __init__(
        self,
        dataset: Dataset[T_co] | Sequence[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context)
        given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            for name, value in given.items():
                if value is not None:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None and self._iterable:
            sampler = _Nones()
        elif sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.dataset: Any = dataset
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.batch_size, self.drop_last, self.collate_fn = batch_size, drop_last, collate_fn
        self.generator, self.timeout, self.in_order = generator, timeout, in_order
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.num_workers, self.persistent_workers = num_workers, persistent_workers
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context: Any = _context(multiprocessing_context)
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self._iterator: Any = None  # of persistent workers
        self._IterableDataset_len_called: int | None = None  # the length that an iterable dataset reported

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and "_IterableDataset_len_called" in vars(self):  # which is set last
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        if not self.persistent_workers:
            return self._get_iterator()
        if self._iterator is None or not self._iterator._stop.alive:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        found: Iterator[Any] = self._iterator
        return found

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if not self.num_workers:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    @property
    def _dataset_kind(self) -> int:
        return _DatasetKind.Iterable if self._iterable else _DatasetKind.Map

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def check_worker_number_rationality(self) -> None:
        """Warn if there are more workers than processors."""
        there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if self.num_workers > there:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {there}, which is smaller than what this DataLoader is going to "
                "create. Please be aware that excessive worker creation might get DataLoader running slow or even "
                "freeze, lower the worker number to avoid potential slowness/freeze if necessary.",
                stacklevel=4,
            )

    def __len__(self) -> int:
        """Return the number of batches.

        Raises:
            TypeError: for an iterable dataset that does not say how long it is.
        """
        if not self._iterable:
            return len(self._index_sampler)
        self._IterableDataset_len_called = n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def _check_workers(workers: int, timeout: float, prefetch: int | None, persistent: bool, context: Any) -> None:
    refused = {
        "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.": workers < 0,
        "timeout option should be non-negative": timeout < 0,
        "prefetch_factor option could only be specified in multiprocessing. let num_workers > 0 to enable "
        "multiprocessing, otherwise set prefetch_factor to None.": workers == 0 and prefetch is not None,
        "prefetch_factor option should be non-negative": prefetch is not None and prefetch < 0,
        "persistent_workers option needs num_workers > 0": persistent and workers == 0,
        "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
        f"num_workers={workers}": context is not None and workers == 0,
    }
    for message, is_refused in refused.items():
        if is_refused:
            raise ValueError(message)


def _context(given: Any) -> Any:
    """The context of `multiprocessing` for an argument; None for Python's own choice.

    Raises:
        ValueError: for a name that is none.
        TypeError: for what is neither a name nor a context.
    """
    if given is None or isinstance(given, BaseContext):
        return given
    if not isinstance(given, str):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={given}"
        )
    names = multiprocessing.get_all_start_methods()
    if given not in names:
        raise ValueError(
            f"multiprocessing_context option should specify a valid start method in {names!r}, but got "
            f"multiprocessing_context={given!r}"
        )
    return multiprocessing.get_context(given)


class _Nones:
    """Endless iterator of None, for datasets that order themselves."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


for _kind in (_BaseDataLoaderIter, _DatasetKind, _MultiProcessingDataLoaderIter, _SingleProcessDataLoaderIter):
    _kind.__module__ = __name__

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]
