"""Processes that hear of Ctrl-C, and do not outlive the test that started them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def children() -> Iterator[Callable[..., subprocess.Popen[Any]]]:
    """Gives what starts a process, with pipes for its output; at the end it is killed, and what it has started.

    A process inherits that SIGINT is ignored, as it is where a shell has started the tests in the background, but not
    that it is caught: so it is caught here while the process starts.
    """
    started: list[subprocess.Popen[Any]] = []
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}

    def start(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            started.append(subprocess.Popen(command, start_new_session=True, **pipes, **options))
        finally:
            signal.signal(signal.SIGINT, before)
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            _end(process)


def _end(process: subprocess.Popen[Any]) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # all of them have ended
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
