"""The entries of a budget, one for each storage in its current form, the sums of their bytes, and its methods.

A method is another policy that the budget may use to free memory, with a first guess of its cost.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from time import perf_counter
from typing import Any
from weakref import ref

from ...base.errors import saved_was_modified
from ...core.tensor import Tensor, alias
from ..info import BriefInfo, SavedInfo
from ..policies.compress import bf16, lossless
from ..policies.offload import cpu
from ..policies.offload import disk as on_disk
from ..policies.quantize import quantize
from ..policies.recompute_graph import DroppedTensor, RecordedArray
from ..policies.storage_policy import Stored
from ..policy import Policy
from ..storage import Finalized, FinalizedQueue
from .costs import LATENCY, rate


class Method:
    """A policy that a budget may use to free memory, and its measured cost.

    Args:
        name: "lossless", "disk", ...
        policy: the policy that packs and unpacks.
        ratio: the initial guess of packed bytes in memory divided by original bytes.
        guess: the initial guess of the seconds per byte of packing and unpacking together.
        steady: ignore measured times, so that plans are reproducible.
        where: what else the times depend on, such as the folder of a file.
    """

    def __init__(self, name: str, policy: Policy, ratio: float, guess: float, steady: bool, where: Any = None) -> None:
        self.name, self.policy = name, policy
        self.on_disk = name == "disk"
        self.from_device = name == "cpu"  # only for tensors of other devices than the CPU
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
        """Seconds per byte of packing and of unpacking."""
        return self._pack.seconds, self._unpack.seconds

    def packed(self, key: Any, before: int, after: int) -> None:
        """Note the bytes before and after packing for a kind of tensors."""
        if before:
            self._ratios[key] = max(after / before, self._ratios.get(key, 0.0))

    def took(self, nbytes: int, seconds: float) -> None:
        """Note the seconds that packing `nbytes` took, waiting included."""
        if not self._steady:
            self._pack.measured(nbytes, seconds)

    def unpacked(self, nbytes: int, seconds: float) -> None:
        if not self._steady:
            self._unpack.measured(nbytes, seconds)


class StorageEntry:
    """One storage at one version, in the form in which it is held.

    Attributes:
        form: "" before it is taken in, "keep", "recompute" or the name of a `Method`.
        whole: a weak reference to the array that owns the storage.
        nbytes: bytes of the storage.
        away: whether it is on a device other than the CPU. Then only the form "keep" takes memory there.
        sizes: bytes of its form on the tensor's device, in host memory and on disk.
        row: its row in the step.
    """

    def __init__(self, accounts: Accounts, whole: Any, number: int, row: Any, away: bool = False) -> None:
        self.accounts, self.whole, self.nbytes, self.number, self.row = accounts, ref(whole), whole.nbytes, number, row
        self.away = away
        self.form = ""
        self.sizes = [0, 0, 0]
        self.slots: list[ref[BudgetedTensor]] = []
        self.stuck: set[str] = set()  # forms whose conversion failed
        self.is_start = False  # whether a recipe starts from it: then it must not be rounded
        accounts.endings.watch(self, self.sizes)

    memory = property(lambda self: self.sizes[0])
    host = property(lambda self: self.sizes[1])
    disk = property(lambda self: self.sizes[2])

    def living(self) -> list[BudgetedTensor]:
        return [slot for known in self.slots if (slot := known()) is not None]

    def takes(self, form: str, nbytes: int) -> tuple[int, int]:
        """Return how `nbytes` of a form count on the tensor's device and in host memory."""
        return (nbytes, nbytes) if not self.away else (nbytes, 0) if form == "keep" else (0, nbytes)

    def becomes(self, form: str, nbytes: int, disk: int = 0) -> None:
        memory, host = self.takes(form, nbytes)
        self.accounts.change(memory - self.memory, host - self.host, disk - self.disk)
        self.form, self.sizes[:] = form, (memory, host, disk)


class BudgetedTensor:
    """The packed form of one saved tensor, which the budget may convert to another form later."""

    def __init__(self, entry: StorageEntry, tensor: Tensor, info: Any, value: RecordedArray) -> None:
        self.entry, self.info, self.value = entry, info, value
        # Without grad_fn: a node that saves its own output would keep itself alive.
        self.form: Any = alias(tensor._data, tensor._spec, tensor._shape)
        self.form._counter = tensor._counter
        self.version = tensor._counter[0]
        self.kept: Method | None = None  # the method that packed it
        self.told: Callable[[Any], None] | None = None  # callback, called with each later form
        entry.slots.append(ref(self))
        if value.slot() is None:
            value.slot = ref(self)

    def becomes(self, form: Any, kept: Method | None) -> None:
        """Set another form: a recomputation `DroppedTensor`, or what a policy has packed."""
        self.form, self.kept = form, kept
        if self.told is not None:
            self.told(form)

    def held(self, tell: Callable[[Any], None]) -> Any:
        """Return the current form, for a meter; `tell` is called with later ones."""
        self.told = tell
        return (self.form,)

    def described(self) -> SavedInfo:
        """Return the full `SavedInfo`; only while the tensor itself is held."""
        if type(self.info) is BriefInfo:
            self.info = self.info.full(self.form)
        known: SavedInfo = self.info
        return known

    @property
    def is_whole(self) -> bool:
        """Whether it holds the tensor itself, not modified since."""
        return isinstance(self.form, Tensor) and self.form._counter[0] == self.version

    def tensor(self) -> Tensor:
        form = self.form
        if type(form) is DroppedTensor:
            return form.tensor()
        if self.kept is None:
            kept: Tensor = form
            return kept
        start = perf_counter()
        made: Tensor = self.kept.policy.unpack(form)
        self.kept.unpacked(self.entry.nbytes, perf_counter() - start)
        return made


