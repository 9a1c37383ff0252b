"""The ranks of this program: how they are started, the groups that they form, and which of them this is."""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from datetime import timedelta
from importlib.util import find_spec
from typing import Any

from ._arrays import as_index
from ._mailbox import ALL, Mailbox, Transport
from ._process_group import ProcessGroup, tell_of_errors

__all__ = ["Backend", "GroupMember", "default_pg_timeout", "destroy_process_group", "get_backend", "get_global_rank"]
__all__ += ["get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group", "is_available"]
__all__ += ["is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available"]
__all__ += ["get_group_rank", "is_torchelastic_launched", "is_ucc_available"]
__all__ += ["is_xccl_available", "new_group"]

default_pg_timeout = timedelta(minutes=30)


class GroupMember:
    """The relation of a rank to a group: `NON_GROUP_MEMBER` is the group that it is not in."""

    NON_GROUP_MEMBER = -100


class Backend(str):
    """The name of a backend."""

    __slots__ = ()
    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"


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
        self.group = ProcessGroup(transport, "0", range(transport.size), timeout)
        self.groups = [self.group]
        self.made: Counter[tuple[int, ...]] = Counter()


# Ranks that are threads have a world each; those that are processes have the one of the process.
_OF_THREAD: ContextVar[World | None] = ContextVar("gradpack world", default=None)
START: ContextVar[tuple[int, list[Mailbox]] | None] = ContextVar("gradpack start of a rank", default=None)
_of_process: list[World] = []


def world() -> World | None:
    """Return the groups of this rank; None before `init_process_group`."""
    return _OF_THREAD.get() or (_of_process[0] if _of_process else None)


def _initialized() -> World:
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


