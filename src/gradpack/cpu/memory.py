"""Memory statistics as in `torch.cuda.memory`, for the CPU and for devices added by extensions.

Counted are the arrays of tensors, gradients and what nodes of the graph saved, each piece of memory once. What
is held now is found by looking at everything that lives: it costs milliseconds, and nothing before. Peaks need
somebody who watches: `reset_peak_memory_stats()` begins to, in the thread or asyncio task that calls it, and
`_record_memory_history(enabled=None)` ends it. Operations take a few microseconds longer meanwhile.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..autograd.profiling.recorder import Recorder
from ..autograd.profiling.table import format_memory
from ..base.devices import device as device_type
from ..base.modes import MODE, Mode
from ..core.memory_tracking import Tracker, held

Device = Any  # a device, its name, or None for the CPU


@dataclass
class Count:
    """Statistics of an amount: current, peak, allocated and freed."""

    current: int = 0
    peak: int = 0
    allocated: int = 0
    freed: int = 0

    def change(self, amount: int) -> None:
        """Count an allocation, or a release if negative."""
        self.current += amount
        self.peak = max(self.peak, self.current)
        if amount > 0:
            self.allocated += amount
        else:
            self.freed -= amount


class MemoryWatch(Recorder):
    """Counts memory in the place of a profiler. Profilers may be used inside of it."""

    def __init__(self) -> None:
        super().__init__()
        self.note = lambda record: None
        self.append = None
        self.bytes: dict[tuple[str, int], Count] = {}
        self.pieces: dict[tuple[str, int], Count] = {}
        self.watch = Tracker(self._count, all=True)
        self.watch.adopt()
        self.reset()

    def _count(self, change: int, time: int, place: device_type) -> None:
        self.bytes.setdefault(_place(place), Count()).change(change)
        self.pieces.setdefault(_place(place), Count()).change(1 if change > 0 else -1)

    def reset(self) -> None:
        """Set the peaks to the current values."""
        for count in (*self.bytes.values(), *self.pieces.values()):
            count.peak = count.current

    def clear(self) -> None:
        """Reset the accumulated counts."""
        for count in (*self.bytes.values(), *self.pieces.values()):
            count.allocated = count.freed = 0

    def around(
        self, op: Any, name: str, run: Callable[..., Any], values: tuple[Any, ...], mode: Mode, kind: int = 0
    ) -> Any:
        """Run an operation and count the memory of its result."""
        tracker: Tracker = self.watch  # type: ignore[assignment]
        tracker.know(values)
        out = run(*values)
        tracker.see(out, 0)
        return out


def _place(device: Device) -> tuple[str, int]:
    """The kind and index of a device.

    Raises:
        RuntimeError: for a name that is no device.
    """
    found = device_type("cpu" if device is None else device)
    return found.type, found.index or 0


def _watching() -> MemoryWatch | None:
    profiler = MODE.get().profiler
    while isinstance(profiler, Recorder) and not isinstance(profiler, MemoryWatch):
        profiler = profiler.outer
    return profiler if isinstance(profiler, MemoryWatch) else None


def memory_allocated(device: Device = None) -> int:
    """The bytes that tensors, gradients and nodes hold on a device.

    Args:
        device: a device, or its name; None for the CPU.

    Raises:
        RuntimeError: for a name that is no device.

    Example::

        >>> import gradpack as torch
        >>> before = torch.cpu.memory_allocated()
        >>> x = torch.zeros(1000)
        >>> torch.cpu.memory_allocated() - before
        4000
    """
    place = _place(device)
    return sum(int(owner.nbytes) for owner, where in held().values() if _place(where) == place)


def max_memory_allocated(device: Device = None) -> int:
    """The most that was held since `reset_peak_memory_stats()`; before that was called: what is held now.

    Args:
        device: a device, or its name; None for the CPU.

    Example::

        >>> import gradpack as torch
        >>> torch.cpu.reset_peak_memory_stats()
        >>> before = torch.cpu.memory_allocated()
        >>> x = torch.zeros(1000) + 1  # two of them while it is computed
        >>> torch.cpu.max_memory_allocated() - before
        8000
        >>> torch.cpu.memory_allocated() - before
        4000
        >>> torch.cpu.memory._record_memory_history(enabled=None)
    """
    now, watch = memory_allocated(device), _watching()
    count = None if watch is None else watch.bytes.get(_place(device))
    return now if count is None else max(now, count.peak)


def memory_reserved(device: Device = None) -> int:
    """Return the bytes allocated: no memory is reserved beyond that.

    Args:
        device: a device, or its name; None for the CPU.

    Example::

        >>> import gradpack as torch
        >>> x = torch.zeros(1000)
        >>> torch.cpu.memory_reserved() == torch.cpu.memory_allocated()
        True
    """
    return memory_allocated(device)


def max_memory_reserved(device: Device = None) -> int:
    """Return the peak of bytes allocated: see `max_memory_allocated`.

    Args:
        device: a device, or its name; None for the CPU.

    Example::

        >>> import gradpack as torch
        >>> x = torch.zeros(1000)
        >>> torch.cpu.max_memory_reserved() == torch.cpu.max_memory_allocated()
        True
    """
    return max_memory_allocated(device)


def reset_peak_memory_stats(device: Device = None) -> None:
    """Count peaks anew, and from now on, in this thread or asyncio task: see `max_memory_allocated`.

    Args:
        device: a device, or its name: peaks of all devices are counted anew.

    Raises:
        RuntimeError: inside of a profiler, if nothing was counted before, or of `emit_nvtx` and `emit_itt`.

    Example::

        >>> import gradpack as torch
        >>> torch.cpu.reset_peak_memory_stats()
        >>> x = torch.zeros(100_000)
        >>> del x
        >>> before = torch.cpu.max_memory_allocated()
        >>> torch.cpu.reset_peak_memory_stats()
        >>> torch.cpu.max_memory_allocated() < before
        True
        >>> torch.cpu.memory._record_memory_history(enabled=None)
    """
    _place(device)
    watch = _watching()
    if watch is not None:
        watch.reset()
        return
    mode = MODE.get()
    if mode.profiler is not None:
        raise RuntimeError("memory is not counted from inside of a profiler: call this before, or leave that first")
    MODE.set(mode.replace(profiler=MemoryWatch()))


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Reset the counts of allocated and freed bytes in `memory_stats`.

    Args:
        device: a device, or its name: the counts of all devices are reset.

    Example::

        >>> import gradpack as torch
        >>> torch.cpu.reset_peak_memory_stats()
        >>> x = torch.zeros(1000)
        >>> torch.cpu.reset_accumulated_memory_stats()
        >>> torch.cpu.memory_stats()["allocated_bytes.all.allocated"]
        0
        >>> torch.cpu.memory._record_memory_history(enabled=None)
    """
    _place(device)
    watch = _watching()
    if watch is not None:
        watch.clear()


