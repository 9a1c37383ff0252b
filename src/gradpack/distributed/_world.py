"""The ranks of this program: how they are started, the groups that they form, and which of them this is."""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from datetime import timedelta
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from urllib.request import url2pathname

from ._arrays import as_index
from ._mailbox import ALL, Mailbox, Transport
from ._process_group import ProcessGroup, tell_of_errors
from ._store import FileStore

__all__ = ["Backend", "GroupMember", "default_pg_timeout", "destroy_process_group", "group", "init_process_group"]
__all__ += ["is_available", "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available"]
__all__ += ["is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available"]

default_pg_timeout = timedelta(minutes=30)


class _GroupType(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:  # noqa: N802 - torch's name
        """The group of all ranks; None before `init_process_group`."""
        found = world()
        return None if found is None else found.group


class group(metaclass=_GroupType):  # noqa: N801 - torch's name
    """Holds the default group: `group.WORLD`."""


class GroupMember(metaclass=_GroupType):
    """The relation of a rank to a group: `NON_GROUP_MEMBER` is the group that it is not in."""

    NON_GROUP_MEMBER = -100


class Backend(str):
    """The name of a backend, in small letters.

    Raises:
        ValueError: for what is no string.
    """

    __slots__ = ()
    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


class World:
    """The groups of a process, or of a thread that is a rank.

    Attributes:
        group: of all ranks.
        transport: between them.
        made: how many groups of the same ranks there are, by their ranks.
        undo: ends what was begun with it.
    """

    def __init__(self, transport: Transport, timeout: float, undo: Callable[[], None]) -> None:
        self.transport, self.timeout, self.undo = transport, timeout, undo
        self.group = ProcessGroup(transport, "0", range(transport.size), timeout, "default_pg")
        self.groups = [self.group]
        self.made: Counter[tuple[int, ...]] = Counter()


# Ranks that are threads have a world each; those that are processes have the one of the process.
_OF_THREAD: ContextVar[World | None] = ContextVar("gradpack world", default=None)
START: ContextVar[tuple[int, list[Mailbox]] | None] = ContextVar("gradpack start of a rank", default=None)
_of_process: list[World] = []


def world() -> World | None:
    """Return the groups of this rank; None before `init_process_group`."""
    return _OF_THREAD.get() or (_of_process[0] if _of_process else None)


def initialized() -> World:
    """Return the groups of this rank; ValueError before `init_process_group`."""
    found = world()
    if found is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return found


def is_available() -> bool:
    """Return whether there is anything to send messages with: not in a browser."""
    return sys.platform != "emscripten"


def check_available(what: str) -> None:
    """Raise RuntimeError in a browser, which has neither threads nor connections."""
    if not is_available():
        raise RuntimeError(f"{what}: there are no ranks in a browser, which has no threads and no connections")


def is_initialized() -> bool:
    """Return whether the default process group has been initialized."""
    return world() is not None


def is_mpi_available() -> bool:
    """Return whether the package mpi4py is installed."""
    return find_spec("mpi4py") is not None


is_gloo_available = is_available  # here it is TCP


def is_nccl_available() -> bool:
    """Return False: that backend is not here."""
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_torchelastic_launched() -> bool:
    """Return whether this process was started by `gradpack launch`."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_backend_available(backend: str) -> bool:
    """Return whether `init_process_group` takes a backend."""
    return backend.lower() in ("gloo", "threads") or (backend.lower() == "mpi" and is_mpi_available())


def backend_of(backend: str | None) -> str:
    """Return the name of a backend that there is, for tensors on the CPU."""
    if backend is None:
        return "threads" if START.get() is not None else "gloo"
    names = dict(part.partition(":")[::2] for part in Backend(backend).split(","))
    name = names.get("cpu", Backend(backend))
    if name in ("nccl", "ucc", "xccl"):
        raise RuntimeError(f"Distributed package doesn't have {name.upper()} built in: use 'gloo' (over TCP) or 'mpi'")
    if name not in ("gloo", "mpi", "threads"):
        raise AssertionError(f"Unknown backend type {backend}: there are 'gloo' (over TCP), 'mpi' and 'threads'")
    if name == "mpi" and not is_mpi_available():
        raise RuntimeError("Distributed package doesn't have MPI built in: pip install 'gradpack[mpi]'")
    return name


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    _ranks: list[int] | None = None,
) -> None:
    """Connect all ranks, and make the default process group of them. Every rank calls this.

    Args:
        backend: "gloo", over TCP; "mpi", by the package mpi4py; or "threads", for ranks that are threads of one
            process: see `torch.distributed.threads.spawn`.
        init_method: "env://", which reads MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE; "tcp://HOST:PORT", where
            rank 0 listens; or "file:///PATH", a file that is not there yet in a folder that all ranks see.
        timeout: how long a call may wait for other ranks: 30 minutes unless it is given.
        world_size, rank: how many ranks there are, and which this one is, where nothing else says so.
        store: by which the ranks find each other, instead of `init_method`.

    Raises:
        ValueError: if it was called before, or does not know a rank, a size or an address.
        AssertionError: for another backend, and for a store without a rank and a size.
        RuntimeError: if the ranks cannot be connected within the timeout, and in a browser.
    """
    if world() is not None:
        raise ValueError("trying to initialize the default process group twice!")
    check_available("init_process_group")
    if store is not None and (init_method is not None or rank < 0 or world_size < 1):
        raise AssertionError("init_process_group: a store needs rank= and a positive world_size=, and no init_method=")
    name, seconds = backend_of(backend), as_seconds(timeout, default_pg_timeout.total_seconds())
    rank, world_size = as_index(rank, "rank"), as_index(world_size, "world_size")
    if name == "threads":
        place = START.get()
        if place is None:
            raise ValueError("init_process_group: threads as ranks are started by torch.distributed.threads.spawn")
        _OF_THREAD.set(World(Transport(*place), seconds, lambda: None))
        return
    if name == "mpi":
        from ._mpi import MPITransport

        if world_size != -1 or rank != -1:
            warnings.warn(
                f"For MPI backend, world_size ({world_size}) and rank ({rank}) are ignored since they are assigned by "
                "the MPI runtime.",
                stacklevel=2,
            )
        transport: Transport = MPITransport()
    else:
        from ._connect import connect

        where: Any = store
        if store is None:
            where, rank, world_size = _meeting_place(init_method or "env://", rank, world_size)
        _check_place(rank, world_size)
        transport = connect(where, rank, world_size, seconds)
        if store is None and rank == 0 and isinstance(where, FileStore):
            os.unlink(where.path)
    _of_process.append(World(transport, seconds, tell_of_errors(transport)))
    atexit.register(_end, _of_process[0])


def as_seconds(timeout: Any, default: float) -> float:
    """Return an argument `timeout` in seconds; TypeError for what is no timedelta."""
    if timeout is None:
        return default
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return timeout.total_seconds()


def _check_place(rank: int, size: int) -> None:
    if not 0 <= rank < size:
        raise ValueError(f"init_process_group: rank {rank} is not one of {size} ranks: give rank= and world_size=")


def _meeting_place(method: str, rank: int, size: int) -> tuple[Any, int, int]:
    """The address of rank 0 or a store, this rank and the number of ranks, from arguments and the environment."""
    url = urlsplit(method)
    given = dict(parse_qsl(url.query))
    rank, size = int(given.get("rank", rank)), int(given.get("world_size", size))
    if url.scheme == "file":
        return FileStore(url2pathname(url.path), size), rank, size
    if url.scheme == "tcp":
        if not url.hostname or not url.port:
            raise ValueError(f"init_process_group: init_method {method!r} is not of the form 'tcp://HOST:PORT'")
        return (url.hostname, url.port), rank, size
    if url.scheme != "env":
        raise RuntimeError(
            f"No rendezvous handler for {url.scheme}://: there are 'env://', 'tcp://HOST:PORT' and 'file:///PATH'"
        )

    def said(name: str) -> str:
        if name not in os.environ:
            raise ValueError(
                f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, "
                "but not set: `gradpack launch -n 2 SCRIPT` sets it"
            )
        return os.environ[name]

    rank = int(said("RANK")) if rank == -1 else rank
    size = int(said("WORLD_SIZE")) if size == -1 else size
    return (said("MASTER_ADDR"), int(said("MASTER_PORT"))), rank, size


def destroy_process_group(group: Any = None) -> None:
    """End a group; the default group ends with all others, and with the connections between ranks.

    Raises:
        AssertionError: before `init_process_group`.
        ValueError: for a group that was destroyed.
    """
    found = world()
    if found is None:
        raise AssertionError("Process group cannot be None: init_process_group was not called, or the group was ended")
    if group is None or group is found.group:
        _end(found)
    elif group in found.groups:
        found.groups.remove(group)
        group.close()
    elif group != GroupMember.NON_GROUP_MEMBER:
        raise ValueError("Invalid process group specified: it was destroyed, or belongs to other ranks")


def _end(which: World) -> None:
    """Close a world. Does nothing if it was closed before."""
    if which is _OF_THREAD.get():
        _OF_THREAD.set(None)
    elif which in _of_process:
        _of_process.clear()
    else:
        return
    for group in which.groups:
        group.close()
    which.undo()
    which.transport.close()


def leave(why: str | None) -> None:
    """End the world of a thread. With a reason, all other ranks are told that they wait in vain."""
    found = _OF_THREAD.get()
    if found is not None:
        for other in range(found.transport.size if why is not None else 0):
            found.transport.fail(other, ALL, str(why))
        _end(found)
