"""`torch.cuda`: the CUDA devices that CuPy finds. CuPy comes with the extra `cuda`, and is imported when needed.

Without it, or without a device, everything answers as torch does where it was built for the CPU only.
"""

from __future__ import annotations

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any

from ..backends import backend_on as _backend_on
from ..backends import cupy_loading as _loading
from ..base.devices import KINDS as _KINDS
from ..base.devices import device as _device
from ..base.errors import OutOfMemoryError
from ..base.exits import Exit as _Exit
from ..ops.random import generator as _generator
from .cuda_streams import Event, Stream, StreamContext, current_stream, default_stream, set_stream, stream

__name__ = "gradpack.cuda"


def is_available() -> bool:
    """Whether there is a CUDA device that CuPy can use.

    Example::

        >>> import gradpack as torch
        >>> device = "cuda" if torch.cuda.is_available() else "cpu"
    """
    return _loading.count() > 0


def device_count() -> int:
    """How many CUDA devices there are; 0 without CuPy or a driver."""
    return _loading.count()


def is_initialized() -> bool:
    """Whether CuPy has been loaded as the library of CUDA tensors."""
    return "cuda" in _KINDS


def init() -> None:
    """Import CuPy now, instead of at the first tensor on a device.

    Raises:
        AssertionError: if CuPy is not installed, in torch's words.
        RuntimeError: if there is no driver, or no device.
    """
    _loading.loaded()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether tensors of CUDA devices can be bfloat16: wherever there is one. Operations compute in float32."""
    return is_available()


def _cupy() -> Any:
    return _loading.loaded().library


def _index(device: Any) -> int:
    """The index that a `device=` argument means.

    Raises:
        ValueError: for a device of another kind.
        RuntimeError: if there is none with this index.
    """
    backend = _loading.loaded()
    if device is None:
        return int(backend.current())
    where = _device("cuda", device) if isinstance(device, int) else _device(device)
    if where.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {where}")
    return int(backend.chosen(where))


# -- which device --


def current_device() -> int:
    """Return the index of this thread's current device."""
    return int(_loading.loaded().current())


def set_device(device: Any) -> None:
    """Set this thread's current device. A negative index changes nothing."""
    if isinstance(device, int) and device < 0:
        return
    _cupy().cuda.Device(_index(device)).use()


class device:  # noqa: N801 - torch's name
    """Use a device for a block, `with torch.cuda.device(1): ...`; None and negative indices change nothing."""

    def __init__(self, device: Any) -> None:
        given = device if isinstance(device, int) or device is None else _device(device).index
        self.idx = -1 if given is None else given
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            self.prev_idx = current_device()
            try:
                set_device(self.idx)
            except BaseException:
                set_device(self.prev_idx)
                raise

    __exit__ = _Exit(lambda self: self.prev_idx, lambda self, before: set_device(before) if self.idx >= 0 else None)


class device_of(device):  # noqa: N801 - torch's name
    """Use the device of a tensor for a block, if it is on one: `with torch.cuda.device_of(tensor): ...`."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device.index if obj.is_cuda else -1)


def synchronize(device: Any = None) -> None:
    """Wait until a device has done all its work."""
    _cupy().cuda.Device(_index(device)).synchronize()


def get_device_properties(device: Any = None) -> Any:
    """Return a device's `name`, `major`, `minor`, `total_memory` in bytes, `multi_processor_count` and more."""
    found = _cupy().cuda.runtime.getDeviceProperties(_index(device))
    name = found["name"]
    return SimpleNamespace(
        name=name.decode() if isinstance(name, bytes) else name,
        major=found["major"],
        minor=found["minor"],
        total_memory=found["totalGlobalMem"],
        multi_processor_count=found["multiProcessorCount"],
        warp_size=found["warpSize"],
        max_threads_per_multi_processor=found["maxThreadsPerMultiProcessor"],
        L2_cache_size=found["l2CacheSize"],
    )


def get_device_name(device: Any = None) -> str:
    """Return the name of a device."""
    name: str = get_device_properties(device).name
    return name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return the compute capability of a device as (major, minor)."""
    found = get_device_properties(device)
    return found.major, found.minor


def get_arch_list() -> list[str]:
    """The architectures of the devices, as "sm_90"."""
    found = {get_device_capability(i) for i in range(device_count())}
    return [f"sm_{major}{minor}" for major, minor in sorted(found)]


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether a device can read the memory of another one."""
    index, peer = _index(device), _index(peer_device)
    return index != peer and bool(_cupy().cuda.runtime.deviceCanAccessPeer(index, peer))


# -- memory: what CuPy's pool says --


def _pool(device: Any, ask: str) -> int:
    """Return what method `ask` of a device's CuPy memory pool returns, in bytes; 0 while CUDA is unused."""
    backend = _backend_on("cuda")
    if backend is None:
        return 0
    with backend.on(_index(device)):  # type: ignore[attr-defined]
        return int(getattr(backend.library.get_default_memory_pool(), ask)())  # type: ignore[attr-defined]


