"""Devices, memory, streams and events of the stand-in.

Kernels run at once. Copies between pinned host memory and a device wait in their stream and run as late as they
may, when something waits for them: what a program forgets to wait for shows as wrong numbers. Memory that was
freed is overwritten with 0xFF when the stream that it belongs to comes to that: as CuPy's pool reuses it.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections import deque

import numpy as np

GRAIN = 512


class CUDARuntimeError(RuntimeError):
    pass


class OutOfMemoryError(MemoryError):
    pass


class State:
    """What there is: set by `fake_cupy.installed`."""

    count = 0
    capacity = 1 << 30
    copies = {"h2d": 0, "d2h": 0, "implicit": 0}  # noqa: RUF012 - one state for all


class _Local(threading.local):
    def __init__(self):
        self.device = 0
        self.streams = []  # (device, stream), innermost last


LOCAL = _Local()


class Device:
    def __init__(self, device=None):
        self.id = LOCAL.device if device is None else int(device)
        self._before = []

    def __int__(self):
        return self.id

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self):
        return hash(self.id)

    def __enter__(self):
        self._before.append(LOCAL.device)
        runtime.setDevice(self.id)
        return self

    def __exit__(self, *exc):
        LOCAL.device = self._before.pop()

    def use(self):
        runtime.setDevice(self.id)
        return self

    def synchronize(self):
        for queue in list(QUEUES.values()):
            if queue.device == self.id:
                queue.run()

    @property
    def compute_capability(self):
        return "90"

    @property
    def mem_info(self):
        with self:
            return runtime.memGetInfo()

    @property
    def attributes(self):
        return {"MultiProcessorCount": 4}

    def __repr__(self):
        return f"<CUDA Device {self.id}>"


class runtime:
    CUDARuntimeError = CUDARuntimeError
    is_hip = False

    @staticmethod
    def getDeviceCount():
        if not State.count:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return State.count

    @staticmethod
    def getDevice():
        return LOCAL.device

    @staticmethod
    def setDevice(device):
        if not 0 <= device < State.count:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        LOCAL.device = device

    @staticmethod
    def memGetInfo():
        used = sum(s for d, s in POOL.totals.items() if d == LOCAL.device)
        return State.capacity - used, State.capacity

    @staticmethod
    def deviceSynchronize():
        Device().synchronize()

    @staticmethod
    def deviceCanAccessPeer(device, peer):
        return 1

    @staticmethod
    def runtimeGetVersion():
        return 12090

    @staticmethod
    def driverGetVersion():
        return 12090

    @staticmethod
    def getDeviceProperties(device):
        if not 0 <= device < State.count:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        return {
            "name": b"Stand-in",
            "totalGlobalMem": State.capacity,
            "major": 9,
            "minor": 0,
            "multiProcessorCount": 4,
            "warpSize": 32,
            "maxThreadsPerMultiProcessor": 2048,
            "l2CacheSize": 1 << 20,
        }


class Memory:
    """A piece of device memory."""

    def __init__(self, nbytes):
        self.device_id = LOCAL.device
        self.size = -(-max(nbytes, 1) // GRAIN) * GRAIN
        self.buffer = np.full(self.size, 0xFF, np.uint8)
        self.ptr = self.buffer.__array_interface__["data"][0]
        self.home = queue_of(get_current_stream())
        POOL.take(self)

    def __del__(self):
        """Free for others at once, in the order of the stream that it belongs to."""
        buffer = self.buffer
        self.home.give(lambda: buffer.fill(0xFF))
        POOL.give(self)


class MemoryPointer:
    def __init__(self, mem, offset):
        self.mem, self.ptr, self.device_id = mem, mem.ptr + offset, mem.device_id
        self.device = Device(mem.device_id)

    def __add__(self, offset):
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)


class MemoryPool:
    def __init__(self, allocator=None):
        self.used, self.totals, self.limit, self.lock = {}, {}, 0, threading.RLock()

    def take(self, mem):
        device = mem.device_id
        with self.lock:
            used = self.used.get(device, 0) + mem.size
            if used > (self.limit or State.capacity):
                self.used[device] = used  # the dying memory gives it back
                raise OutOfMemoryError(f"Out of memory allocating {mem.size:,} bytes")
            self.used[device] = used
            self.totals[device] = max(self.totals.get(device, 0), used)

    def give(self, mem):
        with self.lock:
            self.used[mem.device_id] -= mem.size

    def malloc(self, size):
        return MemoryPointer(Memory(size), 0)

    def used_bytes(self):
        return self.used.get(LOCAL.device, 0)

    def total_bytes(self):
        return self.totals.get(LOCAL.device, 0)

    def free_bytes(self):
        return self.total_bytes() - self.used_bytes()

    def free_all_blocks(self, stream=None):
        self.totals[LOCAL.device] = self.used_bytes()

    def n_free_blocks(self):
        return int(self.free_bytes() > 0)

    def set_limit(self, size=None, fraction=None):
        self.limit = int(size if size is not None else State.capacity * (fraction or 0))

    def get_limit(self):
        return self.limit


POOL = MemoryPool()
ALLOCATOR = [POOL.malloc]


def set_allocator(allocator=None):
    ALLOCATOR[0] = allocator or POOL.malloc


def get_allocator():
    return ALLOCATOR[0]


# -- pinned host memory --

PINNED = {}  # address -> size


def _let_go(memory):
    PINNED.pop(ctypes.addressof(memory), None)


class PinnedMemoryPool:
    def malloc(self, size):
        """Host memory with Python's buffer protocol. CuPy rounds up, too: it is longer than what was asked for."""
        size = -(-max(size, 1) // GRAIN) * GRAIN
        members = {
            "_type_": ctypes.c_byte,
            "_length_": size,
            "__del__": _let_go,
            "__module__": "cupy.cuda.pinned_memory",
        }
        memory = type("PinnedMemoryPointer", (ctypes.Array,), members)()
        PINNED[ctypes.addressof(memory)] = size
        return memory

    def free_all_blocks(self):
        pass

    def n_free_blocks(self):
        return 0


PINNED_POOL = PinnedMemoryPool()


def alloc_pinned_memory(size):
    return PINNED_POOL.malloc(size)


def is_pinned(array):
    at = array.__array_interface__["data"][0]
    return any(start <= at < start + size for start, size in list(PINNED.items()))


# -- streams --

QUEUES = {}


class Queue:
    def __init__(self, device, ptr, blocking):
        self.device, self.ptr, self.blocking = device, ptr, blocking
        self.work, self.given, self.done = deque(), 0, 0

    def give(self, work):
        self.work.append(work)
        self.given += 1

    def run(self, until=None):
        until = self.given if until is None else until
        while self.done < until:
            self.done += 1
            self.work.popleft()()

    def before_kernel(self):
        """What a kernel on this stream comes after: with the null stream, all that do not opt out."""
        self.run()
        if self.blocking:
            for other in list(QUEUES.values()):
                if other.device == self.device and other.blocking and (self.ptr == 0 or other.ptr == 0):
                    other.run()


def queue_of(stream):
    device = LOCAL.device if stream.device_id < 0 else stream.device_id
    key = (device, stream.ptr)
    if key not in QUEUES:
        QUEUES[key] = Queue(device, stream.ptr, not stream._non_blocking)
    return QUEUES[key]


class Stream:
    null = None
    ptds = None
    _numbers = iter(range(1000, 1 << 30))

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        self._non_blocking = non_blocking
        self.ptr = 0 if null else next(self._numbers)
        self.device_id = -1 if null else LOCAL.device
        if not null:
            self.priority = priority or 0

    def __eq__(self, other):
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self):
        return self.ptr

    def _matching(self):
        if self.device_id not in (-1, LOCAL.device):
            raise RuntimeError(
                f"The device that the stream is created on ({self.device_id}) does not match with the current device "
                f"({LOCAL.device})"
            )

    def __enter__(self):
        self._matching()
        LOCAL.streams.append((LOCAL.device, self))
        return self

    def __exit__(self, *exc):
        LOCAL.streams.pop()

    def use(self):
        self._matching()
        LOCAL.streams[:] = [(d, s) for d, s in LOCAL.streams if d != LOCAL.device] + [(LOCAL.device, self)]
        return self

    @property
    def done(self):
        queue = queue_of(self)
        return queue.done == queue.given

    @property
    def is_non_blocking(self):
        return self._non_blocking

    def synchronize(self):
        queue_of(self).run()

    def record(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event):
        queue, until = event._moment
        if queue is not None:
            queue_of(self).give(lambda: queue.run(until))

    def launch_host_func(self, callback, arg):
        queue_of(self).give(lambda: callback(arg))

    def __repr__(self):
        return f"<Stream {self.ptr} (device {self.device_id})>"


Stream.null = Stream(null=True)
Stream.ptds = Stream.null


class Event:
    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.ptr = id(self)
        self._moment = (None, 0)
        self._timed, self._at = not disable_timing, None

    def record(self, stream=None):
        queue = queue_of(stream or get_current_stream())
        self._moment, self._at = (queue, queue.given), time.perf_counter()

    @property
    def done(self):
        queue, until = self._moment
        return queue is None or queue.done >= until

    def synchronize(self):
        queue, until = self._moment
        if queue is not None:
            queue.run(until)


def get_elapsed_time(start_event, end_event):
    if not (start_event._timed and end_event._timed) or start_event._at is None or end_event._at is None:
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
    if not (start_event.done and end_event.done):
        raise CUDARuntimeError("cudaErrorNotReady: device not ready")
    return (end_event._at - start_event._at) * 1e3


def get_current_stream(device_id=-1):
    device = LOCAL.device if device_id < 0 else device_id
    return next((s for d, s in reversed(LOCAL.streams) if d == device), Stream.null)


def get_device_id():
    return LOCAL.device


def is_available():
    return State.count > 0


def kernel():
    """What every kernel does first."""
    if not State.count:
        runtime.getDeviceCount()
    queue_of(get_current_stream()).before_kernel()
