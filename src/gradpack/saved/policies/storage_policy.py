"""`Stored`: policies made of stages, which pack each storage once per version, whatever views of it are saved.

The whole storage of a tensor is packed, and shape, offset and strides say where in it the tensor is.
Tensors that share a storage share its packed data, and are unpacked as views of one array. Of a slice
much smaller than its storage only the elements are packed.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet, WeakValueDictionary

from ...core.tensor import Tensor
from ..info import SavedInfo, described
from ..policy import Policy, Select
from ..storage import DeviceMemory, Memory, RemoteMemory, dense, memory_of, weakly
from .background import JobQueue
from .codec import SIGNS, CopyLimits, Stage
from .on_device import LIMITS, CopiesInFlight, PackedDeviceStorage
from .packed_store import PackedStorage, PackedTensor, PackingPlan, PrefetchOrder
from .transfers import Transfers

SMALL = 4  # of a view of less than 1/4 of its storage only the elements are packed

_SIGNS_ONLY = ("ReluBackward0", "out")  # a saved tensor of which backward needs only `x > 0`

Step = tuple[Stage, Select | None]


class Stored(Policy):
    """A policy made of stages. `a >> b` is one policy with the stages of both.

    Attributes:
        transfers: the counts of its copies between devices and the host.
    """

    guards_writes = bits_for_relu = True

    def __init__(self, *steps: Step) -> None:
        self.steps = steps
        self.name = " >> ".join(_shown(step) for step in steps) or "keep()"
        self._known: WeakValueDictionary[Any, PackedStorage] = WeakValueDictionary()  # by storage, version and stages
        self._records: WeakSet[PackedStorage] = WeakSet()
        windows = [stage.window for stage, _ in steps if stage.background is not None]
        self._workers = JobQueue(2, min(windows)) if windows else None
        self._order = PrefetchOrder(min(windows, default=0))
        own = CopyLimits(min(windows), min(windows), LIMITS.pinned) if windows else LIMITS
        self._limits = next((stage.limits for stage, _ in steps if stage.limits is not None), own)
        self.transfers = Transfers()
        self._flight: CopiesInFlight | None = None  # the copies from devices, once there are any

    def pack(self, tensor: Any, info: Any = None) -> Any:
        info = info or described(tensor)
        steps = self._steps_for(info)
        label = (info.node_name, info.slot)
        # Not for tensors of another library, whose label is unknown, or a guess from the last step.
        if isinstance(tensor, Tensor) and label == _SIGNS_ONLY and any(stage.coarse for stage in steps):
            steps = (SIGNS, *(stage for stage in steps if stage.lossless))
        memory = memory_of(tensor) if steps or not self.steps else None
        if memory is None:
            return tensor
        return self._keep(memory, steps, info)

    def _steps_for(self, info: SavedInfo) -> tuple[Stage, ...]:
        return tuple([stage for stage, select in self.steps if (select is None or select(info)) and stage.takes(info)])

    def _keep(self, memory: Memory, steps: tuple[Stage, ...], info: SavedInfo) -> Any:
        if isinstance(memory, RemoteMemory):
            return self._keep_fetched(memory, steps, info)
        data, whole = memory.data, memory.whole
        start = memory.address(data)
        key: Any = (memory.key, memory.version, steps)
        is_dense = whole.flags.c_contiguous or whole.flags.f_contiguous
        is_base = whole.dtype == data.dtype and whole.nbytes > 0 and bool(is_dense)
        record = self._find(key) if is_base else None
        if record is None and is_base and info.nbytes * SMALL >= whole.nbytes:
            if not steps:
                return memory.tensor
            row = whole.shape[-1] if whole.ndim else 1
            record = self._record(key, memory, whole, None, True, info, row)
        if record is None:
            key += (start, data.shape, data.strides, data.dtype)
            record = self._find(key)
        if record is None:
            elements, layout, is_shared = memory.dense()
            if is_shared and not steps:
                elements, is_shared = memory.copied(elements), False
            record = self._record(key, memory, elements, layout, is_shared, info)
        info.policy, info.tier, info.packed_bytes = self.name, record.tier, record.nbytes
        if record.layout is not None:
            return PackedTensor(record, None, memory.like)
        offset = start - memory.address(whole)
        return PackedTensor(record, (data.shape, data.dtype, offset, data.strides), memory.like)

    def _keep_fetched(self, memory: RemoteMemory, steps: tuple[Stage, ...], info: SavedInfo) -> Any:
        key = (memory.key, memory.version, steps)
        record = self._find(key)
        if record is None:
            if not steps:
                return memory.tensor
            host = memory.fetch()
            row = host.shape[-1] if host.ndim else 1
            record = self._record(key, memory, host, dense(host)[1], False, info, row)
        info.policy, info.tier, info.packed_bytes = self.name, record.tier, record.nbytes
        return PackedTensor(record, None, memory.like)

    def _find(self, key: Any) -> PackedStorage | None:
        record = self._known.get(key)
        return record if record is not None and record.alive() is not None and record.error is None else None

    def _record(
        self, key: Any, memory: Memory, array: Any, layout: Any, is_shared: bool, info: SavedInfo, row: int = 1
    ) -> PackedStorage:
        steps: tuple[Stage, ...] = key[2]
        least = min([stage.background for stage in steps if stage.background is not None], default=None)
        workers = None if least is None or not (memory.is_far or array.nbytes >= least) else self._workers
        known = bool(info.op) and isinstance(memory.tensor, Tensor)
        sign = info.node_name, info.slot
        how = PackingPlan(steps, workers, self._order, row, known, sign, self._limits, self.transfers)
        record = self._packed(memory, array, layout, is_shared, how)
        self._known[key] = record
        self._records.add(record)
        return record

    def _packed(self, memory: Memory, array: Any, layout: Any, is_shared: bool, how: PackingPlan) -> PackedStorage:
        if isinstance(memory, DeviceMemory):
            return self._packed_of_device(memory, array, layout, is_shared, how)
        workers = how.workers
        flat = array.reshape(-1, order="A")
        if workers is not None and is_shared and not memory.guards:
            flat = flat.copy()
        record = PackedStorage(flat, layout, how, memory.alive, flat.nbytes)
        self._start(record, workers)
        if workers is not None and is_shared and memory.guards:  # in-place writes wait until it is packed
            memory.guard(record)
        return record

    def _packed_of_device(
        self, memory: DeviceMemory, array: Any, layout: Any, is_shared: bool, how: PackingPlan
    ) -> PackedStorage:
        if self._flight is None:
            self._order.on_device(self._limits.ahead)
            self._flight = CopiesInFlight(self._limits.window)
        record = PackedDeviceStorage(memory, array, layout, is_shared, how)
        self._start(record, None if record.is_as_it_was else how.workers)
        self._flight.add(record)
        return record

    def _start(self, record: PackedStorage, workers: JobQueue | None) -> None:
        """Pack a record: in the background, or at once without workers."""
        if workers is None:
            record.encode()
        else:
            record.job = workers.add(weakly(record.encode), record.size)

    def unpack(self, packed: Any) -> Any:
        return packed.tensor() if type(packed) is PackedTensor else packed

    def _where(self, select: Select) -> Policy:
        return Stored(*((stage, select if old is None else old & select) for stage, old in self.steps))

    def __rshift__(self, other: Policy) -> Policy:
        return Stored(*self.steps, *other.steps) if isinstance(other, Stored) else Policy.__rshift__(self, other)

    @property
    def packed_bytes(self) -> int:
        """The bytes in memory of all records of this policy."""
        return sum(record.nbytes for record in self._records)

    @property
    def bytes_on_disk(self) -> int:
        """The bytes in use in the files of its stages."""
        return sum(stage.bytes_on_disk for stage, _ in self.steps)

    def wait(self) -> None:
        """Wait until all records are packed. Errors are raised when they are unpacked."""
        if self._workers is not None:
            self._workers.drain()
        if self._flight is not None:
            self._flight.drain()


def _shown(step: Step) -> str:
    stage, select = step
    return repr(stage) if select is None else f"{stage!r}.where({select})"


def keep() -> Stored:
    """Keep saved tensors as they are, but copy slices of less than a quarter of their storage, so that it can be freed.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.randn(1000, 8, requires_grad=True)
        >>> with saved.keep():
        ...     y = x.exp()[:10].sin().sum()  # sin keeps 10 rows of what exp made
        >>> y.backward()
    """
    return Stored()
