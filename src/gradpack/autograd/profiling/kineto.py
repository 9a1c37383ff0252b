"""Parts of torch's profiler that come from Kineto: C++ names, memory records, kernel metadata."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

# The C++ names of dtypes, which events have.
_TYPES = {
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex32": "c10::complex<c10::Half>",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
    "uint8": "unsigned char",
    "uint16": "short unsigned int",
    "uint32": "unsigned int",
    "uint64": "long unsigned int",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float8_e4m3fn": "c10::Float8_e4m3fn",
    "float8_e5m2": "c10::Float8_e5m2",
}


def type_name(dtype: str) -> str:
    """Return the C++ name of a dtype: `float` for `float32`."""
    return _TYPES.get(dtype, dtype)


@cache
def _demangler() -> Callable[[bytes], bytes | None] | None:
    """The demangling function of the C++ runtime; None if there is no such library."""
    import ctypes
    from ctypes.util import find_library

    for name in ("libstdc++.so.6", find_library("stdc++"), find_library("c++")):
        try:
            function = ctypes.CDLL(name or "").__cxa_demangle
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]

        def demangled(name: bytes, function: Any = function, free: Any = free) -> bytes | None:
            found = function(name, None, None, None)
            if not found:
                return None
            text = ctypes.string_at(found)
            free(found)
            return text

        return demangled
    return None


class StringTable(defaultdict[str, str]):
    """Maps names to readable ones: mangled C++ names are demangled on first access.

    Names of one letter, and names that are not mangled, stay as they are; so do all where there is no
    C++ runtime.

    Example::

        >>> import gradpack as torch
        >>> names = torch.autograd.profiler_util.StringTable()
        >>> names["aten::mul"], names["t"]
        ('aten::mul', 't')
    """

    def __missing__(self, key: str) -> str:
        demangle = _demangler() if len(key) > 1 else None
        found = None if demangle is None else demangle(key.encode())
        self[key] = key if found is None else found.decode()
        return self[key]


class MemRecordsAcc:
    """Memory records, sorted by time.

    Args:
        mem_records: sequences whose first item has a method `start_ns()`.

    Example::

        >>> import gradpack as torch
        >>> class At(int):
        ...     def start_ns(self):
        ...         return self
        >>> records = [(At(30), "late"), (At(10), "early")]
        >>> [name for _, name in torch.autograd.profiler_util.MemRecordsAcc(records).in_interval(0, 20)]
        ['early']
    """

    def __init__(self, mem_records: Sequence[Any]) -> None:
        self._records = sorted(mem_records, key=lambda record: record[0].start_ns())
        self._starts = [record[0].start_ns() for record in self._records]

    def in_interval(self, start_ns: float, end_ns: float) -> Iterator[Any]:
        """Yield the records from `start_ns` to `end_ns`, both included, oldest first."""
        yield from self._records[bisect_left(self._starts, start_ns) : bisect_right(self._starts, end_ns)]

    def __repr__(self) -> str:
        return f"<MemRecordsAcc of {len(self._records)} records>"


class EventMetadata(NamedTuple):
    """Metadata of a kernel, a copy or a collective on another device; None for unknown fields.

    Args:
        registers_per_thread, shared_memory: registers of a thread, and bytes of shared memory of a block of threads.
        grid, block: the three sizes of the grid and of a block of threads.
        priority: the priority of the stream.
        blocks_per_sm, warps_per_sm: blocks and warps for each multiprocessor.
        occupancy: what limits occupancy, by name.
        est_occupancy_pct: the estimated occupancy in percent.
        queued: when it was queued; 0 if not known.
        graph_id, graph_node_id: the CUDA graph, and the node of it, that launched the kernel.
        stream, context: the stream and the CUDA context.
        channel, channel_type: the hardware channel, and its type.
        bytes, bandwidth_gb_s: the bytes that were copied or filled, and how many gigabytes per second that is.
        collective_name: the collective, such as `"allreduce"`.
        dtype: the dtype of what it sends.
        in_msg_nelems, out_msg_nelems: the numbers of elements that it takes and gives.
        in_split_size, out_split_size: how they are divided among the ranks, as text.
        global_rank_start, global_rank_stride: the first rank of the group, and the distance between ranks.
        group_size: the number of ranks in the group.
        process_group_name, process_group_desc: the name and the description of the group.
        group_ranks: the ranks in the group, as text.
        rank: the rank that recorded it.
        src_rank, dst_rank: for sending and receiving, where from and where to.
        seq: the number of the collective in its group.
        is_async: whether the caller went on without waiting.

    Example::

        >>> import gradpack as torch
        >>> about = {"registers per thread": "32", "grid": "[8, 1, 1]", "stream": "7"}
        >>> event = torch.autograd.profiler_util.FunctionEvent(1, "mul_kernel", 1, 0.0, 12.5, extra_meta=about)
        >>> metadata = event.event_metadata
        >>> metadata.registers_per_thread, metadata.grid, metadata.bytes
        (32, [8, 1, 1], None)
    """

    registers_per_thread: int | None = None
    shared_memory: int | None = None
    grid: list[int] | None = None
    block: list[int] | None = None
    priority: int | None = None
    blocks_per_sm: float | None = None
    warps_per_sm: float | None = None
    occupancy: dict[str, Any] | None = None
    est_occupancy_pct: float | None = None
    queued: int | None = None
    graph_id: int | None = None
    graph_node_id: int | None = None
    stream: int | None = None
    context: int | None = None
    channel: int | None = None
    channel_type: int | None = None
    bytes: int | None = None
    bandwidth_gb_s: float | None = None
    collective_name: str | None = None
    dtype: str | None = None
    in_msg_nelems: int | None = None
    out_msg_nelems: int | None = None
    in_split_size: str | None = None
    out_split_size: str | None = None
    global_rank_start: int | None = None
    global_rank_stride: int | None = None
    group_size: int | None = None
    process_group_name: str | None = None
    process_group_desc: str | None = None
    group_ranks: str | None = None
    rank: int | None = None
    src_rank: int | None = None
    dst_rank: int | None = None
    seq: int | None = None
    is_async: bool | None = None


# Conversions from text by type of field; and the keys of fields in traces, where they differ from the field names by
# more than spaces and a capital letter.
_READ: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "str": lambda text: text.strip('"'),
    "bool": lambda text: text in ("1", "true"),
}
_SPELLED = {
    "blocks_per_sm": "blocks per SM",
    "warps_per_sm": "warps per SM",
    "est_occupancy_pct": "est. achieved occupancy %",
    "channel_type": "channel_type",
    "bandwidth_gb_s": "memory bandwidth (GB/s)",
    "process_group_name": "Process Group Name",
    "process_group_desc": "Process Group Description",
    "group_ranks": "Process Group Ranks",
    "src_rank": "Src Rank",
    "dst_rank": "Dst Rank",
    "is_async": "Is asynchronized op",
}
_CAPITALS = frozenset(
    "collective_name in_msg_nelems out_msg_nelems in_split_size out_split_size global_rank_start global_rank_stride "
    "group_size rank seq".split()
)


def metadata_of(texts: Mapping[str, str]) -> EventMetadata | None:
    """Convert the metadata of a trace (`{"registers per thread": "32"}`); None if there is none."""
    found: dict[str, Any] = {}
    for field, kind in EventMetadata.__annotations__.items():
        spaced = field.replace("_", " ")
        text = texts.get(_SPELLED.get(field) or (spaced.capitalize() if field in _CAPITALS else spaced))
        if text is not None:
            found[field] = _READ.get(str(kind).partition(" ")[0], json.loads)(text)
    return EventMetadata(**found) if found else None
