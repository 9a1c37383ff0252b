"""The storages that a budget holds, the form of each, and the eviction that keeps them within the limits."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from threading import RLock
from time import perf_counter
from typing import Any
from weakref import WeakValueDictionary, ref

from ...backends.memory_layout import owner_of
from ...base.sizes import shown
from ...core.tensor import Tensor
from ..policies.packed_store import afresh
from ..policies.recompute import RecomputePaths, paths_to, recipe_of
from ..policies.recompute_graph import DroppedTensor, Recipe, RecordedArray, anchor_of
from ..storage import WeakIdentityMap
from .accounting import Accounts, BudgetedTensor, HeldSource, Method, StorageEntry, packed_bytes
from .plans import BudgetLimits
from .step_profile import ProfileRow


class Residency:
    """All entries of a budget, within limits of bytes on the tensors' device, in host memory and on disk.

    Tensors enter through `take_in` or `join`, and both make room first.
    """

    def __init__(self, name: str, limits: BudgetLimits, methods: list[Method]) -> None:
        self.name, self.methods = name, methods
        self.limit, self.disk, self.ram = limits
        self.accounts = Accounts()
        self.lock = RLock()
        self._newest = 0
        # Entries that are kept as they are, by number, and by the owner of their memory.
        self._living: WeakValueDictionary[int, StorageEntry] = WeakValueDictionary()
        self._wholes: WeakIdentityMap[ref[StorageEntry]] = WeakIdentityMap()
        self._flying: deque[ref[StorageEntry]] = deque()  # entries that are being written to disk, still in memory

    def take_in(self, entry: StorageEntry, form: str | None) -> None:
        """Hold a new entry in the planned form, or, if that fails or there is none, in any form that fits."""
        self._newest = entry.number
        if form is not None and form != "keep" and self._move(entry, form):
            return
        self._make_room(entry)
        if not entry.form:
            self._keep(entry, entry.nbytes)

    def _keep(self, entry: StorageEntry, memory: int) -> None:
        entry.becomes("keep", memory, entry.disk)
        self._living[entry.number] = entry
        whole = next(owner_of(slot.form._data) for slot in entry.living() if isinstance(slot.form, Tensor))
        self._wholes.set(whole, ref(entry))

    def join(self, entry: StorageEntry, slot: BudgetedTensor) -> None:
        """Add another tensor of a storage that is held: in the same form if possible."""
        if entry.form == "keep" or (entry.form != "recompute" and self._packs(entry, slot, entry.form)):
            return
        if entry.form == "recompute":
            if self._recipe(slot):
                return
            for method in self.methods:
                if self._allowed(method, entry) and self._packs(entry, slot, method.name):
                    return
        self._make_room(entry)
        self._keep(entry, entry.memory + entry.nbytes)

    def _make_room(self, entry: StorageEntry) -> None:
        """Evict until an entry fits as it is, or has itself been packed. Raise RuntimeError if neither is possible."""
        while not self._has_room(*entry.takes("keep", entry.nbytes)):
            if not self._land() and not self._evict(entry):
                raise self._refused(entry)
            if entry.form:
                return

    def _has_room(self, memory: int, host: int) -> bool:
        """Return whether `memory` more bytes fit on the tensors' device, and `host` more in host memory."""
        device, ram = self.accounts.memory + memory, self.accounts.host + host
        return (memory <= 0 or device <= self.limit) and (host <= 0 or ram <= self.ram)

    def _land(self) -> bool:
        """Wait for the oldest write to disk, which frees its memory; return False if there is none."""
        while self._flying:
            entry = self._flying.popleft()()
            if entry is not None and entry.host:
                _settled(entry)
                entry.becomes(entry.form, 0, entry.disk)
                return True
        return False

    def _evict(self, new: StorageEntry) -> bool:
        """Evict the entry of least cost per byte and per age, the heuristic of DTR; return False if there is none."""
        best: tuple[float, int, StorageEntry, str] | None = None
        short = int(self._has_room(new.takes("keep", new.nbytes)[0], 0))  # what is short: 0 device, 1 host memory
        for entry in [*self._living.values(), *([] if new.form else [new])]:
            now = entry.takes("keep", entry.nbytes)
            for name, seconds, nbytes in self._options(entry):
                freed = now[short] - entry.takes(name, nbytes)[short]
                if freed <= 0:
                    continue
                stale = self._newest - entry.number + 1
                price = (seconds + 1e-9) / (freed * stale)
                if best is None or (price, entry.number) < best[:2]:
                    best = price, entry.number, entry, name
        if best is None:
            return False
        _, _, entry, name = best
        if not self._move(entry, name):
            entry.stuck.add(name)
        elif entry is not new:
            self._living.pop(entry.number, None)
        return True

    def _options(self, entry: StorageEntry) -> Iterator[tuple[str, float, int]]:
        row: ProfileRow = entry.row
        if row.fixed:
            return
        if row.seconds is not None and "recompute" not in entry.stuck:
            yield "recompute", row.seconds, 0
        for method in self.methods:
            if method.name not in entry.stuck and self._allowed(method, entry):
                nbytes = int(entry.nbytes * method.ratio(row.key))
                if nbytes < entry.nbytes or method.from_device:
                    yield method.name, method.seconds(entry.nbytes), nbytes

    def _allowed(self, method: Method, entry: StorageEntry) -> bool:
        if method.lossy and (entry.row.exact or entry.is_start):
            return False
        if method.on_disk:
            return self.accounts.disk + entry.nbytes <= self.disk
        if not entry.away:
            return not method.from_device
        return self.accounts.host + int(entry.nbytes * method.ratio(entry.row.key)) <= self.ram

    def _move(self, entry: StorageEntry, name: str) -> bool:
        """Convert an entry to the form `name`; return whether that was possible."""
        slots = entry.living()
        if not all(slot.is_whole for slot in slots):
            return False  # modified in place: keep it, so that the version check in backward raises
        if name == "recompute":
            return self._drop(entry, slots)
        method = next(m for m in self.methods if m.name == name)
        if not self._allowed(method, entry):
            return False
        packed: dict[int, Any] = {}
        start = perf_counter()
        made = [method.policy.pack(slot.form, slot.described()) for slot in slots]
        if any(isinstance(m, Tensor) for m in made):
            return False
        for m in made:
            packed[id(getattr(m, "record", m))] = m
        sizes = [packed_bytes(m) for m in packed.values()]
        memory, disk = sum(s[0] for s in sizes), sum(s[1] for s in sizes)
        method.packed(entry.row.key, entry.nbytes, memory)
        more = [
            after - before for after, before in zip(entry.takes(name, memory), (entry.memory, entry.host), strict=True)
        ]
        if (memory >= entry.nbytes and not method.from_device) or not self._has_room(more[0], more[1]):
            return False
        for slot, m in zip(slots, made, strict=True):
            slot.becomes(m, method)
        entry.becomes(name, memory, disk)
        if method.on_disk:
            self._fly(entry)
        method.took(entry.nbytes, perf_counter() - start)
        return True

    def _drop(self, entry: StorageEntry, slots: list[BudgetedTensor]) -> bool:
        """Drop an entry that can be recomputed; return whether that was possible."""
        forms = [slot.form for slot in slots]
        form, memory = entry.form, entry.memory
        if form:
            entry.becomes(form, 0)  # do not count it meanwhile: what recipes hold may take its room
        for slot in slots:
            if not self._recipe(slot):
                for other, before in zip(slots, forms, strict=True):
                    other.becomes(before, None)
                if form:
                    entry.becomes(form, memory)
                return False
        entry.becomes("recompute", 0)
        return True

    def _fly(self, entry: StorageEntry) -> None:
        """Let a write to disk go on in the background if there is room for its data until then, else wait for it."""
        self._flying.append(ref(entry))
        while not self._has_room(*entry.takes(entry.form, entry.nbytes)):
            if len(self._flying) == 1 or not self._land():
                self._flying.clear()
                _settled(entry)
                return
        entry.becomes(entry.form, entry.nbytes, entry.disk)

    def _packs(self, entry: StorageEntry, slot: BudgetedTensor, name: str) -> bool:
        """Pack another tensor of an entry in the entry's form; return whether that was possible."""
        method = next((m for m in self.methods if m.name == name), None)
        if method is None:
            return False
        made = method.policy.pack(slot.form, slot.described())
        if isinstance(made, Tensor):
            return False
        others = [other.form for other in entry.living() if other is not slot]
        if all(getattr(made, "record", made) is not getattr(other, "record", other) for other in others):
            memory, disk = packed_bytes(made)
            if method.on_disk:
                made.record.settle()
            if not self._has_room(*entry.takes(entry.form, memory)) or self.accounts.disk + disk > self.disk:
                return False
            entry.becomes(entry.form, entry.host + memory, entry.disk + disk)
        slot.becomes(made, method)
        return True

    def _recipe(self, slot: BudgetedTensor) -> bool:
        """Replace a tensor by a recipe if everything that this starts from is held anyway; return whether it is."""
        value = slot.value
        recipe = value.recipe()
        if recipe is None:
            paths = paths_to(value, self.is_held)
            path = paths[value]
            if path is None or path.extra or not self._has_room(*(2 * [_tiny(paths)])):
                return False
            recipe = recipe_of(value, paths, self._hold)
            self._furnish(recipe)
        slot.becomes(DroppedTensor(recipe), None)
        return True

    def _furnish(self, recipe: Recipe) -> None:
        stack = [recipe]
        while stack:
            one = stack.pop()
            if one.room is None:
                away = one.value.spec.device.type != "cpu"
                one.room = partial(self.room, away=away, on_host=not away)
                stack.extend(s for s in one.sources if type(s) is Recipe)

    def room(self, array: Any, away: bool, on_host: bool = True) -> bool:
        """Return whether there is room to hold a recomputed or unpacked array for further uses; if so, count it.

        Args:
            away: whether the tensor is on a device other than the CPU.
            on_host: whether the array is in host memory, which matters only for such a tensor.
        """
        whole = owner_of(array)
        size = whole.nbytes
        takes = (size, size) if not away else (0, size) if on_host else (size, 0)
        with self.lock:
            known = self.accounts.watched.get(id(whole))
            if known is not None and known() is whole:
                return True
            kept = self._wholes.get(whole)
            entry = None if kept is None else kept()
            if entry is not None and entry.form == "keep":  # memory of a kept entry: from now on counted here instead
                self._wholes.drop(whole)
                entry.becomes("keep", entry.memory - size, entry.disk)
            elif not self._has_room(*takes):
                return False
            self.accounts.watch(whole, *takes)
            return True

    def fetch(self, slot: BudgetedTensor) -> Tensor:
        """Unpack a tensor. The unpacked storage is held for its other uses as long as there is room."""
        tensor = slot.tensor()
        record = getattr(slot.form, "record", None)
        if record is not None and record.holding is not None:
            is_new = all(record.holding is not part for part in record.arrays)
            if is_new and not self.room(record.holding, slot.entry.away):
                record.release()
        return tensor

    def is_held(self, value: RecordedArray, array: Any) -> bool:
        slot: BudgetedTensor | None = value.slot()
        if slot is not None:
            if slot.kept is not None:
                return not slot.kept.lossy
            return slot.is_whole or not isinstance(slot.form, Tensor)
        return array is not None and (value.held or value.is_tiny)

    def _hold(self, value: RecordedArray, array: Any) -> Any:
        slot = value.slot()
        if slot is None:
            anchor = anchor_of(value, array)
            if anchor.room is None:
                anchor.room, anchor.copied = self._has_room_for, self._counts
                if not value.held:
                    self._counts(anchor, owner_of(array).nbytes)
            return anchor
        slot.entry.is_start = True
        return HeldSource(slot, self.fetch)

    def _has_room_for(self, array: Any) -> bool:
        with self.lock:
            return self._has_room(array.nbytes, array.nbytes)

    def _counts(self, thing: Any, nbytes: int | None = None) -> None:
        """Count `nbytes` as long as `thing` lives, both as memory of the tensors' device and as host memory."""
        with self.lock:
            size = thing.nbytes if nbytes is None else nbytes
            self.accounts.watch(thing, size, size)

    def _refused(self, entry: StorageEntry) -> RuntimeError:
        accounts = self.accounts
        is_full = not self._has_room(entry.takes("keep", entry.nbytes)[0], 0)
        held, limit = (accounts.memory, self.limit) if is_full else (accounts.host, self.ram)
        taken = [f"{shown(accounts.disk)} of {shown(self.disk)} on disk"] if self.disk else []
        if entry.away and self.ram < float("inf"):
            taken.append(f"{shown(accounts.host)} of {shown(self.ram)} in host memory")
        hints = ["a larger budget" if is_full else "a larger ram="]
        if entry.away and self.ram < float("inf"):
            hints.append("a larger ram=, bytes of host memory")
        if not self.disk:
            hints.append("disk=, bytes that it may write to a file")
        if not any(m.lossy for m in self.methods):
            hints.append("lossy=True, which rounds")
        return RuntimeError(
            f"{self.name}: cannot hold {entry.row.label}, {shown(entry.nbytes)}, within {shown(limit)}: "
            f"{shown(held)} are held that nothing can make smaller"
            f"{''.join([', and ', ' and '.join(taken), ' are taken']) if taken else ''}. "
            f"Give it {' or '.join(hints)}."
        )


def _settled(entry: StorageEntry) -> None:
    """Wait until an entry is on disk. A failed write raises here, because it was to make room."""
    for slot in entry.living():
        record = slot.form.record
        record.settle()
        if record.error is not None:
            raise afresh(record.error)


def _tiny(paths: RecomputePaths) -> int:
    """Return the bytes of the tiny arrays that a recipe would keep alive from now on."""
    return sum(
        path.array.nbytes
        for value, path in paths.items()
        if path is not None and value.is_tiny and path.array is not None and not value.held
    )
