"""`Row`: the recorded data of one saved tensor."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from operator import itemgetter


@dataclass(slots=True)
class Row:
    """One tensor saved by one operation. Times are seconds since the recording began."""

    id: int
    op: str  # the operation that saved it
    slot: str  # the name under which its node saves it: an argument, `out`, or a name of the operation's own
    kind: str  # one of `info.KINDS`
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None  # in elements; None where the array library has none
    device: str
    bytes: int  # of its distinct elements
    storage: int  # the number of its storage: rows with the same number share it
    storage_bytes: int  # of the whole storage
    saved_at: float
    phase: str  # "forward" or "backward"; saves under create_graph=True are "backward"
    module: str = ""  # the path of the module whose forward was running, "" outside of modules
    file: str = ""
    line: int = 0
    function: str = ""
    policy: str = ""  # the policy or hook that packed it, "" for none
    tier: str = "memory"  # where the packed bytes are
    packed_bytes: int | None = None  # of the packed form, None if it is not packed or not known
    charged: int = 0  # bytes charged to this row: 0 if another row held the memory first
    pack_ms: float | None = None
    unpack_ms: float | None = None  # of all unpacks together
    unpacks: int = 0
    released_at: float | None = None  # None while it is held
    changes: list[tuple[float, int]] = field(default_factory=list)  # (time, bytes in memory charged to it since then)
    until: float | None = None  # when the memory charged to it was freed; None while it is held
    name: str = ""  # given by `saved.name`
    exact: bool = False  # whether a loss or statistics depend on it, so that it must not be rounded
    recompute_ms: float | None = None  # None if it cannot be recomputed from what else is held
    needs: list[int] = field(default_factory=list)  # the storages that it would be recomputed from
    shares: list[int] = field(default_factory=list)  # ids of some other rows that share the memory

    def held_at(self, moment: float) -> int:
        """Return the bytes in memory that were charged to this row at a moment."""
        at = bisect_right(self.changes, moment, key=itemgetter(0))
        return self.changes[at - 1][1] if at else 0

    def change(self, at: float, by: int) -> None:
        """Add `by` bytes to what is charged to this row from time `at` on."""
        now = by + (self.changes[-1][1] if self.changes else 0)
        self.changes.append((at, now))
