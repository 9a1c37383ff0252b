"""Run a program as several processes, the ranks of `torch.distributed`, and end all of them when one fails.

What a rank prints is shown with its number. `init_process_group()` in the program finds the other ranks. Options come
before SCRIPT; what follows it is the program's own.
"""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import IO, Any

from .problem import Problem, positive

_GRACE = 4.0  # seconds in which the other ranks may end by themselves after a failure, and say why
_STOP = 2.0  # seconds in which a rank is to end after SIGTERM


@dataclass
class Rank:
    """A rank that was started: its number, its process, and the last lines that it wrote to stderr."""

    number: int
    process: subprocess.Popen[bytes]
    errors: list[str] = field(default_factory=list)

    def is_follower(self) -> bool:
        """Whether it failed because of another rank."""
        return "DistBackendError" in "".join(self.errors[-3:])

    def end(self) -> str:
        """How its process ended, in words."""
        code = self.process.returncode
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--nproc-per-node", type=positive, metavar="N", default=1, help="processes here")
    parser.add_argument("--nnodes", type=positive, metavar="N", default=1, help="machines (default: %(default)s)")
    parser.add_argument("--node-rank", type=int, metavar="N", default=0, help="which of them this is, from 0 on")
    parser.add_argument("--master-addr", metavar="HOST", default="127.0.0.1", help="machine 0 (default: %(default)s)")
    parser.add_argument("--master-port", type=int, metavar="PORT", help="at which rank 0 listens (default: a free one)")
    parser.add_argument("--rdzv-id", metavar="ID", help="any word, the same on all machines")
    parser.add_argument("--as-torch", action="store_true", help="`import torch` in the program imports gradpack")
    parser.add_argument("-m", "--module", action="store_true", help="SCRIPT is a module or a package, as for python -m")
    parser.add_argument("script", metavar="SCRIPT", help="the program")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="what the program finds in sys.argv")


def run(args: argparse.Namespace) -> int:
    if not args.module and not os.path.exists(args.script):
        raise Problem(f"launch: there is no file {args.script}")
    if not 0 <= args.node_rank < args.nnodes:
        raise Problem(f"launch: --node-rank {args.node_rank} is not one of {args.nnodes} machines")
    if args.nnodes > 1 and args.master_port is None:
        raise Problem("launch: several machines need --master-addr and --master-port, the same on all")
    command = [sys.executable, "-u", *(["-m", "gradpack", "run", "--force"] if args.as_torch else [])]
    command += [*(["-m"] if args.module else []), args.script, *args.args]
    with _ended() as ranks:
        for local in range(args.nproc_per_node):
            number = args.node_rank * args.nproc_per_node + local
            process = subprocess.Popen(  # noqa: S603 - the user's program
                command,
                env=_environment(args, number, local),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=_die_with_parent(),  # noqa: PLW1509 - no threads have been started yet
            )
            ranks.append(Rank(number, process))
        failed = _watch(ranks)
    if failed is None:
        return 0
    print(f"gradpack launch: rank {failed.number} failed, with {failed.end()}; all others were ended", file=sys.stderr)
    sys.stderr.writelines(failed.errors if len(ranks) > 1 else [])
    return 1


def _environment(args: argparse.Namespace, number: int, local: int) -> dict[str, str]:
    """The environment of a rank: the variables that torchrun sets."""
    if args.master_port is None:
        with socket.create_server((args.master_addr, 0)) as free:
            args.master_port = free.getsockname()[1]
    if args.rdzv_id is None:
        args.rdzv_id = secrets.token_hex(8) if args.nnodes == 1 else "none"
    n = args.nproc_per_node
    said = {"RANK": number, "LOCAL_RANK": local, "GROUP_RANK": args.node_rank}
    said |= {"WORLD_SIZE": n * args.nnodes, "LOCAL_WORLD_SIZE": n}
    said |= {"MASTER_ADDR": args.master_addr, "MASTER_PORT": args.master_port, "TORCHELASTIC_RUN_ID": args.rdzv_id}
    threads = {} if n == 1 else {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # cores are shared by the ranks
    return {**threads, **os.environ, **{name: str(value) for name, value in said.items()}}


def _die_with_parent() -> Callable[[], None] | None:
    """Return the function by which a new process asks to be ended with this one, where the system has that."""
    if sys.platform != "linux":
        return None
    import ctypes

    control = ctypes.CDLL(None).prctl
    return lambda: control(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


@contextmanager
def _ended() -> Iterator[list[Rank]]:
    """Gives a list for ranks; at the end their processes are ended, and all that these have started."""
    ranks: list[Rank] = []

    def stop(*_: Any) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield ranks
    finally:
        signal.signal(signal.SIGTERM, before)
        _stop(ranks)


def _stop(ranks: list[Rank]) -> None:
    running = [rank for rank in ranks if rank.process.poll() is None]
    for rank in running:
        _signal(rank, signal.SIGTERM)
    until = monotonic() + _STOP
    for rank in running:
        with suppress(subprocess.TimeoutExpired):
            rank.process.wait(max(until - monotonic(), 0))
    for rank in ranks:
        _signal(rank, getattr(signal, "SIGKILL", signal.SIGTERM))
        rank.process.wait()


def _signal(rank: Rank, number: int) -> None:
    """Send a signal to a rank and what it has started."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(rank.process.pid, number)
        else:
            rank.process.send_signal(number)


def _watch(ranks: list[Rank]) -> Rank | None:
    """Show what the ranks print until all have ended, or one has failed; return the one that failed first."""
    events: SimpleQueue[Rank] = SimpleQueue()
    threads = [Thread(target=_wait, args=(rank, events), daemon=True) for rank in ranks]
    for rank in ranks:
        for stream, to in ((rank.process.stdout, sys.stdout), (rank.process.stderr, sys.stderr)):
            threads.append(Thread(target=_show, args=(rank, stream, to, len(ranks)), daemon=True))
    for thread in threads:
        thread.start()
    failed: list[Rank] = []
    left, deadline = len(ranks), inf
    while left and monotonic() < deadline:
        with suppress(Empty):
            rank = events.get(timeout=min(max(deadline - monotonic(), 0), 3600))
            left -= 1
            if rank.process.returncode:
                failed.append(rank)
                deadline = min(deadline, monotonic() + _GRACE)
    _stop(ranks)
    for thread in threads:
        thread.join(1.0)
    return min(failed, key=Rank.is_follower, default=None)


def _wait(rank: Rank, events: SimpleQueue[Rank]) -> None:
    rank.process.wait()
    events.put(rank)


def _show(rank: Rank, stream: IO[bytes], to: IO[str], count: int) -> None:
    """Copy lines of a rank to a stream of this process, with its number if there are several."""
    prefix = f"[rank {rank.number}] " if count > 1 else ""
    with suppress(ValueError, OSError):  # a stream was closed at the end
        for raw in stream:
            line = raw.decode("utf-8", "replace")
            if to is sys.stderr:
                rank.errors = [*rank.errors[-99:], line]
            to.write(prefix + line)
            to.flush()
