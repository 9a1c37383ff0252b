"""`torch.multiprocessing`: Python's own. Tensors that go to another process are copied, but for shared memory."""

from __future__ import annotations

from multiprocessing import *  # noqa: F403 - the same names
from multiprocessing import __all__ as _theirs
from typing import Any


def get_all_sharing_strategies() -> set[str]:
    """How memory can be shared: it is in one way, whatever its name."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """How memory is shared."""
    return "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how memory is shared: there is one way, whatever its name."""
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"unknown sharing strategy {new_strategy!r}")


def spawn(
    fn: Any,
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: Any = None,
) -> None:
    """Refused: a new process would not know that gradpack answers for torch.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("torch.multiprocessing.spawn is not in gradpack: a program runs in one process")


__all__ = [*_theirs, "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn"]  # noqa: PLE0604
