"""Batches of a dataset, one after the other, in this process."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

from ...ops.random.generator import Generator
from ._utils.collate import default_collate, default_convert
from ._utils.worker import get_worker_info
from .dataset import Dataset, IterableDataset, examples_of
from .sampler import BatchSampler, RandomSampler, SequentialSampler

T_co = TypeVar("T_co", covariant=True)

_FIXED = frozenset("batch_size batch_sampler sampler drop_last dataset persistent_workers".split())
_told = False  # that workers are not started, once in a process


class DataLoader(Generic[T_co]):
    """Goes through a dataset in batches.

    Args:
        dataset: with `__getitem__` and `__len__`, or an `IterableDataset`.
        batch_size: how many examples a batch has; None for examples as they are.
        shuffle: in an order drawn anew each time.
        sampler: indices in the order wanted, instead of `shuffle`.
        batch_sampler: lists of indices, instead of `batch_size`, `shuffle`, `sampler` and `drop_last`.
        num_workers: checked; whatever it is, this process reads, and says so once.
        collate_fn: makes a batch of a list of examples: `default_collate`, or `default_convert` without batches.
        drop_last: leave out a last batch that is not full.
        generator: draws the order.
        pin_memory, timeout, worker_init_fn, multiprocessing_context, prefetch_factor, persistent_workers,
        pin_memory_device, in_order: of workers and devices that are not there; accepted.

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
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self._length: int | None = None  # the length that an iterable dataset reported

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and "_length" in vars(self):  # which is set last
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        return _Batches(self)

    def __len__(self) -> int:
        """Return the number of batches.

        Raises:
            TypeError: for an iterable dataset that does not say how long it is.
        """
        if not self._iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        self._length = n = len(self.dataset)
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
    global _told
    if workers and not _told:
        _told = True
        warnings.warn(
            f"DataLoader: num_workers={workers}, but this process reads the data itself: worker processes are not "
            "started, and worker_init_fn is not called",
            stacklevel=3,
        )


class _Nones:
    """Endless iterator of None, for datasets that order themselves."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class _Batches(Iterator[Any]):
    """Iterator over one epoch of the dataset."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._loader = loader
        self._given = 0
        if loader._iterable:
            self._examples = iter(loader.dataset)
        else:
            self._indices = iter(loader.sampler if loader.batch_sampler is None else loader.batch_sampler)

    def __len__(self) -> int:
        return len(self._loader)

    def __next__(self) -> Any:
        loader = self._loader
        if loader._iterable:
            return loader.collate_fn(self._next_of_iterable())
        wanted = next(self._indices)
        found = loader.dataset[wanted] if loader.batch_sampler is None else examples_of(loader.dataset, wanted)
        return loader.collate_fn(found)

    def _next_of_iterable(self) -> Any:
        loader = self._loader
        if loader.batch_size is None:
            found = next(self._examples)
        else:
            found = list(islice(self._examples, loader.batch_size))
            if not found or (loader.drop_last and len(found) < loader.batch_size):
                raise StopIteration
        self._given += 1
        if loader._length is not None and self._given > loader._length:
            warnings.warn(
                f"Length of IterableDataset {loader.dataset} was reported to be {loader._length} (when accessing "
                f"len(dataloader)), but {self._given} samples have been fetched. ",
                stacklevel=3,
            )
        return found


__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]
