"""A limit in bytes for what autograd holds, and the fastest way found to stay within."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from threading import RLock
from time import perf_counter
from typing import Any
from weakref import ref

from ..base.layouts import strided
from ..base.modes import MODE, OpMode
from ..tensor.tensor import Tensor
from .cheap import is_held
from .explain import BudgetPlan, shown
from .foreign import described
from .info import Brief, SavedInfo
from .ledger import Entry, Held, Ledger, Means, Slot, packed_bytes
from .means import means_of
from .policy import Policy
from .recipes import Call, Handle, Notes, Recipe, Value, anchor_of
from .recompute import Living, Watch
from .rounds import Round, Row, planned
from .storage import owner
from .ways import ways_to, written

_PLANS = 8  # kinds of steps that are remembered
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class Budget(Policy):
    """What `budget` returns.

    Attributes:
        limit, disk: bytes that are allowed.
        held, on_disk: bytes that are held now.
        peak, disk_peak: and the most there were.
        planning: seconds spent on making plans.
    """

    def __init__(self, limit: int, disk: int, means: list[Means], min_bytes: int, steady: bool) -> None:
        self.limit, self.disk = limit, disk
        self.name = f"budget({shown(limit)!r})"
        self.min_bytes = min_bytes
        self._means = means
        self._notes = Notes()
        self._watch = Watch(self._notes, cheap=False, steady=steady)
        self._ledger = Ledger()
        self._entries: dict[tuple[int, int], tuple[ref[Any], ref[Entry]]] = {}
        self._living: dict[int, ref[Entry]] = {}  # those that are kept as they are, by number
        self._number = 0
        self._round = Round()
        self._plans: list[BudgetPlan] = []
        self.planning = 0.0
        self._others = Living()  # storages of buffers, which stay in memory anyway
        self._flying: deque[ref[Entry]] = deque()  # what is being written to disk, and in memory until that is done
        self._lock = RLock()

    held = property(lambda self: self._ledger.memory)
    on_disk = property(lambda self: self._ledger.disk)
    peak = property(lambda self: self._ledger.peak)
    disk_peak = property(lambda self: self._ledger.disk_peak)

    @property
    def plan(self) -> BudgetPlan | None:
        """The plan for steps like the last one; None before the first step has gone backward."""
        with self._lock:
            if self._round.uses and not self._entries:
                self._begin()
            return self._plans[0] if self._plans else None

    def watches(self) -> tuple[OpMode, ...]:
        return (self._watch,)

    def __enter__(self) -> Budget:
        super().__enter__()
        with self._lock:
            if self._round.uses or not self._entries:
                self._begin()
        return self

    # --- rounds ---

    def _begin(self) -> None:
        """Learns from the round that is over, and begins another one."""
        done = self._round
        if done.rows and done.uses and (done.planned is None or done.planned.keys != done.keys):
            start = perf_counter()
            self._plans.insert(0, planned(done, self._means, self.limit, self.disk))
            del self._plans[_PLANS:]
            self.planning += perf_counter() - start
        elif done.planned is not None:
            self._plans.remove(done.planned)
            self._plans.insert(0, done.planned)
        self._round = Round()

    # --- packing ---

    def describe(self, tensor: Tensor, label: tuple[str, str], node: Any = None, where: Any = None) -> Any:
        """As little as will do as long as a step goes as planned, unless somebody takes notes."""
        round_ = self._round
        goes_on = bool(self._plans) and (round_.choice is not None or not round_.rows)
        return (
            Brief(label, node, where)
            if goes_on and MODE.get().recorder is None
            else SavedInfo(tensor, label, node, where)
        )

    def pack(self, tensor: Any, info: Any = None) -> Any:
        if tensor._spec.layout is not strided or is_held(tensor) or tensor._tangents is not None:
            return tensor
        if info is None:
            info = described(tensor)
        if owner(tensor._data) in self._others:
            return tensor
        if type(info) is SavedInfo and info.kind in ("parameter", "buffer"):
            self._others.add(owner(tensor._data))
            return tensor
        start = perf_counter()
        with self._lock:
            try:
                return self._pack(tensor, info)
            finally:
                self._watch.away += perf_counter() - start

    def _pack(self, tensor: Tensor, info: Any) -> Slot:
        if self._round.uses and not self._entries:
            self._begin()
        whole = owner(tensor._data)
        value = self._watch.find(tensor) or self._notes.take(tensor)
        key = (id(whole), int(tensor._counter[0]))
        known = self._entries.get(key)
        entry = None if known is None or known[0]() is not whole else known[1]()
        if entry is None:
            entry = self._entry(whole, tensor, info)
            slot = Slot(entry, tensor, info, value)
            try:
                self._look(entry, slot)
                self._take_in(entry)
            except BaseException:
                self._round.withdraw()
                raise
            self._entries[key] = (ref(whole), ref(entry, self._forgets(key)))
        else:
            slot = Slot(entry, tensor, info, value)
            self._join(entry, slot)
        info.policy, info.tier, info.packed_bytes = f"{self.name}: {entry.form}", entry.form, entry.memory
        return slot

    def _forgets(self, key: tuple[int, int]) -> Any:
        entries = self._entries

        def forget(gone: ref[Entry]) -> None:
            if key in entries and entries[key][1] is gone:
                del entries[key]

        return forget

    def _entry(self, whole: Any, tensor: Tensor, info: Any) -> Entry:
        label = info.label if type(info) is Brief else (info.node_name, info.slot)
        key = (*label, tensor._shape, tensor._spec.dtype, whole.nbytes)
        row = Row(len(self._round.rows), key, whole.nbytes, self._round.tick())
        self._round.add(row, self._plans)
        row.fixed = whole.nbytes < self.min_bytes
        if self._round.choice is None:
            row.describe(info.full(tensor) if type(info) is Brief else info)
        self._number += 1
        return Entry(self._ledger, whole.nbytes, self._number, row)

    def _look(self, entry: Entry, slot: Slot) -> None:
        """Takes note of what making the tensor again would take, and of how well it can be packed."""
        row: Row = entry.row
        if row.fixed:
            return
        if self._round.choice is None:
            ways = ways_to(slot.value, self._is_held)
            if (way := ways[slot.value]) is not None and not way.extra:
                row.calls, row.needs = self._runs(slot.value)
            for means in self._means:
                if not means.on_disk and not means.knows(row.key) and not (means.lossy and row.exact):
                    self._sample(means, entry, slot)

    def _runs(self, wanted: Value) -> tuple[list[Call], tuple[int, ...]]:
        """The operations that making a value again runs, and the rows that it starts from."""
        calls: list[Call] = []
        needs: set[int] = set()
        stack, seen = [wanted], {wanted}
        while stack:
            call = stack.pop().call
            assert call is not None
            calls.append(call)
            for source in call.sources():
                if source in seen:
                    continue
                seen.add(source)
                slot = None if source.slot is None else source.slot()
                if slot is not None:
                    needs.add(slot.entry.row.number)
                elif not source.held and not source.is_tiny and source.call is not None:
                    stack.append(source)
        return calls, tuple(sorted(needs))

    def _sample(self, means: Means, entry: Entry, slot: Slot) -> None:
        """Packs a part of the tensor to see how much smaller it gets."""
        tensor = slot.form
        part = tensor.reshape(-1)[: (1 << 16) // tensor.dtype.itemsize].clone()
        info = described(part)
        means.policy.pack(part, info)  # a library may have to be loaded
        start = perf_counter()
        packed = means.policy.pack(part.clone(), info)
        seconds = perf_counter() - start
        memory, _ = packed_bytes(packed)
        means.packed(entry.row.key, part.nbytes, part.nbytes if isinstance(packed, Tensor) else memory, seconds)

    def _take_in(self, entry: Entry) -> None:
        """Holds a new entry in the form that is planned, or in any that leaves the limit alone."""
        choice = self._round.choice
        if choice is not None and choice.name != "keep" and self._move(entry, choice.name):
            return
        self._make_room(entry)
        if not entry.form:
            self._keep(entry, entry.nbytes)

    def _keep(self, entry: Entry, memory: int) -> None:
        entry.becomes("keep", memory, entry.disk)
        self._living[entry.number] = ref(entry, _discards(self._living, entry.number))

    def _join(self, entry: Entry, slot: Slot) -> None:
        """One more tensor of a storage that is held: in the same form, if that can be."""
        if entry.form == "keep" or (entry.form != "recompute" and self._packs(entry, slot, entry.form)):
            return
        if entry.form == "recompute":
            if self._recipe(slot):
                return
            for means in self._means:
                if self._allowed(means, entry) and self._packs(entry, slot, means.name):
                    return
        self._make_room(entry)
        self._keep(entry, entry.memory + entry.nbytes)

    # --- moving ---

    def _make_room(self, entry: Entry) -> None:
        """Makes what is held smaller until an entry fits as it is, or packs the entry itself."""
        while self._ledger.memory + entry.nbytes > self.limit:
            if not self._land() and not self._evict(entry):
                raise self._refused(entry)
            if entry.form:
                return

    def _land(self) -> bool:
        """Waits for the oldest write to disk; False if there is none."""
        while self._flying:
            entry = self._flying.popleft()()
            if entry is not None and entry.memory:
                for slot in entry.living():
                    slot.form.record.settle()
                entry.becomes(entry.form, 0, entry.disk)
                return True
        return False

    def _evict(self, new: Entry) -> bool:
        """Moves the entry that costs least for its bytes and for the time until it is used, DTR's measure."""
        best: tuple[float, int, Entry, str] | None = None
        for entry in self._candidates(new):
            for name, seconds, memory in self._options(entry):
                freed = entry.nbytes - memory
                stale = self._number - entry.number + 1
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

    def _candidates(self, new: Entry) -> Iterator[Entry]:
        for known in list(self._living.values()):
            entry = known()
            if entry is not None:
                yield entry
        if not new.form:
            yield new

    def _options(self, entry: Entry) -> Iterator[tuple[str, float, int]]:
        row: Row = entry.row
        if row.fixed:
            return
        if row.seconds is not None and "recompute" not in entry.stuck:
            yield "recompute", row.seconds, 0
        for means in self._means:
            if means.name not in entry.stuck and self._allowed(means, entry):
                memory = int(entry.nbytes * means.ratio(row.key))
                if memory < entry.nbytes:
                    yield means.name, means.seconds(entry.nbytes), memory

    def _allowed(self, means: Means, entry: Entry) -> bool:
        if means.lossy and entry.row.exact:
            return False
        return not means.on_disk or self._ledger.disk + entry.nbytes <= self.disk

    def _move(self, entry: Entry, name: str) -> bool:
        """Gives an entry another form; says whether it could."""
        slots = entry.living()
        if not all(slot.is_whole for slot in slots):
            return False  # somebody wrote to it: backward has to say so
        if name == "recompute":
            before = [slot.form for slot in slots]
            for slot in slots:
                if not self._recipe(slot):
                    for other, form in zip(slots, before, strict=True):
                        other.becomes(form, None)
                    return False
            entry.becomes("recompute", 0)
            return True
        means = next(m for m in self._means if m.name == name)
        if not self._allowed(means, entry):
            return False
        packed: dict[int, Any] = {}
        start = perf_counter()
        made = [means.policy.pack(slot.form, slot.described()) for slot in slots]
        seconds = perf_counter() - start
        if any(isinstance(m, Tensor) for m in made):
            return False
        for m in made:
            packed[id(getattr(m, "record", m))] = m
        sizes = [packed_bytes(m) for m in packed.values()]
        memory, disk = sum(s[0] for s in sizes), sum(s[1] for s in sizes)
        means.packed(entry.row.key, entry.nbytes, memory, seconds)
        if memory >= entry.nbytes or (not entry.form and self._ledger.memory + memory > self.limit):
            return False
        for slot, m in zip(slots, made, strict=True):
            slot.becomes(m, means)
        entry.becomes(name, memory, disk)
        if means.on_disk:
            self._fly(entry)
        return True

    def _fly(self, entry: Entry) -> None:
        """Lets a write to disk go on beside the program if there is room for what it writes meanwhile."""
        self._flying.append(ref(entry))
        before = entry.memory
        while self._ledger.memory - before + entry.nbytes > self.limit:
            if len(self._flying) == 1 or not self._land():
                self._flying.clear()
                for slot in entry.living():
                    slot.form.record.settle()
                return
        entry.becomes(entry.form, entry.nbytes, entry.disk)

    def _packs(self, entry: Entry, slot: Slot, name: str) -> bool:
        """Packs one more tensor of an entry."""
        means = next((m for m in self._means if m.name == name), None)
        if means is None:
            return False
        made = means.policy.pack(slot.form, slot.described())
        if isinstance(made, Tensor):
            return False
        others = [other.form for other in entry.living() if other is not slot]
        if all(getattr(made, "record", made) is not getattr(other, "record", other) for other in others):
            memory, disk = packed_bytes(made)
            if means.on_disk:
                made.record.settle()
            if self._ledger.memory + memory > self.limit or self._ledger.disk + disk > self.disk:
                return False
            entry.becomes(entry.form, entry.memory + memory, entry.disk + disk)
        slot.becomes(made, means)
        return True

    def _recipe(self, slot: Slot) -> bool:
        """Has a tensor made again in backward, if what that starts from is held anyway."""
        value = slot.value
        recipe = value.known_recipe()
        if recipe is None:
            ways = ways_to(value, self._is_held)
            way = ways[value]
            if way is None or way.extra:
                return False
            recipe = written(value, ways, self._hold)
            self._furnish(recipe)
        slot.becomes(Handle(recipe), None)
        return True

    def _furnish(self, recipe: Recipe) -> None:
        stack = [recipe]
        while stack:
            one = stack.pop()
            if one.room is None:
                one.room = self._room
                stack.extend(s for s in one.sources if type(s) is Recipe)

    def _room(self, array: Any) -> bool:
        """Whether a tensor that was made again may be held for others who need it."""
        with self._lock:
            known = self._ledger.watched.get(id(array))
            if known is not None and known() is array:
                return True
            if self._ledger.memory + array.nbytes > self.limit:
                return False
            self._ledger.watch(array)
            return True

    def _is_held(self, value: Value, array: Any) -> bool:
        slot: Slot | None = None if value.slot is None else value.slot()
        if slot is not None:
            return slot.is_whole or not isinstance(slot.form, Tensor)
        return array is not None and (value.held or value.is_tiny)

    def _hold(self, value: Value, array: Any) -> Any:
        slot = None if value.slot is None else value.slot()
        return anchor_of(value, array) if slot is None else Held(slot)

    def _refused(self, entry: Entry) -> RuntimeError:
        kept = self._ledger.memory
        hints = ["a larger budget"]
        if not self.disk:
            hints.append("disk=, bytes that it may write to a file")
        if not any(m.lossy for m in self._means):
            hints.append("lossy=True, which rounds")
        return RuntimeError(
            f"{self.name}: cannot hold {entry.row.label}, {shown(entry.nbytes)}, within {shown(self.limit)}: "
            f"{shown(kept)} are held that nothing can make smaller"
            f"{f', and {shown(self._ledger.disk)} of {shown(self.disk)} on disk are taken' if self.disk else ''}. "
            f"Give it {' or '.join(hints)}."
        )

    # --- unpacking ---

    def unpack(self, packed: Any) -> Any:
        if type(packed) is not Slot:
            return packed
        self._round.uses += 1
        packed.entry.row.used(self._round.tick())
        tensor = packed.tensor()
        record = getattr(packed.form, "record", None)
        if record is not None and (array := record.holding) is not None and not self._room(array):
            record.release()
        return tensor


