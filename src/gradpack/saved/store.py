"""Policies that store arrays: each storage once per version, whatever views of it are saved.

What is packed is the memory behind a tensor, and a recipe says where in it the tensor lies. Tensors
that share memory share what was packed of it, and come back as views of one unpacked array. A slice
much smaller than the memory that it would keep alive is copied instead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from ..tensor.saved import DERIVED, Derived
from ..tensor.tensor import Tensor
from .background import Job, Workers
from .foreign import DeviceMemory, Memory, described, memory_of, tensor_like
from .info import SavedInfo
from .order import Order
from .policy import Policy
from .select import Select
from .signs import SIGNS
from .stage import Stage
from .storage import dense, undense

SMALL = 4  # a view of less than one part in so many of its memory is copied

_SIGNS_ONLY = ("ReluBackward0", "out")  # whose backward asks which elements are above zero, and nothing else

Step = tuple[Stage, Select | None]


class Stored(Policy):
    """A policy made of stages. Combining two makes one with the stages of both."""

    bits_for_relu = True

    def __init__(self, *steps: Step) -> None:
        self.steps = steps
        self.name = " >> ".join(_shown(step) for step in steps) or "keep()"
        self._known: dict[Any, ref[Record]] = {}
        windows = [stage.window for stage, _ in steps if stage.background is not None]
        self._workers = Workers(2, min(windows)) if windows else None
        self._order = Order(self._workers)

    def pack(self, tensor: Any, info: Any = None) -> Any:
        if info is None:
            info = described(tensor)
        steps = self._steps_for(info)
        label = (info.node_name, info.slot)
        is_ours = isinstance(tensor, Tensor)  # of others, label and node are not known, or are what the last step had
        if is_ours and label in DERIVED and _is_coarse(info.node, steps):
            info.policy, info.packed_bytes = f"{self.name} (from the input)", 0
            return Derived(info.node, label)
        if is_ours and label == _SIGNS_ONLY and any(stage.coarse for stage in steps):
            steps = (SIGNS, *(stage for stage in steps if stage.lossless))
        memory = memory_of(tensor) if steps or not self.steps else None
        if memory is None:
            return tensor
        return self._keep(memory, steps, info)

    def derives(self, info: SavedInfo) -> bool:
        return (info.node_name, info.slot) in DERIVED and _is_coarse(info.node, self._steps_for(info))

    def _steps_for(self, info: SavedInfo) -> tuple[Stage, ...]:
        return tuple([stage for stage, select in self.steps if (select is None or select(info)) and stage.takes(info)])

    def _keep(self, memory: Memory, steps: tuple[Stage, ...], info: SavedInfo) -> Any:
        if isinstance(memory, DeviceMemory):
            return self._keep_from_device(memory, steps, info)
        data, whole = memory.data, memory.whole
        start = data.__array_interface__["data"][0]
        known = bool(info.op) and isinstance(memory.tensor, Tensor)
        key: Any = (memory.key, memory.version, steps)
        is_base = whole.dtype == data.dtype and whole.nbytes > 0 and _is_dense(whole)
        record = self._find(key) if is_base else None
        if record is None and is_base and info.nbytes * SMALL >= whole.nbytes:
            if not steps:
                return memory.tensor
            record = self._record(
                key,
                memory,
                whole.reshape(-1, order="A"),
                None,
                steps,
                True,
                known,
                whole.shape[-1] if whole.ndim else 1,
            )
        if record is None:
            key += (start, data.shape, data.strides, data.dtype)
            record = self._find(key)
        if record is None:
            elements, layout = dense(data)
            is_shared = bool(np.may_share_memory(elements, data))
            if is_shared and not steps:
                elements, is_shared = elements.copy(), False
            record = self._record(key, memory, elements.reshape(-1), layout, steps, is_shared, known)
        info.policy, info.tier, info.packed_bytes = self.name, record.tier, record.nbytes
        if record.layout is not None:
            return Handle(record, None, memory.like)
        offset = start - whole.__array_interface__["data"][0]
        return Handle(record, (data.shape, data.dtype, offset, data.strides), memory.like)

    def _keep_from_device(self, memory: DeviceMemory, steps: tuple[Stage, ...], info: SavedInfo) -> Any:
        key = (memory.key, memory.version, steps)
        record = self._find(key)
        if record is None:
            if not steps:
                return memory.tensor
            host = memory.fetch()
            row = host.shape[-1] if host.ndim else 1
            record = self._record(key, memory, host.reshape(-1), dense(host)[1], steps, False, bool(info.op), row)
        info.policy, info.tier, info.packed_bytes = self.name, record.tier, record.nbytes
        return Handle(record, None, memory.like)

    def _find(self, key: Any) -> Record | None:
        found = self._known.get(key)
        record = None if found is None else found()
        return record if record is not None and record.alive() else None

    def _record(
        self,
        key: Any,
        memory: Memory,
        flat: Any,
        layout: Any,
        steps: tuple[Stage, ...],
        is_shared: bool,
        known: bool,
        row: int = 1,
    ) -> Record:
        beside = any(stage.background is not None and flat.nbytes >= stage.background for stage in steps)
        workers = self._workers if beside else None
        if workers is not None and is_shared and not memory.guards:
            flat = flat.copy()
        record = Record(flat, layout, steps, memory.alive, self._order, workers, row, known)
        table = self._known

        def forget(dead: ref[Record]) -> None:
            if table.get(key) is dead:
                del table[key]

        if workers is not None:
            weak = ref(record)

            def work() -> None:
                mine = weak()
                if mine is not None:
                    mine.encode()

            record.job = workers.add(work, flat.nbytes)
            if is_shared and memory.guards:  # who writes to it waits until it is stored
                memory.guard(record)
        else:
            record.encode()
        table[key] = ref(record, forget)
        return record

    def unpack(self, packed: Any) -> Any:
        if type(packed) is Handle:
            return packed.tensor()
        return packed.tensor() if type(packed) is Derived else packed

    def _where(self, select: Select) -> Policy:
        return _stored(*((stage, select if old is None else old & select) for stage, old in self.steps))

    def __rshift__(self, other: Policy) -> Policy:
        return _stored(*self.steps, *other.steps) if isinstance(other, Stored) else Policy.__rshift__(self, other)

    @property
    def packed_bytes(self) -> int:
        """The bytes in memory of all that this policy keeps now."""
        return sum(record.nbytes for found in list(self._known.values()) if (record := found()) is not None)

    def wait(self) -> None:
        """Wait until all that was packed is stored. Errors show when it is unpacked."""
        if self._workers is not None:
            self._workers.drain()


def _stored(*steps: Step) -> Stored:
    kind = next((stage.policy for stage, _ in reversed(steps) if stage.policy is not None), Stored)
    made: Stored = kind(*steps)
    return made


def _shown(step: Step) -> str:
    stage, select = step
    return repr(stage) if select is None else f"{stage!r}.where({select})"


def _is_coarse(node: Any, steps: tuple[Stage, ...]) -> bool:
    """Whether a result, or the input that it is to be divided by, comes back inexactly."""
    held = getattr(getattr(node, "input", None), "handle", None)
    held = getattr(held, "packed", held)  # of a chain
    stages = (*steps, *held.record.steps) if type(held) is Handle else steps
    return any(stage.coarse for stage in stages)


def _is_dense(array: Any) -> bool:
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)


class Record:
    """What was packed of one storage, at one version."""

    __slots__ = (
        "__weakref__",
        "_again",
        "_ahead",
        "_drawn",
        "_extras",
        "_lock",
        "_order",
        "_parts",
        "_place",
        "_served",
        "_source",
        "_strong",
        "_workers",
        "alive",
        "counter",
        "handles",
        "job",
        "layout",
        "nbytes",
        "size",
        "steps",
        "told",
    )

    def __init__(
        self,
        flat: Any,
        layout: Any,
        steps: tuple[Stage, ...],
        alive: Callable[[], bool],
        order: Order,
        workers: Workers | None,
        row: int,
        known: bool,
    ) -> None:
        self._workers = workers
        self.told: tuple[Any, ...] = ()  # are called with the arrays that it consists of, once it is stored
        self._source: Any = flat
        self.layout, self.steps, self.alive, self._order = layout, steps, alive, order
        self._parts: Any = None
        self._extras: list[Any] = []
        self._lock = threading.Lock()
        self._again: ref[Any] | None = None  # what was unpacked last, while somebody uses it
        self._strong: Any = None  # the same, while others are to come
        self._served = self.handles = 0
        self.nbytes: int = flat.nbytes
        self.size: int = flat.nbytes  # of what was packed
        self.job: Job | None = None
        self._ahead: Job | None = None
        self.counter = [0]  # of what was unpacked
        self._drawn = tuple([stage.draw(row, known) for stage in steps])
        self._place = order.packed(self)

    @property
    def tier(self) -> str:
        return next((stage.tier for stage in reversed(self.steps) if stage.tier), "memory")

    @property
    def bytes_on_disk(self) -> int:
        """What is in a file of it."""
        pieces = [piece for extra in self._extras if isinstance(extra, list) for piece in extra]
        return sum(piece.size for piece in pieces if hasattr(piece, "file"))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What is in memory of it."""
        return (self._source,) if self._parts is None else self._parts

    @property
    def holding(self) -> Any:
        """What is held because somebody is to ask for it again; None if nothing is."""
        return self._strong

    def encode(self) -> None:
        """Store it. On the thread of the program, or on another one."""
        parts: tuple[Any, ...] = (self._source,)
        extras = []
        for stage, drawn in zip(self.steps, self._drawn, strict=True):
            parts, extra = stage.encode(parts, drawn)
            extras.append(extra)
        self.nbytes = sum([part.nbytes for part in parts])
        self._extras = extras
        self._parts = parts
        self._source = None
        for tell in self.told:
            tell(parts)

    def settle(self) -> None:
        """Wait until it is stored. What goes wrong shows when it is unpacked."""
        if self.job is not None and self._workers is not None:
            self._workers.finish(self.job)

    before_write = settle

    def flat(self) -> Any:
        """The elements again, as one array without dimensions. Tensors that are in use at a time share it."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and self._workers is not None:
            self._workers.finish(ahead)  # its error shows below
        array = self._forwarded()
        if array is None:
            self.settle()
            with self._lock:
                self._served += 1
                array = self._strong
                if array is None or self.counter[0]:
                    array = self._decoded()
                is_last = self.handles < 2 or self._served % self.handles == 0
                self._strong = None if is_last else array
            if not is_last:
                self._order.holds(self)
        self._order.unpacked(self._place)
        return array

    def _forwarded(self) -> Any:
        """What was to be stored, if that has not come so far, and would give it back as it is."""
        source = self._source
        job = self.job
        if source is None or job is None or job.done or not all(stage.lossless for stage in self.steps):
            return None
        shown = source.view()
        shown.flags.writeable = False
        return shown

    def _decoded(self) -> Any:
        if self.job is not None and self.job.error is not None:
            raise self.job.error
        array = None if self._again is None or self.counter[0] else self._again()
        if array is not None:
            return array
        parts = self._parts
        for stage, extra in zip(reversed(self.steps), reversed(self._extras), strict=True):
            parts = stage.decode(parts, extra)
        (array,) = parts
        self._again, self.counter = ref(array), [0]
        return array

    def fetch(self) -> None:
        """Unpack it before it is asked for."""
        workers = self._workers
        if workers is None or self._ahead is not None or self._strong is not None or self._parts is None:
            return
        weak = ref(self)

        def work() -> None:
            record = weak()
            if record is not None:
                with record._lock:
                    if record._strong is None:
                        record._strong = record._decoded()

        self._ahead = workers.add(work, 0)

    def release(self) -> None:
        """Do not hold what was unpacked."""
        self._strong = None


class Handle:
    """Stands in the graph for one saved tensor: what was packed, and where in it the tensor lies."""

    __slots__ = ("like", "recipe", "record")

    def __init__(self, record: Record, recipe: Any, like: Any) -> None:
        self.record, self.recipe, self.like = record, recipe, like
        record.handles += 1

    def __del__(self) -> None:
        self.record.handles -= 1

    @property
    def nbytes(self) -> int:
        return self.record.nbytes

    def held(self, tell: Callable[[Any], None]) -> Any:
        """The arrays in memory that this keeps; `tell` is called with others that come later."""
        if tell not in self.record.told:
            self.record.told += (tell,)
        return self.record.arrays

    def tensor(self) -> Any:
        record = self.record
        flat = record.flat()
        if type(self.like) is not tuple and not flat.flags.writeable:
            flat = flat.copy()  # torch knows no memory that must not be written to
        if self.recipe is None:
            array = undense(flat, record.layout)
        else:
            shape, dtype, offset, strides = self.recipe
            array = np.ndarray(shape, dtype, flat, offset, strides)
        return tensor_like(array, self.like, record.counter)


def keep() -> Stored:
    """Saved tensors as they are, but a slice of less than a quarter of its memory is copied, so that the rest can go.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.randn(1000, 8, requires_grad=True)
        >>> with saved.keep():
        ...     y = x.exp()[:10].sin().sum()  # sin keeps 10 rows of what exp made
        >>> y.backward()
    """
    return Stored()
