"""`torch.distributed`: one process, which says so. Everything else is refused."""

from __future__ import annotations

from typing import Any

from .refuse import refusals


def is_available() -> bool:
    """Whether processes can talk to each other: no."""
    return False


is_initialized = is_torchelastic_launched = is_nccl_available = is_gloo_available = is_mpi_available = is_available


def get_rank(group: Any = None) -> int:
    """The number of this process: refused, as torch refuses without a group of processes.

    Raises:
        ValueError: always.
    """
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


get_world_size = barrier = destroy_process_group = get_backend = get_rank

_REFUSED = (
    "init_process_group all_reduce all_gather all_gather_object all_gather_into_tensor all_to_all broadcast "
    "broadcast_object_list gather new_group recv reduce reduce_scatter scatter send ProcessGroup"
)
globals().update(refusals("distributed", _REFUSED))


class ReduceOp:
    """Names of ways to combine."""

    SUM, AVG, PRODUCT, MIN, MAX = "sum", "avg", "product", "min", "max"


class group:  # noqa: N801 - torch's name
    """Stand-in for `torch.distributed.group`: there are no process groups."""

    WORLD = None


__all__ = ["ReduceOp", "get_rank", "get_world_size", "group", "is_available", "is_initialized"]