def memory_allocated(device: Any = None) -> int:
    """Bytes in use of a device's memory pool, in pieces of 512."""
    return _pool(device, "used_bytes")


def memory_reserved(device: Any = None) -> int:
    """Bytes that the memory pool of a device has, in use or not."""
    return _pool(device, "total_bytes")


class _MemoryWatch:
    """Records the peak of a device's memory pool, which it reads at every allocation: CuPy reports current use only.

    Attributes:
        peak: the most bytes in use since `reset`.
    """

    def __init__(self, library: Any, index: int) -> None:
        self.library, self.index, self.peak = library, index, 0
        if not _inner or library.cuda.get_allocator() is not _allocate:
            _inner[:] = [library.cuda.get_allocator()]
            library.cuda.set_allocator(_allocate)

    def reset(self) -> None:
        """Set the peak to the bytes in use now."""
        with self.library.cuda.Device(self.index):
            self.peak = self.library.get_default_memory_pool().used_bytes()


_watches: dict[int, _MemoryWatch] = {}  # by device
_inner: list[Any] = []  # the allocator in use before this one


def _allocate(size: int) -> Any:
    made = _inner[0](size)
    watch = _watches.get(made.device_id)
    if watch is not None:
        watch.peak = max(watch.peak, watch.library.get_default_memory_pool().used_bytes())
    return made


def _watch(device: Any) -> _MemoryWatch:
    backend, index = _loading.loaded(), _index(device)
    found = _watches.get(index)
    if found is None or found.library is not backend.library:
        found = _watches[index] = _MemoryWatch(backend.library, index)
    return found


def max_memory_allocated(device: Any = None) -> int:
    """Return the peak of bytes in use since `reset_peak_memory_stats`; before its first call, the bytes in use now."""
    watch = _watches.get(_index(device)) if is_initialized() else None
    return memory_allocated(device) if watch is None else max(watch.peak, memory_allocated(device))


max_memory_reserved = memory_reserved  # a pool grows, until `empty_cache`


def reset_peak_memory_stats(device: Any = None) -> None:
    """Reset the peak, and track it from now on by looking at every allocation.

    Nothing happens where there is no CUDA device.
    """
    if is_available():
        _watch(device).reset()


reset_max_memory_allocated = reset_peak_memory_stats


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Numbers of the memory pool under torch's names: current and peak of bytes in use and reserved."""
    found: OrderedDict[str, Any] = OrderedDict()
    if is_initialized():
        found["allocated_bytes.all.current"] = memory_allocated(device)
        found["allocated_bytes.all.peak"] = max_memory_allocated(device)
        found["reserved_bytes.all.current"] = found["reserved_bytes.all.peak"] = memory_reserved(device)
    return found


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """The numbers of `memory_stats`, a dict for each part of their names: `found["allocated_bytes"]["all"]["peak"]`."""
    from ..cpu.memory import nested

    return nested(memory_stats(device))


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The numbers of `memory_stats` in lines; an empty text where nothing is on a device."""
    return "\n".join(f"{name:32}{value:>16,}" for name, value in memory_stats(device).items())


def empty_cache() -> None:
    """Return unused memory of the memory pools, pinned memory included, to the driver."""
    if is_initialized():
        cupy = _cupy()
        cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return the free and the total memory of a device, in bytes."""
    free, total = _cupy().cuda.Device(_index(device)).mem_info
    return int(free), int(total)


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Limit the memory pool of a device to a fraction of the device's memory.

    Raises:
        TypeError: if `fraction` is no float.
        ValueError: for a fraction below 0 or above 1.
    """
    backend, index = _loading.loaded(), _index(device)
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    with backend.on(index):
        backend.library.get_default_memory_pool().set_limit(fraction=fraction)


# -- random numbers: one generator, on the host, seeds what devices draw --


def manual_seed(seed: int) -> None:
    """Seed the generator, which the CPU shares. Does nothing without a CUDA device."""
    if is_available():
        _generator.manual_seed(seed)


def seed() -> None:
    """Seed the generator with a random number. Does nothing without a CUDA device."""
    if is_available():
        _generator.seed()


def initial_seed() -> int:
    """The seed of the generator."""
    _loading.loaded()
    return _generator.initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """The state of the generator."""
    _index(device)
    return _generator.get_rng_state()


def get_rng_state_all() -> list[Any]:
    """The state for each device: the same one."""
    return [_generator.get_rng_state() for _ in range(device_count())]


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Set the state of the generator. Does nothing without a CUDA device."""
    if is_available():
        _index(device)
        _generator.set_rng_state(new_state)


def set_rng_state_all(new_states: Any) -> None:
    """Set the state of the generator to the first of several."""
    for state in list(new_states)[:1]:
        set_rng_state(state)


manual_seed_all, seed_all = manual_seed, seed

__all__ = [
    "Event",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]
