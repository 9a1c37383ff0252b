"""Files that a profiler writes: traces for TensorBoard, and timelines of the memory held by tensors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from ..autograd.profiling.trace import write_json
from ..declare.generate.profiling import MEMORY


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[Any], None]:
    """A callback for `profile(on_trace_ready=...)` that writes each trace into a folder, as TensorBoard wants it.

    Args:
        dir_name: the folder, made if it is not there.
        worker_name: the beginning of the names of files: by default `<host>_<process>`.
        use_gzip: compress the files.
        use_python_export: accepted, and of no effect: traces are written in Python anyway.

    Raises:
        RuntimeError: when it is called, if the folder cannot be made.

    Example::

        >>> import gradpack as torch
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     handler = torch.profiler.tensorboard_trace_handler(folder, worker_name="worker")
        ...     with torch.profiler.profile(on_trace_ready=handler):
        ...         _ = torch.ones(3) * 2
        ...     [name] = os.listdir(folder)
        >>> name.startswith("worker."), name.endswith(".pt.trace.json")
        (True, True)
    """
    import socket
    import time

    def handler(prof: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name), use_python_export=use_python_export)

    return handler


_KINDS = 8  # parameter, state of optimisers, input, temporary, activation, gradient, of autograd, unknown


def write_memory_timeline(path: str, records: Iterable[Any], place: str) -> None:
    """Write the file of `profile.export_memory_timeline` from the memory records of one kind of device."""
    changes = sorted((r[2], r[6]) for r in records if r[0] == MEMORY and r[1] == place)
    data: list[Any]
    if path.endswith("raw.json.gz"):
        data = [[time, 1 if change > 0 else 3, abs(change), _KINDS - 1] for time, change in changes]
    else:
        held, sizes = 0, []
        for _, change in changes:
            held += change
            sizes.append([0] * _KINDS + [max(held, 0)])
        data = [[time for time, _ in changes], sizes]
    write_json(path, data)
