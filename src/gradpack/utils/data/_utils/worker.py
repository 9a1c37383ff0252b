"""Worker processes of `DataLoader`: what they are told, do, and send back."""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ....base.exception_wrapper import ExceptionWrapper
from ....base.threads import set_num_threads
from ....ops.random.generator import manual_seed

_worker_info: WorkerInfo | None = None


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """The number of a worker, its seed and its dataset.

    Attributes:
        id: its number, from 0.
        num_workers: how many there are.
        seed: of its random numbers: that of the loader plus its number.
        dataset: its copy of the dataset.
        rng: None; of workers that are threads.
        worker_method: that it is a process.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


def get_worker_info() -> WorkerInfo | None:
    """Return what is known of the worker process that this is; None in the main process.

    Example::

        >>> from gradpack.utils.data import get_worker_info
        >>> get_worker_info() is None
        True
    """
    return _worker_info


@dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """Says that the dataset of a worker has no more examples."""

    worker_id: int


@dataclass(frozen=True)
class _ResumeIteration:
    """Tells a worker to begin anew, and comes back as soon as it has."""

    seed: int | None = None


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Return a seed for NumPy's random numbers in a worker, another one than that of the rest."""
    import numpy as np

    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    found: list[int] = np.random.SeedSequence(words).generate_state(4).tolist()
    return found


@dataclass
class Task:
    """All that a worker is told at its start.

    Attributes:
        make_fetcher: makes what reads the dataset.
        dataset: the dataset.
        base_seed: of the loader.
        init_fn: is called first, with the number of the worker.
        id: the number of the worker.
        num_workers: how many there are.
        iterable: whether the dataset is iterated over.
        closed: ends of connections that belong to the main process, to be closed in a fork of it.
    """

    make_fetcher: Callable[[], Any]
    dataset: Any
    base_seed: int
    init_fn: Any
    id: int
    num_workers: int
    iterable: bool
    closed: list[Any]


def _worker_loop(task: Task, connection: Any) -> None:
    """Answer requests, pairs of a number and indices, until the connection is closed."""
    for end in task.closed:
        end.close()
    try:
        _begin(task)
        _answer(task, connection)
    except (KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        pass  # the main process knows, or is gone
    finally:
        connection.close()


def _begin(task: Task) -> None:
    import numpy as np

    global _worker_info
    seed = task.base_seed + task.id
    set_num_threads(1)
    random.seed(seed)
    manual_seed(seed)
    np.random.seed(_generate_state(task.base_seed, task.id))  # noqa: NPY002 - what datasets use
    _worker_info = WorkerInfo(task.id, task.num_workers, seed, task.dataset)


def _answer(task: Task, connection: Any) -> None:
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, requests), daemon=True).start()
    where = f"in DataLoader worker process {task.id}"
    fetcher: Any = None
    failed, ended = None, False
    try:
        if task.init_fn is not None:
            task.init_fn(task.id)
        fetcher = task.make_fetcher()
    except Exception:
        failed = ExceptionWrapper(where=where)
    while (request := requests.get()) is not None:
        if isinstance(request, _ResumeIteration):
            _send(connection, request, None, where)
            fetcher, ended = task.make_fetcher(), False
            continue
        if ended:  # nobody waits for it
            continue
        number, indices = request
        data: Any
        try:
            data = fetcher.fetch(indices) if failed is None else failed
        except Exception as error:
            ended = task.iterable and isinstance(error, StopIteration)
            data = _IterableDatasetStopIteration(task.id) if ended else ExceptionWrapper(where=where)
        _send(connection, number, data, where)


def _send(connection: Any, number: Any, data: Any, where: str) -> None:
    try:
        content = ForkingPickler.dumps((number, data))
    except Exception:  # the data cannot be sent to another process, or the class of an exception
        failed = data if isinstance(data, ExceptionWrapper) else ExceptionWrapper(where=where)
        failed.exc_type = RuntimeError
        content = ForkingPickler.dumps((number, failed))
    connection.send_bytes(content)


def _receive(connection: Any, requests: queue.SimpleQueue[Any]) -> None:
    """Take requests as they come, so that the main process never waits for a worker that waits for it."""
    try:
        while True:
            requests.put(connection.recv())
    except (EOFError, OSError):
        requests.put(None)