def _discards(living: dict[int, ref[Entry]], number: int) -> Any:
    def discard(gone: ref[Entry]) -> None:
        if living.get(number) is gone:
            del living[number]

    return discard


def in_bytes(what: str, size: Any) -> int:
    """A number of bytes, from an int or from text such as "512 MiB"."""
    if isinstance(size, int) and not isinstance(size, bool):
        if size < 0:
            raise ValueError(f"budget(): {what} is a number of bytes, not {size}")
        return size
    if not isinstance(size, str):
        raise TypeError(f"budget(): {what} is a number of bytes, an int or text such as '512 MiB', not {size!r}")
    found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)(i?)B?\s*", size, re.IGNORECASE)
    try:
        if found is None:
            raise ValueError
        unit = found[2].upper()
        each = _UNITS[unit] if found[3] or not unit else 1000 ** " KMGT".index(unit)
        return int(float(found[1]) * each)
    except ValueError:
        raise ValueError(f"budget(): {what} is a number of bytes such as '512 MiB' or '2 GB', not {size!r}") from None


def budget(
    limit: int | str,
    *,
    disk: int | str = 0,
    lossy: bool = False,
    directory: Any = None,
    seed: int | None = None,
    min_bytes: int = 4096,
) -> Budget:
    """Hold no more than `limit` bytes for backward, and lose as little time with it as can be found.

    The first step is measured. From then on a plan says for each tensor whether to keep it, to make it again in
    backward, to compress it, or to write it to disk. At any moment, in the first step too and where a step goes
    another way than any step before (other shapes, another branch), what is held is made smaller before the limit
    is passed: first what costs least for its bytes and for how long it will not be used. All is exact, unless
    `lossy` allows rounding.

    What counts: each storage once, however many operations saved it, in the form in which it is held; and what is
    made again before it is needed. Parameters and buffers do not count, nor does what the program itself holds, nor
    what the operation that runs just now is given.

    Args:
        limit: bytes, or text such as "512 MiB".
        disk: bytes that may be written to a temporary file. Default: none.
        lossy: may tensors be rounded? Never what a loss, a norm or an index depends on.
        directory: where the file lies; by default the system's folder for temporary files.
        seed: decide by bytes and kinds of operations instead of the clock, so that each run makes the same plan, and
            rounds with random numbers from this seed.
        min_bytes: smaller storages are always kept.

    Returns:
        A policy. `held`, `peak`, `on_disk` and `disk_peak` are in bytes; `plan` is the plan for steps like the last
        one, and `plan.explain()` says what was chosen for each tensor, why, and what the next best would cost.

    Raises:
        ValueError, TypeError: for no number of bytes.
        RuntimeError: in the forward pass, where something cannot be held within the limit. It says what would help.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.ones(64, 64, requires_grad=True)
        >>> budget = saved.budget("40 KiB")
        >>> for step in range(2):
        ...     with budget:
        ...         y = (x @ x).exp().exp().exp().sum()  # keeps three results of 16 KiB
        ...     y.backward()
        >>> budget.peak
        32768
        >>> [row.chosen for row in budget.plan.explain()].count("recompute")
        1
    """
    allowed = in_bytes("disk", disk)
    means = means_of(allowed, lossy, directory, seed, min_bytes)
    return Budget(in_bytes("limit", limit), allowed, means, min_bytes, seed is not None)
