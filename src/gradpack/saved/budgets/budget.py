"""`budget`: a limit in bytes for saved tensors, and the plan of least time found that stays within it."""

from __future__ import annotations

from time import perf_counter
from typing import Any
from weakref import WeakValueDictionary

from ...backends.memory_layout import owner_of
from ...base.layouts import strided
from ...base.modes import MODE, OpMode
from ...base.sizes import in_bytes, shown
from ...core.tensor import Tensor
from ..info import BriefInfo, SavedInfo, described
from ..policies.recompute import OpRecorder, is_held, paths_to
from ..policies.recompute_graph import RecordedArray, RecordedArrays
from ..policy import Policy
from ..storage import WeakIdentityMap
from .accounting import BudgetedTensor, Method, StorageEntry, check_folder, methods_for, packed_bytes
from .costs import CallTime
from .plans import BudgetLimits, BudgetPlan
from .residency import Residency
from .step_profile import ProfileRow, SharedPlans, StepProfile, adopted, better, is_due, planned

_PLANS = 16  # plans to remember: one for each kind of step
_ROWS = 10_000  # most rows of a step, where no backward pass ends it
_STEP = 3  # time of a whole step, as a multiple of the time of its forward operations
_EFFORT = 0.2  # time to spend on one plan, as a part of the time of the forward operations,
_LEAST, _MOST = 0.002, 0.1  # but at least and at most so many seconds
_SHARE, _AHEAD = 0.004, 0.3  # share of all steps' time that planning may take; steps' time granted in advance
_CREDIT = 0.01  # seconds of planning granted in any case
_shared = SharedPlans()

try:
    from time import thread_time
except ImportError:  # not available in a browser, where there is only one thread
    from time import process_time as thread_time


