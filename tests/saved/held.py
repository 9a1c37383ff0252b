"""What a budget really holds: found by looking at everything that lives, and not by what the budget says of it."""

from __future__ import annotations

from weakref import WeakSet

from gradpack.backends.memory_layout import owner_of
from gradpack.core.tensor import Tensor
from gradpack.saved.budgets.accounting import BudgetedTensor
from gradpack.saved.policies.recompute_graph import Anchor, DroppedTensor, Recipe


class Look:
    """Looks on while a policy packs and unpacks.

    Attributes:
        peak: the most bytes that were held at any of these moments.
        now: bytes that are held now.
    """

    def __init__(self, policy, *users):
        self.peak = 0
        self._users = set()
        self.leave_out(users)
        self._slots = WeakSet()
        self._pack, self._unpack = policy.pack, policy.unpack
        policy.pack, policy.unpack = self.pack, self.unpack

    def leave_out(self, users):
        """These are what the program holds itself."""
        self._users.update(id(owner_of(t._data)) for t in users)

    def pack(self, tensor, info=None):
        packed = self._pack(tensor, info)
        if type(packed) is BudgetedTensor:
            self._slots.add(packed)
        self.peak = max(self.peak, self.now)
        return packed

    def unpack(self, packed):
        tensor = self._unpack(packed)
        self.peak = max(self.peak, self.now)
        return tensor

    @property
    def now(self):
        found = {}
        for slot in list(self._slots):
            for array in _arrays(slot.form, set()):
                whole = owner_of(array)
                if id(whole) not in self._users:
                    found[id(whole)] = whole.nbytes
        return sum(found.values())


def _arrays(form, seen):
    if isinstance(form, Tensor):
        yield form._data
    elif type(form) is DroppedTensor:
        if form.waiting is not None:
            yield form.waiting
        yield from _arrays(form.recipe, seen)
    elif type(form) is Recipe:
        if form in seen:
            return
        seen.add(form)
        yield from form.waiting
        for source in form.sources:
            if type(source) is Anchor:
                yield source.array
            elif type(source) is Recipe:
                yield from _arrays(source, seen)
    else:  # of another policy
        yield from form.record.arrays
        if form.record.holding is not None:
            yield form.record.holding
