"""Groups of ranks: how they are made, and which rank of them this is."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ._arrays import as_index
from ._process_group import ProcessGroup
from ._world import GroupMember, as_seconds, backend_of, initialized

__all__ = ["get_backend", "get_global_rank", "get_group_rank", "get_node_local_rank", "get_process_group_ranks"]
__all__ += ["get_rank", "get_world_size", "new_group"]


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
    found = initialized()
    backend_of(backend or "gloo")
    size = found.transport.size
    wanted = range(size) if ranks is None else [as_index(r, "ranks") for r in ranks]
    members = tuple(sorted(wanted) if sort_ranks else wanted)
    if len(members) > size or len(set(members)) < len(members):
        said = "the new group's world size should be less or equal to the world size set by init_process_group"
        raise ValueError(said)
    for member in members:
        if not 0 <= member < size:
            raise ValueError(f"Rank {member} is out of range. Valid ranks are 0 to {size - 1} (world_size={size}).")
    seconds = as_seconds(timeout, found.timeout)
    found.made[members] += 1
    if found.transport.rank not in members:
        return GroupMember.NON_GROUP_MEMBER
    name = f"{','.join(map(str, members))}#{found.made[members]}"
    group = ProcessGroup(found.transport, name, members, seconds, group_desc or "undefined")
    found.groups.append(group)
    return group


def group_of(group: Any) -> ProcessGroup | None:
    """Return a group, or that of all ranks for None; None for a group that this rank is not in.

    Raises:
        ValueError: before `init_process_group`, and for a group that was destroyed.
        TypeError: for what is no group.
    """
    found = initialized()
    if group is None:
        return found.group
    if isinstance(group, ProcessGroup):
        if group not in found.groups:
            said = "please create group with torch.distributed.new_group API: it was destroyed"
            raise ValueError(f"Group {group} is not registered, {said}")
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


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Return the rank of this process on its machine, from LOCAL_RANK, which `gradpack launch` sets.

    Raises:
        RuntimeError: if it is not set, and there is no other to return.
    """
    if "LOCAL_RANK" not in os.environ and fallback_rank is None:
        raise RuntimeError(
            "LOCAL_RANK is not in the environment. Consider passing fallback_rank to get_node_local_rank"
        )
    return int(os.environ.get("LOCAL_RANK", fallback_rank or 0))


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
