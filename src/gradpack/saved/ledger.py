"""What a budget holds: entries, one for each storage, in one form or another, and the sum of their bytes."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any
from weakref import ref

from ..base.errors import saved_was_modified
from ..tensor.tensor import Tensor, alias
from .costs import LATENCY, rate
from .endings import Ending, Endings
from .info import Brief, SavedInfo
from .policy import Policy
from .recipes import Handle, Value


class Means:
    """A way of making what is kept smaller, and what is known of its cost.

    Attributes:
        name: "lossless", "disk", ...
        policy: what packs and unpacks.
        ratio: bytes in memory after to before, as far as known.
        guess: seconds for each byte, of packing and unpacking, where nothing was measured yet.
        where: what else it depends on, as the folder of a file.
        steady: does nothing that is measured count?
    """

    def __init__(self, name: str, policy: Policy, ratio: float, guess: float, steady: bool, where: Any = None) -> None:
        self.name, self.policy = name, policy
        self.on_disk = name == "disk"
        self.from_device = name == "cpu"  # only for what lies on one
        self.lossy = name in ("bf16", "quantize")
        self._ratio, self._steady = ratio, steady
        self._pack, self._unpack = (rate((name, where, kind), guess / 2, steady) for kind in ("pack", "unpack"))
        self._ratios: dict[Any, float] = {}

    def ratio(self, key: Any) -> float:
        return self._ratios.get(key, self._ratio)

    def knows(self, key: Any) -> bool:
        return key in self._ratios

    def seconds(self, nbytes: int) -> float:
        return 2 * LATENCY + nbytes * (self._pack.seconds + self._unpack.seconds)

    def fetch(self, nbytes: int) -> float:
        return LATENCY + nbytes * self._unpack.seconds

    @property
    def rates(self) -> tuple[float, float]:
        """Seconds for each byte, of packing and of unpacking, as far as known now."""
        return self._pack.seconds, self._unpack.seconds

    def packed(self, key: Any, before: int, after: int) -> None:
        """Note how much smaller packing made something."""
        if before:
            self._ratios[key] = max(after / before, self._ratios.get(key, 0.0))

    def took(self, nbytes: int, seconds: float) -> None:
        """Note what packing took, with what was waited for to make room for it."""
        if not self._steady:
            self._pack.measured(nbytes, seconds)

    def unpacked(self, nbytes: int, seconds: float) -> None:
        if not self._steady:
            self._unpack.measured(nbytes, seconds)


class Entry:
    """One storage at one version, in the form in which it is held.

    Attributes:
        form: "" before it is taken in, "keep", "recompute" or the name of a `Means`.
        nbytes: of the storage.
        away: does it lie on a device? Then only what is kept as it is takes memory there.
        sizes: the bytes that its form takes, where the tensor lies, in host memory and on disk.
        row: where the round takes note of it.
    """

    __slots__ = (
        "__weakref__",
        "away",
        "form",
        "is_start",
        "ledger",
        "nbytes",
        "number",
        "row",
        "sizes",
        "slots",
        "stuck",
    )

    def __init__(self, ledger: Ledger, nbytes: int, number: int, row: Any, away: bool = False) -> None:
        self.ledger, self.nbytes, self.number, self.row = ledger, nbytes, number, row
        self.away = away
        self.form = ""
        self.sizes = [0, 0, 0]
        self.slots: list[ref[Slot]] = []
        self.stuck: set[str] = set()  # forms that it cannot take
        self.is_start = False  # is anything to be made again from it? Then it must come back exactly
        ledger.endings.watch(self, self.sizes)

    memory = property(lambda self: self.sizes[0])
    host = property(lambda self: self.sizes[1])
    disk = property(lambda self: self.sizes[2])

    def living(self) -> list[Slot]:
        return [slot for known in self.slots if (slot := known()) is not None]

    def takes(self, form: str, nbytes: int) -> tuple[int, int]:
        """What so many bytes of a form take, where the tensor lies and in host memory."""
        return (nbytes, nbytes) if not self.away else (nbytes, 0) if form == "keep" else (0, nbytes)

    def becomes(self, form: str, nbytes: int, disk: int = 0) -> None:
        memory, host = self.takes(form, nbytes)
        self.ledger.change(memory - self.memory, host - self.host, disk - self.disk)
        self.form, self.sizes[:] = form, (memory, host, disk)


class Slot:
    """Stands in the graph for one saved tensor."""

    __slots__ = ("__weakref__", "entry", "form", "info", "kept", "told", "value", "version")

    def __init__(self, entry: Entry, tensor: Tensor, info: Any, value: Value) -> None:
        self.entry, self.info, self.value = entry, info, value
        # Without its history: the node that made it would hold itself.
        self.form: Any = alias(tensor._data, tensor._spec, tensor._shape)
        self.form._counter = tensor._counter
        self.version = tensor._counter[0]
        self.kept: Means | None = None  # what packed it
        self.told: Callable[[Any], None] | None = None  # hears of the arrays of forms that come later
        entry.slots.append(ref(self))
        if value.slot is None or value.slot() is None:
            value.slot = ref(self)

    def becomes(self, form: Any, kept: Means | None) -> None:
        """Gives it another form: a `Handle`, or what a policy has packed."""
        self.form, self.kept = form, kept
        if self.told is not None:
            self.told(form)

    def held(self, tell: Callable[[Any], None]) -> Any:
        """What it keeps, for a meter."""
        self.told = tell
        return (self.form,)

    @property
    def is_rounded(self) -> bool:
        return self.kept is not None and self.kept.lossy

    def described(self) -> SavedInfo:
        """All that is known of the tensor, which it still has."""
        if type(self.info) is Brief:
            self.info = self.info.full(self.form)
        known: SavedInfo = self.info
        return known

    @property
    def is_whole(self) -> bool:
        """Whether it still has the tensor, as it was."""
        return isinstance(self.form, Tensor) and self.form._counter[0] == self.version

    def tensor(self) -> Tensor:
        form = self.form
        if type(form) is Handle:
            return form.tensor()
        if self.kept is None:
            kept: Tensor = form
            return kept
        start = perf_counter()
        made: Tensor = self.kept.policy.unpack(form)
        self.kept.unpacked(self.entry.nbytes, perf_counter() - start)
        return made


class Held:
    """What recipes start from: a tensor that a slot has in whatever form."""

    __slots__ = ("_fetch", "_slot")

    def __init__(self, slot: Slot, fetch: Callable[[Slot], Tensor]) -> None:
        self._slot, self._fetch = slot, fetch

    @property
    def array(self) -> Any:
        slot = self._slot
        if not slot.is_whole and isinstance(slot.form, Tensor):
            raise saved_was_modified(
                "budget()",
                "what it starts from",
                slot.form.dtype,
                slot.form._shape,
                "",
                slot.form._counter[0],
                slot.version,
            )
        return self._fetch(slot)._data

    @property
    def recipe(self) -> Any:
        form = self._slot.form
        return form.recipe if type(form) is Handle else None


class Ledger:
    """The bytes of all entries that live, and those of arrays that are held beside.

    Attributes:
        peak, host_peak, disk_peak: the most there were where tensors lie, in host memory and on disk.
        endings: of entries and arrays, with the bytes that they took.
        watched: arrays that are held beside.
    """

    __slots__ = ("_disk", "_host", "_memory", "disk_peak", "endings", "host_peak", "peak", "watched")

    def __init__(self) -> None:
        self._memory = self._host = self._disk = 0
        self.peak = self.host_peak = self.disk_peak = 0
        self.endings = Endings()
        self.watched: dict[int, Ending] = {}

    def change(self, memory: int, host: int, disk: int) -> None:
        self.settle()
        self._memory += memory
        self._host += host
        self._disk += disk
        self.peak = max(self.peak, self._memory)
        self.host_peak = max(self.host_peak, self._host)
        self.disk_peak = max(self.disk_peak, self._disk)

    def settle(self) -> None:
        for ending in self.endings.over():
            memory, host, disk, *key = ending.told
            if key and self.watched.get(key[0]) is ending:
                del self.watched[key[0]]
            self._memory -= memory
            self._host -= host
            self._disk -= disk

    @property
    def memory(self) -> int:
        self.settle()
        return self._memory

    @property
    def host(self) -> int:
        self.settle()
        return self._host

    @property
    def disk(self) -> int:
        self.settle()
        return self._disk

    def watch(self, array: Any, memory: int, host: int) -> None:
        """Counts an array, or what stands for one, until it is gone."""
        key = id(array)
        self.watched[key] = self.endings.watch(array, (memory, host, 0, key))
        self.change(memory, host, 0)


def packed_bytes(packed: Any) -> tuple[int, int]:
    """The bytes in memory and on disk of what a policy returned, once it is stored."""
    record = getattr(packed, "record", None)
    if record is not None and record.tier == "disk":
        return 0, int(record.size)
    return int(getattr(packed, "nbytes", 0)), 0
