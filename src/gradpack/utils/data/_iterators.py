"""Iterators over the batches of a `DataLoader`, in this process or with worker processes."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import time
import warnings
import weakref
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from ...base.dtypes import int64
from ...base.exception_wrapper import ExceptionWrapper
from ...ops.create.fill import empty
from ._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher
from ._utils.worker import Task, _IterableDatasetStopIteration, _ResumeIteration, _worker_loop

if TYPE_CHECKING:
    from .dataloader import DataLoader

_PATIENCE = 5.0  # seconds until a worker that does not end is terminated


class _DatasetKind:
    """Whether a dataset is read by index or iterated over."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> Any:
        """Make what reads the examples of a batch."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class _BaseDataLoaderIter(Iterator[Any]):
    """An epoch of a loader."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._dataset, self._dataset_kind = loader.dataset, loader._dataset_kind
        self._auto_collation, self._drop_last = loader._auto_collation, loader.drop_last
        self._index_sampler, self._num_workers = loader._index_sampler, loader.num_workers
        self._timeout, self._collate_fn = loader.timeout, loader.collate_fn
        self._persistent_workers = loader.persistent_workers
        self._base_seed = 0
        _BaseDataLoaderIter._reset(self, loader)

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def _make_fetcher(self) -> Any:
        return _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        said = self._IterableDataset_len_called
        if self._dataset_kind == _DatasetKind.Iterable and said is not None and self._num_yielded > said:
            text = (
                f"Length of IterableDataset {self._dataset} was reported to be {said}(when accessing "
                f"len(dataloader)), but {self._num_yielded} samples have been fetched. "
            )
            if self._num_workers:
                text += (
                    "For multiprocessing data-loading, this could be caused by not properly configuring the "
                    "IterableDataset replica at each worker: let each worker read a part of it, see get_worker_info()."
                )
            warnings.warn(text, stacklevel=2)
        return data

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Reads in this process."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._dataset_fetcher = self._make_fetcher()

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(self._next_index())


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Has worker processes read ahead, and gives batches in the order of the sampler.

    Each worker has a connection, over which it gets pairs of a number and indices, and sends back pairs of the number
    and data. A worker ends when its connection is closed, also because this process is gone.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._base_seed = int(empty((), dtype=int64).random_(generator=loader.generator).item())
        self._prefetch_factor, self._in_order = loader.prefetch_factor or 1, loader.in_order
        context: Any = loader.multiprocessing_context or multiprocessing.get_context()
        forks = context.get_start_method() == "fork"
        self._workers: list[Any] = []
        self._connections: list[Any] = []
        self._stop = weakref.finalize(self, _end, self._workers, self._connections, os.getpid())
        # Not this object: workers that hold it would keep it, and it them.
        make = partial(
            _DatasetKind.create_fetcher,
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
        )
        iterable = self._dataset_kind == _DatasetKind.Iterable
        for i in range(self._num_workers):
            here, there = context.Pipe()
            self._connections.append(here)
            closed = [*self._connections] if forks else []
            task = Task(
                make, self._dataset, self._base_seed, loader.worker_init_fn, i, self._num_workers, iterable, closed
            )
            worker = context.Process(target=_worker_loop, args=(task, there), daemon=True)
            try:
                worker.start()
            except BaseException:
                self._shutdown_workers()
                raise
            finally:
                there.close()
            self._workers.append(worker)
        self._begin()

    def _begin(self) -> None:
        """Forget an epoch and ask for the first batches."""
        self._send_idx = self._rcvd_idx = 0
        self._tasks: dict[int, Any] = {}  # by number: the worker, and the data once it is here, in a list
        self._active = [True] * self._num_workers
        self._turns = itertools.cycle(range(self._num_workers))
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        for connection in self._connections:
            connection.send(_ResumeIteration())
        waiting = len(self._connections)
        while waiting:
            waiting -= isinstance(self._get_data()[0], _ResumeIteration)
        self._begin()

    def _try_put_index(self) -> None:
        """Give the next indices to the next worker that has not too much to do."""
        outstanding = [len(held) == 1 for held in self._tasks.values()]
        if sum(outstanding) >= self._prefetch_factor * self._num_workers:
            return
        try:
            index = self._next_index()
        except StopIteration:
            return
        for worker in itertools.islice(self._turns, self._num_workers):
            busy = sum(held == [worker] for held in self._tasks.values())
            if self._active[worker] and (self._in_order or busy < self._prefetch_factor):
                break
        else:
            return
        try:
            self._connections[worker].send((self._send_idx, index))
        except (BrokenPipeError, ConnectionResetError):
            raise self._died() from None
        self._tasks[self._send_idx] = [worker]
        self._send_idx += 1

    def _next_data(self) -> Any:
        try:
            return self._wait_for_data()
        except (KeyboardInterrupt, SystemExit):
            self._shutdown_workers()
            raise

    def _wait_for_data(self) -> Any:
        while True:
            if not self._stop.alive:
                raise StopIteration
            while self._rcvd_idx < self._send_idx:  # beyond what workers with no more examples were asked for
                held = self._tasks.get(self._rcvd_idx)
                if held is not None and (len(held) == 2 or self._active[held[0]]):
                    break
                self._tasks.pop(self._rcvd_idx, None)
                self._rcvd_idx += 1
            else:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            if len(self._tasks[self._rcvd_idx]) == 2:
                return self._process(self._rcvd_idx, self._tasks[self._rcvd_idx][1])
            number, data = self._get_data()
            if isinstance(data, _IterableDatasetStopIteration):
                self._active[data.worker_id] = False
                self._try_put_index()
            elif number == self._rcvd_idx or not self._in_order:
                return self._process(number, data)
            else:
                self._tasks[number].append(data)

    def _process(self, number: int, data: Any) -> Any:
        del self._tasks[number]
        self._rcvd_idx += number == self._rcvd_idx
        self._try_put_index()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    def _get_data(self) -> Any:
        """Wait for what a worker sends.

        Raises:
            RuntimeError: if that takes longer than `timeout`, or a worker has ended.
        """
        ready = wait(self._connections, self._timeout or None)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        first: Any = ready[0]
        try:
            found: Any = first.recv()
        except (EOFError, ConnectionResetError):
            raise self._died() from None
        return found

    def _died(self) -> RuntimeError:
        """Stop, and say which workers ended without being told to."""
        for worker in self._workers:
            worker.join(0.1)
        ended = [worker for worker in self._workers if not worker.is_alive()]
        codes = ", ".join(f"{worker.pid} with exit code {worker.exitcode}" for worker in ended)
        self._shutdown_workers()
        return RuntimeError(f"DataLoader worker (pid(s) {codes}) exited unexpectedly")

    def _shutdown_workers(self) -> None:
        self._stop()


def _end(workers: list[Any], connections: list[Any], owner: int) -> None:
    """End worker processes, and wait until they are gone."""
    if os.getpid() != owner:  # a fork of the process that has them
        return
    for connection in connections:
        with suppress(OSError):
            connection.close()
    until = time.monotonic() + _PATIENCE
    for worker in workers:
        worker.join(max(0.0, until - time.monotonic()))
        if worker.is_alive():
            worker.terminate()
            worker.join()
        worker.close()
