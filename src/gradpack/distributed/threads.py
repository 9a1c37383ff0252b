"""Ranks that are threads of one process, for tests and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any

from ..base.threads import start
from . import _world
from ._mailbox import Mailbox

__all__ = ["spawn"]


def spawn(fn: Callable[..., Any], args: Sequence[Any] = (), nprocs: int = 1) -> list[Any]:
    """Call `fn(rank, *args)` in a thread for each rank, and return what the calls return, in order of the ranks.

    In these threads `init_process_group()` needs no arguments. They share the random numbers of the process and all
    other settings that belong to it.

    Raises:
        Exception: what the first rank that failed has raised; the others are told, and end.

    Example::

        >>> import gradpack as torch
        >>> dist = torch.distributed
        >>> def total(rank):
        ...     dist.init_process_group("threads")
        ...     x = torch.tensor([rank + 1.0])
        ...     dist.all_reduce(x)
        ...     return x.item()
        >>> dist.threads.spawn(total, nprocs=3)
        [6.0, 6.0, 6.0]
    """
    _world.check_available("spawn")
    results, failures, boxes = [None] * nprocs, [], [Mailbox() for _ in range(nprocs)]

    def work(rank: int) -> None:
        why = None
        _world.START.set((rank, boxes))
        try:
            results[rank] = fn(rank, *args)
        except BaseException as error:
            why = f"rank {rank} has ended with {type(error).__name__}: {error}"
            error.add_note(f"(in rank {rank} of {nprocs})")
            failures.append(error)
        finally:
            _world.leave(why)
            for box in boxes:  # also if it has never come to `init_process_group`
                box.end(rank, why or f"rank {rank} has ended")

    threads = [Thread(target=work, args=(r,), name=f"gradpack rank {r}", daemon=True) for r in range(nprocs)]
    for thread in threads:
        start(thread)
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return results
