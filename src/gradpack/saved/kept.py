"""What a policy has packed: one record for each storage and version, one handle for each saved tensor."""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from .background import Job, Workers
from .foreign import tensor_like
from .order import Order
from .stage import Stage
from .storage import undense


class How(NamedTuple):
    """How something is to be stored.

    Attributes:
        steps: the stages that it goes through.
        workers: who does that beside the program; None for nobody.
        order: what it is fetched in.
        row: the last size of the array, 1 if it is not known.
        known: is it known which operation saves it?
        sign: what else than its size tells it from others in the order.
    """

    steps: tuple[Stage, ...]
    workers: Workers | None
    order: Order
    row: int
    known: bool
    sign: Any


class Record:
    """What was packed of one storage, at one version.

    Args:
        flat: its elements in host memory, or None if they never come there.
        layout: how they lay, if they were put together.
        alive: says whether the memory that they came from is.
        size: bytes of the elements.
    """

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
        "_source",
        "_strong",
        "_workers",
        "alive",
        "asked",
        "counter",
        "handles",
        "job",
        "layout",
        "nbytes",
        "size",
        "steps",
        "told",
        "uses",
    )

    def __init__(self, flat: Any, layout: Any, how: How, alive: Callable[[], bool], size: int) -> None:
        self._workers = how.workers
        self.told: tuple[Any, ...] = ()  # are called with the arrays that it consists of, once it is stored
        self._source: Any = flat
        self.layout, self.steps, self.alive, self._order = layout, how.steps, alive, how.order
        self._parts: Any = None
        self._extras: list[Any] = []
        self._lock = threading.Lock()
        self._again: ref[Any] | None = None  # what was unpacked last, while somebody uses it
        self._strong: Any = None  # the same, while others are to come
        self.handles = 0
        self.asked = self.uses = 0  # how often somebody did, and how often they will in a pass
        self.nbytes = self.size = size  # the second is that of what was packed
        self.job: Job | None = None
        self._ahead: Job | None = None
        self.counter = [0]  # of what was unpacked
        self._drawn = tuple([stage.draw(how.row, how.known) for stage in how.steps])
        self._place = how.order.packed(self, how.sign)

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
    def error(self) -> BaseException | None:
        """Why it could not be stored."""
        return None if self.job is None else self.job.error

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
        self._finish_ahead()
        self.asked += 1
        array = self._forwarded()
        if array is None:
            self.settle()
            with self._lock:
                array = self._strong
                if array is None or self.counter[0]:
                    array = self._decoded()
                is_last = self.is_last
                self._strong = None if is_last else array
            if not is_last:
                self._order.holds(self)
        self._tell_order()
        return array

    def _finish_ahead(self) -> None:
        """Wait for what is being fetched. Its error shows where it is tried again."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and self._workers is not None:
            self._workers.finish(ahead)

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
        array = None if self._again is None or self.counter[0] else self._again()
        if array is None:
            array = self._decoded_anew()
            self._again, self.counter = ref(array), [0]
        return array

    def _decoded_anew(self) -> Any:
        if self.error is not None:
            raise afresh(self.error) from None
        parts = self._parts
        for stage, extra in zip(reversed(self.steps), reversed(self._extras), strict=True):
            parts = stage.decode(parts, extra)
        (array,) = parts
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

    @property
    def is_last(self) -> bool:
        """Whether whoever asks now is the last one in this pass."""
        return self.handles < 2 or self.asked % self.uses == 0

    def _tell_order(self) -> None:
        """Somebody has asked for it: what comes next is fetched."""
        self._order.unpacked(self._place, -(-self.asked // max(self.uses, 1)))

    @property
    def can_wait(self) -> bool:
        """Whether it can be fetched before it is asked for."""
        return self._workers is not None

    @property
    def is_waiting(self) -> bool:
        """Whether it was fetched, and nobody has asked for it yet."""
        return self._ahead is not None

    def release(self) -> None:
        """Do not hold what was unpacked, or fetched."""
        self._strong = self._ahead = None

    def tensor(self, recipe: Any, like: Any) -> Any:
        """One of the tensors: `recipe` says where in the memory it lies, None that it is all of it."""
        flat = self.flat()
        if type(like) is not tuple and not flat.flags.writeable:
            flat = flat.copy()  # torch knows no memory that must not be written to
        if recipe is None:
            array = undense(flat, self.layout)
        else:
            shape, dtype, offset, strides = recipe
            array = np.ndarray(shape, dtype, flat, offset, strides)
        return tensor_like(array, like, self.counter)


def afresh(error: BaseException) -> BaseException:
    """An exception to raise that has been raised elsewhere, without whatever was running there.

    Each time another one: what is raised refers to who raises it, who would so hold itself.
    """
    try:
        new = copy(error)
    except Exception:  # of a class that asks for more than it tells
        new = RuntimeError(f"{type(error).__name__}: {error}")
    new.__traceback__ = None
    if hasattr(new, "__notes__"):
        new.__notes__ = list(new.__notes__)
    return new


class Handle:
    """Stands in the graph for one saved tensor: what was packed, and where in it the tensor lies."""

    __slots__ = ("like", "recipe", "record")

    def __init__(self, record: Record, recipe: Any, like: Any) -> None:
        self.record, self.recipe, self.like = record, recipe, like
        record.handles += 1
        record.uses += 1

    def __del__(self) -> None:
        record = getattr(self, "record", None)  # there is none where an interrupt came before
        if record is not None:
            record.handles -= 1

    @property
    def nbytes(self) -> int:
        return self.record.nbytes

    def held(self, tell: Callable[[Any], None]) -> Any:
        """The arrays in memory that this keeps; `tell` is called with others that come later."""
        if tell not in self.record.told:
            self.record.told += (tell,)
        return self.record.arrays

    def tensor(self) -> Any:
        return self.record.tensor(self.recipe, self.like)
