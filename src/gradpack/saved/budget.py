"""A limit in bytes for what autograd holds, and the fastest way found to stay within."""

from __future__ import annotations

from time import perf_counter
from typing import Any
from weakref import ref

from ..base.layouts import strided
from ..base.modes import MODE, OpMode
from ..base.sizes import in_bytes, shown
from ..tensor.tensor import Tensor
from .cheap import is_held
from .choices import Limits
from .costs import Took
from .explain import BudgetPlan
from .foreign import described
from .holding import Holding
from .info import Brief, SavedInfo
from .ledger import Entry, Means, Slot, packed_bytes
from .means import check_folder, means_of
from .notes import Notes
from .policy import Policy
from .recipes import Value
from .recompute import Living, Watch
from .rounds import Round, Row, Shared, adopted, better, is_due, planned
from .storage import owner
from .ways import ways_to

_PLANS = 16  # kinds of steps that are remembered
_ROWS = 10_000  # that a round may have, where nothing goes backward
_STEP = 3  # what a step takes, for what the operations of its forward pass took
_EFFORT = 0.2  # how long planning may take, for what the operations of a forward pass took
_LEAST, _MOST = 0.002, 0.1  # seconds of it
_SHARE, _AHEAD = 0.004, 0.3  # of the time of steps, and steps' time, that planning may take
_CREDIT = 0.01  # seconds of it that no step has to be worth
_shared = Shared()

try:
    from time import thread_time
except ImportError:  # as in a browser, where there is one thread
    from time import process_time as thread_time


