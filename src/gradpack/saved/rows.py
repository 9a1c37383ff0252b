"""What is known of one saved tensor, as plain data."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from operator import itemgetter


@dataclass(slots=True)
class Row:
    """One tensor that one operation saved, once. Times are seconds since the recording began."""

    id: int
    op: str  # the operation that saved it
    slot: str  # under which name: an argument, `out`, or a name of the operation's own
    kind: str  # one of `info.KINDS`
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None  # in elements; None where the array library tells none
    device: str
    bytes: int  # of its elements
    storage: int  # a number for the memory it lies in: rows with the same number share it
    storage_bytes: int  # of that memory, whole
    saved_at: float
    phase: str  # "forward" or "backward": saves of the graph that create_graph makes are in backward
    module: str = ""  # the path of the module whose forward ran, "" outside of all
    file: str = ""
    line: int = 0
    function: str = ""
    policy: str = ""  # what packed it, "" for nothing
    tier: str = "memory"  # where it lies
    packed_bytes: int | None = None  # of the packed form, as far as it is known
    charged: int = 0  # bytes that are held on account of this row: 0 where another row holds them already
    pack_ms: float | None = None
    unpack_ms: float | None = None  # of all times together
    unpacks: int = 0
    released_at: float | None = None  # None while it is held
    changes: list[tuple[float, int]] = field(default_factory=list)  # bytes in memory held for it, from each moment on
    until: float | None = None  # when what it is charged with was let go of; None while that is held
    name: str = ""  # what the user called it
    exact: bool = False  # does a loss or statistics depend on it, so that it is not to be rounded?
    recompute_ms: float | None = None  # None where it cannot be made again from what else is held
    needs: list[int] = field(default_factory=list)  # the storages that it would be made from
    shares: list[int] = field(default_factory=list)  # ids of other rows on the same memory, some of them

    def held_at(self, moment: float) -> int:
        """The bytes in memory that were held on account of this row then."""
        at = bisect_right(self.changes, moment, key=itemgetter(0))
        return self.changes[at - 1][1] if at else 0

    def change(self, at: float, by: int) -> None:
        """From now on so many bytes more are held in memory on account of it."""
        now = by + (self.changes[-1][1] if self.changes else 0)
        self.changes.append((at, now))