class HeldSource:
    """A source of recipes: a tensor that a slot holds in any form."""

    def __init__(self, slot: BudgetedTensor, fetch: Callable[[BudgetedTensor], Tensor]) -> None:
        self._slot, self._fetch = slot, fetch

    @property
    def array(self) -> Any:
        slot, form = self._slot, self._slot.form
        if not slot.is_whole and isinstance(form, Tensor):
            raise saved_was_modified(
                "budget()", "what it starts from", form.dtype, form._shape, "", form._counter[0], slot.version
            )
        return self._fetch(slot)._data

    @property
    def recipe(self) -> Any:
        form = self._slot.form
        return form.recipe if type(form) is DroppedTensor else None


class Accounts:
    """The sums of the bytes of all living entries, and of other arrays that are counted (see `watch`).

    Attributes:
        peaks: the most bytes on the tensors' device, in host memory and on disk.
        endings: watches entries and arrays, and knows the bytes to subtract at their death.
        watched: the other arrays, by id.
    """

    def __init__(self) -> None:
        self._held = self.peaks = (0, 0, 0)
        self.endings = FinalizedQueue()
        self.watched: dict[int, Finalized] = {}

    @property
    def held(self) -> tuple[int, int, int]:
        """The bytes held now on the tensors' device, in host memory and on disk."""
        for ending in self.endings.over():
            memory, host, disk, *key = ending.data
            if key and self.watched.get(key[0]) is ending:
                del self.watched[key[0]]
            now = self._held
            self._held = now[0] - memory, now[1] - host, now[2] - disk
        return self._held

    memory = property(lambda self: self.held[0])
    host = property(lambda self: self.held[1])
    disk = property(lambda self: self.held[2])

    def change(self, memory: int, host: int, disk: int) -> None:
        now, most = self.held, self.peaks
        self._held = now = now[0] + memory, now[1] + host, now[2] + disk
        self.peaks = max(most[0], now[0]), max(most[1], now[1]), max(most[2], now[2])

    def watch(self, array: Any, memory: int, host: int) -> None:
        """Count the bytes of an array, or of an object that holds one, until it dies."""
        key = id(array)
        self.watched[key] = self.endings.watch(array, (memory, host, 0, key))
        self.change(memory, host, 0)


def packed_bytes(packed: Any) -> tuple[int, int]:
    """Return the bytes in memory and on disk of what a policy's `pack` returned, once it is stored."""
    record = getattr(packed, "record", None)
    if record is not None and record.tier == "disk":
        return 0, int(record.size)
    return int(getattr(packed, "nbytes", 0)), 0


class LazyPolicy(Policy):
    """A policy that is created at first use, so that a file is opened or a library loaded only if needed."""

    def __init__(self, name: str, make: Any) -> None:
        self.name = name
        self.made: Callable[[], Policy] = cache(make)

    def pack(self, tensor: Any, info: Any = None) -> Any:
        return self.made().pack(tensor, info)

    def unpack(self, packed: Any) -> Any:
        return self.made().unpack(packed)


def _at_once(policy: Stored) -> Stored:
    """Make a policy synchronous: tensors waiting to be packed, or prefetched, would take memory beyond the limit."""
    for stage, _ in policy.steps:
        stage.background = None
    return policy


def check_folder(directory: Any) -> None:
    """Raise OSError if a folder does not exist or cannot be written to, before a step needs it."""
    name = os.fspath(directory)
    if not os.path.isdir(name):
        error: type[OSError] = NotADirectoryError if os.path.exists(name) else FileNotFoundError
        raise error(f"budget(): directory is a folder for a temporary file, and there is none named {name!r}")
    if not os.access(name, os.W_OK | os.X_OK):
        raise PermissionError(f"budget(): the folder {name!r} cannot be written to: name another directory=")


def methods_for(disk: int, lossy: bool, directory: Any, seed: int | None, min_bytes: int) -> list[Method]:
    """Return the methods that the arguments allow. The ratio and seconds per byte are guesses, until measured.

    The disk writes one tensor at a time in the background and prefetches nothing: tensors waiting in memory would
    count against the limit.
    """
    steady = seed is not None
    # Synchronous, because a hard limit leaves no room for copies in flight.
    found = [Method("cpu", LazyPolicy("cpu", lambda: cpu(min_bytes, window=0, ahead=0)), 1.0, 4e-10, steady)]
    if find_spec("blosc2") is not None:
        found.append(
            Method("lossless", LazyPolicy("lossless", lambda: lossless(min_bytes=min_bytes)), 0.9, 1.5e-9, steady)
        )
    if lossy:
        found.append(Method("bf16", _at_once(bf16(min_bytes)), 0.5, 3e-10, steady))
        eight = quantize(8, seed=seed or 0, min_bytes=min_bytes)
        found.append(Method("quantize", _at_once(eight), 0.27, 8e-10, steady))
    if disk:
        make = lambda: on_disk(directory, window=0, min_bytes=min_bytes)  # noqa: E731
        where = None if directory is None else os.fspath(directory)
        found.append(Method("disk", LazyPolicy("disk", make), 0.0, 1.2e-9, steady, where))
    return found