reset_max_memory_allocated = reset_peak_memory_stats


def _record_memory_history(enabled: str | None = "all", **options: Any) -> None:
    """Begin to count (as `reset_peak_memory_stats` does), or end it, with `enabled=None`."""
    if enabled is not None:
        reset_peak_memory_stats()
        return
    mode = MODE.get()
    if isinstance(mode.profiler, MemoryWatch):
        mode.profiler.watch.close()  # type: ignore[union-attr]
        MODE.set(mode.replace(profiler=None))


def memory_stats(device: Device = None) -> OrderedDict[str, Any]:
    """All numbers, under torch's names: `allocated_bytes.all.current`, `.peak`, `.allocated` (came), `.freed`.

    `allocation.all` counts pieces of memory. Peaks and what came and went count from
    `reset_peak_memory_stats()`.

    Args:
        device: a device, or its name; None for the CPU.

    Example::

        >>> import gradpack as torch
        >>> torch.cpu.reset_peak_memory_stats()
        >>> torch.cpu.reset_accumulated_memory_stats()
        >>> x = torch.zeros(1000)
        >>> torch.cpu.memory_stats()["allocated_bytes.all.allocated"]
        4000
        >>> torch.cpu.memory._record_memory_history(enabled=None)
    """
    place = _place(device)
    sizes = [int(owner.nbytes) for owner, where in held().values() if _place(where) == place]
    watch = _watching()
    found: OrderedDict[str, Any] = OrderedDict()
    for name, now in (("allocated_bytes", sum(sizes)), ("allocation", len(sizes))):
        counts = None if watch is None else (watch.bytes if name == "allocated_bytes" else watch.pieces).get(place)
        counts = counts or Count()
        found[f"{name}.all.allocated"] = counts.allocated
        found[f"{name}.all.current"] = now
        found[f"{name}.all.freed"] = counts.freed
        found[f"{name}.all.peak"] = max(now, counts.peak)
    for what in ("allocated", "current", "freed", "peak"):
        found[f"reserved_bytes.all.{what}"] = found[f"allocated_bytes.all.{what}"]
    found["num_ooms"] = found["num_alloc_retries"] = 0
    return found


def memory_stats_as_nested_dict(device: Device = None) -> dict[str, Any]:
    """The numbers of `memory_stats`, in dicts: `["allocated_bytes"]["all"]["current"]`.

    Args:
        device: a device, or its name; None for the CPU.

    Example::

        >>> import gradpack as torch
        >>> x = torch.zeros(1000)
        >>> found = torch.cpu.memory_stats_as_nested_dict()
        >>> found["allocated_bytes"]["all"]["current"] >= 4000
        True
    """
    return nested(memory_stats(device))


def nested(stats: dict[str, Any]) -> dict[str, Any]:
    """Return statistics as a dict for each part of their names."""
    found: dict[str, Any] = {}
    for name, value in stats.items():
        *path, last = name.split(".")
        inner = found
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return found


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """The numbers of `memory_stats` as a table.

    Args:
        device: a device, or its name; None for the CPU.
        abbreviated: only what is held, not how many pieces that is.

    Example::

        >>> import gradpack as torch
        >>> print(torch.cpu.memory_summary(abbreviated=True))
        |===========================================================================|
        | gradpack memory summary, device cpu:0                                     |
        |===========================================================================|
        | Metric                |  Cur Usage | Peak Usage |  Tot Alloc |  Tot Freed |
        ...
    """
    stats = memory_stats(device)
    kind, index = _place(device)
    rule = "|" + "=" * 75 + "|"
    titles = ("Metric", "Cur Usage", "Peak Usage", "Tot Alloc", "Tot Freed")
    lines = [rule, f"| {f'gradpack memory summary, device {kind}:{index}':<73} |", rule]

    def row(name: str, cells: list[str]) -> str:
        return f"| {name:<21} | " + " | ".join(f"{cell:>10}" for cell in cells) + " |"

    lines += [row(titles[0], list(titles[1:])), "|" + "-" * 75 + "|"]
    order = ("current", "peak", "allocated", "freed")
    lines.append(row("Allocated memory", [format_memory(stats[f"allocated_bytes.all.{what}"]) for what in order]))
    if not abbreviated:
        lines.append(row("Allocations", [str(stats[f"allocation.all.{what}"]) for what in order]))
    return "\n".join([*lines, rule, ""])


def empty_cache() -> None:
    """Do nothing: no unused memory is cached. For code that does the same with `torch.cuda`.

    Example::

        >>> import gradpack as torch
        >>> torch.cpu.empty_cache()
    """


__all__ = [
    "empty_cache",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
]