def _backend_of(backend: str | None) -> str:
    if backend is None:
        return "threads" if START.get() is not None else "gloo"
    if not isinstance(backend, str):
        raise ValueError(f"Backend constructor parameter must be string-ish, not {type(backend).__name__}")
    names = dict(part.partition(":")[::2] for part in backend.lower().split(","))
    name = names.get("cpu", backend.lower())
    if name not in ("gloo", "mpi", "threads"):
        raise ValueError(f"Invalid backend: {backend!r}: there are 'gloo' (over TCP), 'mpi' and 'threads'")
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
        init_method: "env://", which reads MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE, or "tcp://HOST:PORT", where
            rank 0 listens.
        timeout: how long a call may wait for other ranks: 30 minutes unless it is given.
        world_size, rank: how many ranks there are, and which this one is, where nothing else says so.

    Raises:
        ValueError: if it was called before, or does not know a rank, a size or an address.
        RuntimeError: if the ranks cannot be connected within the timeout, and in a browser.
    """
    if world() is not None:
        raise ValueError("trying to initialize the default process group twice!")
    check_available("init_process_group")
    if store is not None:
        raise ValueError("init_process_group: there are no stores here; give init_method='tcp://HOST:PORT'")
    name, seconds = _backend_of(backend), _seconds(timeout, default_pg_timeout.total_seconds())
    rank, world_size = as_index(rank, "rank"), as_index(world_size, "world_size")
    if name == "threads":
        place = START.get()
        if place is None:
            raise ValueError(
                "init_process_group: ranks that are threads are started by torch.distributed.threads.spawn"
            )
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
        from ._sockets import connect

        host, port, rank, world_size = _meeting_place(init_method or "env://", rank, world_size)
        _check_place(rank, world_size)
        transport = connect(host, port, rank, world_size, seconds)
    _of_process.append(World(transport, seconds, tell_of_errors(transport)))
    atexit.register(_end, _of_process[0])


def _seconds(timeout: Any, default: float) -> float:
    if timeout is None:
        return default
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return timeout.total_seconds()


def _check_place(rank: int, size: int) -> None:
    if not 0 <= rank < size:
        raise ValueError(f"init_process_group: rank {rank} is not one of {size} ranks: give rank= and world_size=")


def _meeting_place(method: str, rank: int, size: int) -> tuple[str, int, int, int]:
    """The address of rank 0, this rank and the number of ranks, from arguments and the environment."""
    scheme, _, rest = method.partition("://")
    if scheme == "tcp":
        host, _, port = rest.partition("?")[0].rpartition(":")
        if not host or not port.isdigit():
            raise ValueError(f"init_process_group: init_method {method!r} is not of the form 'tcp://HOST:PORT'")
        return host.strip("[]"), int(port), rank, size
    if scheme != "env":
        raise ValueError(f"No rendezvous handler for {scheme}://: there are 'env://' and 'tcp://HOST:PORT'")

    def said(name: str) -> str:
        if name not in os.environ:
            raise ValueError(
                f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, "
                "but not set: `gradpack launch -n 2 SCRIPT` sets it"
            )
        return os.environ[name]

    rank = int(said("RANK")) if rank == -1 else rank
    size = int(said("WORLD_SIZE")) if size == -1 else size
    return said("MASTER_ADDR"), int(said("MASTER_PORT")), rank, size


def destroy_process_group(group: Any = None) -> None:
    """End a group; the default group ends with all others, and with the connections between ranks."""
    found = _initialized()
    if group is None or group is found.group:
        _end(found)
    elif group in found.groups:
        found.groups.remove(group)
        group.close()
    else:
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


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """Return a group of some of the ranks, over the same connections; all ranks, or all members, call this.

    Raises:
        ValueError: for ranks that there are not, or that come twice.
    """
    found = _initialized()
    wanted = range(found.transport.size) if ranks is None else [as_index(r, "ranks") for r in ranks]
    members = tuple(sorted(wanted) if sort_ranks else wanted)
    if len(members) > found.transport.size or len(set(members)) < len(members):
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group"
        )
    for member in members:
        if not 0 <= member < found.transport.size:
            size = found.transport.size
            raise ValueError(f"Rank {member} is out of range. Valid ranks are 0 to {size - 1} (world_size={size}).")
    seconds = _seconds(timeout, found.timeout)
    found.made[members] += 1
    if found.transport.rank not in members:
        return GroupMember.NON_GROUP_MEMBER
    name = f"{','.join(map(str, members))}#{found.made[members]}"
    group = ProcessGroup(found.transport, name, members, seconds)
    found.groups.append(group)
    return group


def group_of(group: Any) -> ProcessGroup | None:
    """Return a group, or that of all ranks for None; None for a group that this rank is not in.

    Raises:
        ValueError: before `init_process_group`.
        TypeError: for what is no group.
    """
    if group is None:
        return _initialized().group
    if isinstance(group, ProcessGroup):
        return group
    if group == GroupMember.NON_GROUP_MEMBER and isinstance(group, int):
        return None
    raise TypeError(f"group must be a torch.distributed.ProcessGroup, not {type(group).__name__}")


def member(group: Any, op: str) -> ProcessGroup | None:
    """Return the group that a call is made in; None, with a warning, if this rank is not in it."""
    found = group_of(group)
    if found is None:
        warnings.warn(
            f"Running {op} on global rank {get_rank()} which does not belong to the given group.", stacklevel=3
        )
    return found


def get_rank(group: Any = None) -> int:
    """Return the rank of this process in a group; -1 if it is not in it."""
    found = group_of(group)
    return -1 if found is None else found.rank()


def get_world_size(group: Any = None) -> int:
    """Return the number of ranks in a group; -1 if this process is not in it."""
    found = group_of(group)
    return -1 if found is None else found.size()


def get_backend(group: Any = None) -> str:
    """Return the name of the backend.

    Raises:
        ValueError: for a group that this rank is not in.
    """
    found = group_of(group)
    if found is None:
        raise ValueError("Invalid process group specified")
    return found.name()


def get_process_group_ranks(group: Any) -> list[int]:
    """Return the ranks, among all, of the members of a group."""
    found = group_of(group)
    return [] if found is None else list(found.ranks)


def get_group_rank(group: Any, global_rank: int) -> int:
    """Return the rank in a group of one of all ranks; ValueError if it is not in the group."""
    ranks = get_process_group_ranks(group)
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_global_rank(group: Any, group_rank: int) -> int:
    """Return the rank among all of a member of a group; ValueError if there is no such member."""
    ranks = get_process_group_ranks(group)
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


class _GroupType(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:  # noqa: N802 - torch's name
        """The group of all ranks; None before `init_process_group`."""
        found = world()
        return None if found is None else found.group


class group(metaclass=_GroupType):  # noqa: N801 - torch's name
    """Holds the default group: `group.WORLD`."""