class Budget(Policy):
    """What `budget` returns.

    Attributes:
        limit, ram, disk: bytes that are allowed: where tensors lie, in host memory, on disk.
        held, in_ram, on_disk: bytes that are held now.
        peak, ram_peak, disk_peak: and the most there were.
        planning: seconds of processor time spent on making plans.
    """

    guards_writes = True

    def __init__(
        self, limit: int, ram: int | None, disk: int, means: list[Means], min_bytes: int, steady: bool
    ) -> None:
        self.limit, self.ram, self.disk = limit, ram, disk
        self._limits = Limits(limit, disk, float("inf") if ram is None else ram)
        self.name = f"budget({shown(limit)!r})"
        self.min_bytes = min_bytes
        self._means = means
        self._holding = Holding(self.name, self._limits, means)
        self._ledger = self._holding.ledger
        self._lock = self._holding.lock
        self._notes = Notes()
        self._watch = Watch(self._notes, cheap=False, steady=steady)
        self._entries: dict[tuple[int, int], tuple[ref[Any], ref[Entry]]] = {}
        self._others = Living()  # storages of buffers, which stay in memory anyway
        self._number = 0
        self._round = Round()
        self._plans: list[BudgetPlan] = []
        self.planning = 0.0
        self._efforts = self._credit = 0.0  # seconds that planning has taken, and may take before steps add to that
        self._took = 0.0  # that it took last

    held = property(lambda self: self._ledger.memory)
    in_ram = property(lambda self: self._ledger.host)
    on_disk = property(lambda self: self._ledger.disk)
    peak = property(lambda self: self._ledger.peak)
    ram_peak = property(lambda self: self._ledger.host_peak)
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
        with self._lock:
            if self._round.uses or not self._entries:
                self._begin()
        super().__enter__()  # last: where planning is interrupted nothing has been entered
        return self

    # --- rounds ---

    def _begin(self) -> None:
        """Learns from the round that is over, and begins another one."""
        done, spent = self._round, self._watch.spent
        self._round = Round(spent)
        forward = spent - done.began
        start, effort = thread_time(), min(max(_LEAST, _EFFORT * forward), _MOST)
        followed = done.planned
        planning = False
        if done.rows and done.uses and (followed is None or followed.keys != done.keys):
            if planning := self._may_plan(effort, forward):
                others = self._plans_of_others(done)
                self._plans.insert(0, planned(done, self._means, self._limits, effort, others=others))
                del self._plans[_PLANS:]
        elif followed is not None:
            followed.followed += 1
            self._plans.remove(followed)
            now_and_then = not followed.followed & (followed.followed - 1)  # less and less often
            if done.uses and now_and_then and not self._watch.steady:
                others = self._plans_of_others(done)
                planning = is_due(followed, self._means) and self._may_plan(effort, forward)
                followed = better(done, self._means, effort, others) if planning else adopted(done, self._means, others)
            self._plans.insert(0, followed)
        if planning and not self._watch.steady:
            _shared.add(self._plans[0])
        took = thread_time() - start
        self.planning += took
        if self._watch.steady:  # no clock counts
            took = 0.0
        if planning:
            took = self._took = max(took, effort)
        self._efforts += took

    def _plans_of_others(self, done: Round) -> list[BudgetPlan]:
        """Plans of other budgets for steps like this one; none where each run is to plan the same."""
        return [] if self._watch.steady else [plan for plan in _shared.like(done.keys) if plan not in self._plans]

    def _may_plan(self, effort: float, forward: float) -> bool:
        """Whether planning is worth it: one step in 250 is spent on it, and a third of one before.

        Steps that never come again are not planned for ever: they are kept within the limits as they go.
        """
        self._credit = self._credit or _CREDIT + _AHEAD * _STEP * forward
        allowed = self._credit + _SHARE * _STEP * self._watch.spent
        return not self._took or self._efforts + max(effort, self._took) <= allowed

    # --- packing ---

    def __saved_info__(self, tensor: Tensor, label: tuple[str, str], node: Any = None, where: Any = None) -> Any:
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
        if not self._entries and (self._round.uses or len(self._round.rows) > _ROWS):
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
                choice = self._round.choice
                self._holding.take_in(entry, None if choice is None else choice.name)
            except BaseException:
                self._round.withdraw()
                raise
            self._entries[key] = (ref(whole), ref(entry, self._forgets(key)))
        else:
            slot = Slot(entry, tensor, info, value)
            self._holding.join(entry, slot)
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
        away = tensor._spec.device.type != "cpu"
        row = Row(len(self._round.rows), key, whole.nbytes, self._round.tick(), away)
        self._round.add(row, self._plans)
        row.fixed = whole.nbytes < self.min_bytes
        if self._round.choice is None:
            row.describe(info.full(tensor) if type(info) is Brief else info)
        self._number += 1
        return Entry(self._ledger, whole.nbytes, self._number, row, away)

    def _look(self, entry: Entry, slot: Slot) -> None:
        """Takes note of what making the tensor again would take, and of how well it can be packed."""
        row: Row = entry.row
        if row.fixed:
            return
        if self._round.choice is None:
            ways = ways_to(slot.value, self._holding.is_held)
            if (way := ways[slot.value]) is not None and not way.extra:
                row.took, row.needs = self._runs(slot.value)
            for means in list(self._means):
                known = means.on_disk or means.from_device or means.knows(row.key)
                if not known and not (means.lossy and row.exact):
                    self._sample(means, entry, slot)

    def _runs(self, wanted: Value) -> tuple[list[Took], tuple[int, ...]]:
        """What the operations took that making a value again runs, and the rows that it starts from."""
        took: list[Took] = []
        needs: set[int] = set()
        stack, seen = [wanted], {wanted}
        while stack:
            call = stack.pop().call
            assert call is not None
            took.append(call.took)
            for source in call.sources():
                if source in seen:
                    continue
                seen.add(source)
                slot = None if source.slot is None else source.slot()
                if slot is not None:
                    if self._round.has(slot.entry.row):  # what an earlier round has saved is held anyway
                        needs.add(slot.entry.row.number)
                elif not source.held and not source.is_tiny and source.call is not None:
                    stack.append(source)
        return took, tuple(sorted(needs))

    def _sample(self, means: Means, entry: Entry, slot: Slot) -> None:
        """Packs a part of the tensor to see how much smaller it gets."""
        tensor = slot.form
        part = tensor.reshape(-1)[: (1 << 16) // tensor.dtype.itemsize].clone()
        info = described(part)
        try:
            means.policy.pack(part, info)  # a library may have to be loaded
        except Exception:  # it is there, and broken in whatever way: do without
            self._means.remove(means)
            return
        start = perf_counter()
        packed = means.policy.pack(part.clone(), info)
        seconds = perf_counter() - start
        memory, _ = packed_bytes(packed)
        means.packed(entry.row.key, part.nbytes, part.nbytes if isinstance(packed, Tensor) else memory)
        means.took(part.nbytes, seconds)

    # --- unpacking ---

    def unpack(self, packed: Any) -> Any:
        if type(packed) is not Slot:
            return packed
        self._round.uses += 1
        packed.entry.row.used(self._round.tick(packed.info.node))
        return self._holding.fetch(packed)


def budget(
    limit: int | str,
    *,
    ram: int | str | None = None,
    disk: int | str = 0,
    lossy: bool = False,
    directory: Any = None,
    seed: int | None = None,
    min_bytes: int = 4096,
) -> Budget:
    """Hold no more than `limit` bytes for backward, and lose as little time with it as can be found.

    The first step is measured. From then on a plan says for each tensor whether to keep it, to make it again in
    backward, to compress it, to copy it from its device to host memory, or to write it to disk. At any moment, in the
    first step too and where a step goes another way than any step before (other shapes, another branch), what is held
    is made smaller before the limit is passed: first what costs least for its bytes and for how long it will not be
    used. All is exact, unless `lossy` allows rounding.

    What counts: each storage once, however many operations saved it, in the form in which it is held; and what is
    made again before it is needed. Parameters and buffers do not count, nor does what the program itself holds, nor
    what the operation that runs just now is given.

    Args:
        limit: bytes, or text such as "512 MiB", where tensors lie: on their device, or in the memory of the host.
        ram: bytes of host memory, for what is there of tensors of a device, and of those of the CPU, so that for these
            the smaller of both counts. Default: as many as `limit` lets tensors of the CPU have, and any number for
            those of a device.
        disk: bytes that may be written to a temporary file. Default: none.
        lossy: may tensors be rounded? Never what a loss, a norm or an index depends on.
        directory: where the file lies; by default the system's folder for temporary files.
        seed: decide by bytes and kinds of operations instead of the clock, so that each run makes the same plan, and
            rounds with random numbers from this seed.
        min_bytes: smaller storages are always kept.

    Returns:
        A policy. `held`, `peak`, `in_ram`, `ram_peak`, `on_disk` and `disk_peak` are in bytes; `plan` is the plan for
        steps like the last one, and `plan.explain()` says what was chosen for each tensor, why, and what the next best
        would cost.

    Raises:
        ValueError, TypeError: for no number of bytes.
        OSError: for a directory that cannot be written to; in the forward pass, when the disk is full; in backward, at
            the tensor that needs it, when what comes back from disk is not what was written.
        RuntimeError: in the forward pass, where something cannot be held within the limit. It says what would help.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.ones(64, 64, requires_grad=True)
        >>> budget = saved.budget("40 KiB", seed=0)
        >>> for step in range(2):
        ...     with budget:
        ...         y = (x @ x).exp().exp().exp().sum()  # keeps three results of 16 KiB
        ...     y.backward()
        >>> budget.peak
        32768
        >>> [row.chosen for row in budget.plan.explain()].count("recompute")
        1
    """
    on_disk = in_bytes("budget", "disk", disk)
    in_ram = None if ram is None else in_bytes("budget", "ram", ram)
    if on_disk and directory is not None:
        check_folder(directory)
    means = means_of(on_disk, lossy, directory, seed, min_bytes)
    return Budget(in_bytes("budget", "limit", limit), in_ram, on_disk, means, min_bytes, seed is not None)