class Budget(Policy):
    """A policy that keeps saved tensors within limits of bytes: the result of `budget`.

    Attributes:
        limit, ram, disk: bytes allowed on the tensors' device, in host memory, on disk.
        held, in_ram, on_disk: bytes held there now.
        peak, ram_peak, disk_peak: the most bytes held there so far.
        planning: seconds of processor time spent on making plans.
    """

    guards_writes = True

    def __init__(
        self, limit: int, ram: int | None, disk: int, methods: list[Method], min_bytes: int, steady: bool
    ) -> None:
        self.limit, self.ram, self.disk = limit, ram, disk
        self._limits = BudgetLimits(limit, disk, float("inf") if ram is None else ram)
        self.name = f"budget({shown(limit)!r})"
        self.min_bytes = min_bytes
        self._methods = methods
        self._residency = Residency(self.name, self._limits, methods)
        self._accounts = self._residency.accounts
        self._lock = self._residency.lock
        self._notes = RecordedArrays()
        self._watch = OpRecorder(self._notes, cheap=False, steady=steady)
        self._entries: WeakValueDictionary[tuple[int, int], StorageEntry] = WeakValueDictionary()
        self._others: WeakIdentityMap[bool] = WeakIdentityMap()  # parameters and buffers, in memory anyway
        self._number = 0
        self._profile = StepProfile()
        self._plans: list[BudgetPlan] = []
        self.planning = 0.0
        self._efforts = self._credit = 0.0  # seconds that planning has taken, and may take in advance of any steps
        self._took = 0.0  # seconds of the last planning

    held = property(lambda self: self._accounts.memory)
    in_ram = property(lambda self: self._accounts.host)
    on_disk = property(lambda self: self._accounts.disk)
    peak = property(lambda self: self._accounts.peaks[0])
    ram_peak = property(lambda self: self._accounts.peaks[1])
    disk_peak = property(lambda self: self._accounts.peaks[2])

    @property
    def plan(self) -> BudgetPlan | None:
        """The plan for steps like the last one; None before the first step has gone backward."""
        with self._lock:
            if self._profile.uses and not self._entries:
                self._begin()
            return self._plans[0] if self._plans else None

    def watches(self) -> tuple[OpMode, ...]:
        return (self._watch,)

    def __enter__(self) -> Budget:
        with self._lock:
            if self._profile.uses or not self._entries:
                self._begin()
        super().__enter__()  # last: if planning is interrupted, nothing has been entered
        return self

    # --- steps ---

    def _begin(self) -> None:
        """End the current step, make or improve the plan for steps like it, and begin the next step."""
        done, spent = self._profile, self._watch.spent
        self._profile = StepProfile(spent)
        forward = spent - done.began
        start, effort = thread_time(), min(max(_LEAST, _EFFORT * forward), _MOST)
        followed = done.planned
        planning = False
        if done.rows and done.uses and (followed is None or followed.keys != done.keys):
            if planning := self._may_plan(effort, forward):
                others = self._plans_of_others(done)
                self._plans.insert(0, planned(done, self._methods, self._limits, effort, others=others))
                del self._plans[_PLANS:]
        elif followed is not None:
            followed.followed += 1
            self._plans.remove(followed)
            now_and_then = not followed.followed & (followed.followed - 1)  # after 1, 2, 4, 8, ... steps
            if done.uses and now_and_then and not self._watch.steady:
                others = self._plans_of_others(done)
                planning = is_due(followed, self._methods) and self._may_plan(effort, forward)
                followed = (
                    better(done, self._methods, effort, others) if planning else adopted(done, self._methods, others)
                )
            self._plans.insert(0, followed)
        if planning and not self._watch.steady:
            _shared.add(self._plans[0])
        took = thread_time() - start
        self.planning += took
        if self._watch.steady:  # measured times must not have an effect
            took = 0.0
        if planning:
            took = self._took = max(took, effort)
        self._efforts += took

    def _plans_of_others(self, done: StepProfile) -> list[BudgetPlan]:
        """Return plans of other budgets for steps like this; none with a seed, where each run must plan the same."""
        return [] if self._watch.steady else [plan for plan in _shared.like(done.keys) if plan not in self._plans]

    def _may_plan(self, effort: float, forward: float) -> bool:
        """Return whether there is time left for planning: 1/250 of the time of all steps, and a third of a step ahead.

        So a program whose steps never repeat does not plan each of them: eviction keeps those within the limits.
        """
        self._credit = self._credit or _CREDIT + _AHEAD * _STEP * forward
        allowed = self._credit + _SHARE * _STEP * self._watch.spent
        return not self._took or self._efforts + max(effort, self._took) <= allowed

    # --- packing ---

    def __saved_info__(self, tensor: Tensor, label: tuple[str, str], node: Any = None, where: Any = None) -> Any:
        """Return a cheap `BriefInfo` while a step follows its plan and no recorder is active, else a `SavedInfo`."""
        profile = self._profile
        goes_on = bool(self._plans) and (profile.choice is not None or not profile.rows)
        is_brief = goes_on and MODE.get().recorder is None
        return BriefInfo(label, node, where) if is_brief else SavedInfo(tensor, label, node, where)

    def pack(self, tensor: Any, info: Any = None) -> Any:
        if tensor._spec.layout is not strided or is_held(tensor) or tensor._tangents is not None:
            return tensor
        info = info or described(tensor)
        if owner_of(tensor._data) in self._others:
            return tensor
        if type(info) is SavedInfo and info.kind in ("parameter", "buffer"):
            self._others.set(owner_of(tensor._data), True)
            return tensor
        start = perf_counter()
        with self._lock:
            try:
                return self._pack(tensor, info)
            finally:
                self._watch.away += perf_counter() - start

    def _pack(self, tensor: Tensor, info: Any) -> BudgetedTensor:
        if not self._entries and (self._profile.uses or len(self._profile.rows) > _ROWS):
            self._begin()
        whole = owner_of(tensor._data)
        value = self._watch.find(tensor) or self._notes.take(tensor)
        key = (id(whole), int(tensor._counter[0]))
        entry = self._entries.get(key)
        if entry is None or entry.whole() is not whole:
            entry = self._entry(whole, tensor, info)
            slot = BudgetedTensor(entry, tensor, info, value)
            try:
                self._look(entry, slot)
                choice = self._profile.choice
                self._residency.take_in(entry, None if choice is None else choice.name)
            except BaseException:
                self._profile.withdraw()
                raise
            self._entries[key] = entry
        else:
            slot = BudgetedTensor(entry, tensor, info, value)
            self._residency.join(entry, slot)
        info.policy, info.tier, info.packed_bytes = f"{self.name}: {entry.form}", entry.form, entry.memory
        return slot

    def _entry(self, whole: Any, tensor: Tensor, info: Any) -> StorageEntry:
        label = info.label if type(info) is BriefInfo else (info.node_name, info.slot)
        key = (*label, tensor._shape, tensor._spec.dtype, whole.nbytes)
        away = tensor._spec.device.type != "cpu"
        row = ProfileRow(len(self._profile.rows), key, whole.nbytes, self._profile.tick(), away)
        self._profile.add(row, self._plans)
        row.fixed = whole.nbytes < self.min_bytes
        if self._profile.choice is None:
            row.describe(info.full(tensor) if type(info) is BriefInfo else info)
        self._number += 1
        return StorageEntry(self._accounts, whole, self._number, row, away)

    def _look(self, entry: StorageEntry, slot: BudgetedTensor) -> None:
        """Note the cost of recomputing the tensor, and sample how well each method packs it."""
        row: ProfileRow = entry.row
        if row.fixed:
            return
        if self._profile.choice is None:
            paths = paths_to(slot.value, self._residency.is_held)
            if (path := paths[slot.value]) is not None and not path.extra:
                row.took, row.needs = self._runs(slot.value)
            for method in list(self._methods):
                known = method.on_disk or method.from_device or method.knows(row.key)
                if not known and not (method.lossy and row.exact):
                    self._sample(method, entry, slot)

    def _runs(self, wanted: RecordedArray) -> tuple[list[CallTime], tuple[int, ...]]:
        """Return the times of the operations that recompute a value, and the numbers of the rows they start from."""
        took: list[CallTime] = []
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
                slot = source.slot()
                if slot is not None:
                    if self._profile.has(slot.entry.row):  # rows of earlier steps are held anyway
                        needs.add(slot.entry.row.number)
                elif not source.held and not source.is_tiny and source.call is not None:
                    stack.append(source)
        return took, tuple(sorted(needs))

    def _sample(self, method: Method, entry: StorageEntry, slot: BudgetedTensor) -> None:
        """Pack the first 64 KiB of the tensor, and note the ratio and the time."""
        tensor = slot.form
        part = tensor.reshape(-1)[: (1 << 16) // tensor.dtype.itemsize].clone()
        info = described(part)
        try:
            method.policy.pack(part, info)  # untimed: this may load a library
        except Exception:  # an installed but broken library: do without this method
            self._methods.remove(method)
            return
        start = perf_counter()
        packed = method.policy.pack(part.clone(), info)
        seconds = perf_counter() - start
        memory, _ = packed_bytes(packed)
        method.packed(entry.row.key, part.nbytes, part.nbytes if isinstance(packed, Tensor) else memory)
        method.took(part.nbytes, seconds)

    # --- unpacking ---

    def unpack(self, packed: Any) -> Any:
        if type(packed) is not BudgetedTensor:
            return packed
        self._profile.uses += 1
        packed.entry.row.used(self._profile.tick(packed.info.node))
        return self._residency.fetch(packed)


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
    """Keep at most `limit` bytes of saved tensors, at the least cost in time that planning finds.

    The first step is measured. From then on a plan says for each tensor whether to keep it, to recompute it in
    backward, to compress it, to copy it from its device to host memory, or to write it to disk. In the first step, and
    in steps that differ from all before (other shapes, another branch), tensors are evicted before the limit is
    exceeded: first those that cost least for their bytes and for the time until they are used. Gradients are exact,
    unless `lossy` allows rounding.

    Each storage counts once, however many operations saved it, in the form in which it is held; so do tensors that are
    recomputed or unpacked early for others. Parameters and buffers do not count, nor do tensors that only the program
    itself holds, nor the operands of the running operation.

    Args:
        limit: bytes, or text such as "512 MiB", in the memory of the tensors' device, which may be the CPU.
        ram: bytes of host memory, for CPU tensors (for which the smaller of `limit` and `ram` applies) and for copies
            of tensors of other devices. Default: no limit beside `limit`.
        disk: bytes that may be written to a temporary file. Default: none.
        lossy: whether tensors may be rounded. Those that losses, statistics or indices depend on never are.
        directory: where the file lies; by default the system's folder for temporary files.
        seed: plan by bytes and kinds of operations instead of measured times, so that each run makes the same plan,
            and round with random numbers from this seed.
        min_bytes: smaller storages are always kept.

    Returns:
        A policy. `held`, `peak`, `in_ram`, `ram_peak`, `on_disk` and `disk_peak` are in bytes; `plan` is the plan for
        steps like the last one, and `plan.explain()` says what was chosen for each tensor, why, and what the next best
        would cost.

    Raises:
        ValueError, TypeError: if `limit`, `ram` or `disk` is no number of bytes.
        OSError: if the directory cannot be written to; in the forward pass, if the disk is full; in backward, when the
            tensor is unpacked, if its bytes on disk have changed.
        RuntimeError: in the forward pass, if a tensor cannot be held within the limit. It says what would help.

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
    methods = methods_for(on_disk, lossy, directory, seed, min_bytes)
    return Budget(in_bytes("budget", "limit", limit), in_ram, on_disk, methods, min_bytes, seed is not None)
