"""Record what autograd saves: which tensors, how large, for whom, how long."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from os import PathLike
from time import perf_counter
from typing import Any

from ..base.modes import MODE, RUN, using
from ..tensor.packed import Packed
from ..tensor.tensor import Tensor
from .book import Book
from .document import Totals, document
from .info import SavedInfo
from .rows import Row
from .transfers import ALL, Transfers


class Record:
    """What operations saved while the block was open. Made by `record()`.

    Everything can be read at any time, inside of the block as well. Unpacks nothing, and keeps no
    tensor alive. What is let go of after the block still shows.
    """

    def __init__(self, title: str = "saved tensors", limit: int = 20_000) -> None:
        if limit < 1:
            raise ValueError(f"record(): limit is how many saved tensors to list, and at least 1, not {limit}")
        self.title = title
        self._book = Book(limit)
        self._open: list[tuple[Any, Any]] = []  # for each block: the recorder around it, and its scope
        self._end: float | None = None
        self._moved = copy(ALL), copy(ALL)  # what was copied until the block began, and until it ended

    # --- what the tape calls ---

    def describe(self, tensor: Tensor, label: tuple[str, str], node: Any, where: Any) -> SavedInfo:
        """A note of a tensor that is being saved."""
        return SavedInfo(tensor, label, node, where)

    def note(self, info: SavedInfo, tensor: Tensor, packed: Packed | None) -> Any:
        """Take in a saved tensor. Whoever keeps it keeps the answer beside it, and lets go of both together."""
        now = perf_counter()
        with self._book.lock:
            hold = self._book.add(info, tensor, packed, now, RUN.get())
        outer = self._outer
        return hold if outer is None else (hold, outer.note(info, tensor, packed))

    def ran(self, op: Any, values: Sequence[Any], outs: Sequence[Tensor], seconds: float) -> None:
        """Take in that an operation ran."""
        with self._book.lock:
            self._book.origins.add(op, values, outs, seconds)
        if self._outer is not None:
            self._outer.ran(op, values, outs, seconds)

    def backward(self, begins: bool) -> None:
        """Take in that a backward pass begins, or ends."""
        now = perf_counter()
        with self._book.lock:
            self._book.backward(begins, now, RUN.get())
        if self._outer is not None:
            self._outer.backward(begins)

    @property
    def _outer(self) -> Any:
        return self._open[0][0] if self._open else None

    def __enter__(self) -> Record:
        if self._end is None and not self._open:
            self._book.start = self._book._last = perf_counter()
            self._moved = copy(ALL), ALL
        mode = MODE.get()
        scope = using(recorder=self)
        self._open.append((None if mode.recorder is self else mode.recorder, scope))
        scope.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._open.pop()[1].__exit__(*exc)
        self._end = perf_counter()
        if not self._open:
            self._moved = self._moved[0], copy(ALL)

    # --- what users read ---

    @property
    def rows(self) -> list[Row]:
        """One for each saved tensor, in the order of saving."""
        self._book.look()
        return list(self._book.rows.values())

    @property
    def curve(self) -> list[tuple[float, int]]:
        """The bytes that backward keeps in memory after each change: (seconds since the start, bytes)."""
        self._book.look()
        return self._book.timeline.curve()

    @property
    def now(self) -> int:
        """Bytes that backward keeps in memory now: each piece of memory once, parameters and buffers not.

        Of what comes from a device, those that are there.
        """
        self._book.look()
        return self._book.timeline.in_memory

    @property
    def tiers(self) -> dict[str, int]:
        """Bytes that backward keeps now in each place: "memory", "disk", "cpu" for what comes from a device."""
        self._book.look()
        found: dict[str, int] = {}
        for (tier, _), size in self._book.timeline.now.items():
            found[tier] = found.get(tier, 0) + size
        return found

    @property
    def transfers(self) -> Transfers:
        """What policies copied between devices and the host while the block was open, in whatever thread."""
        before, now = self._moved
        return now.since(before)

    @property
    def peak(self) -> int:
        """The most bytes that there were."""
        self._book.look()
        return self._book.timeline.peak

    @property
    def peak_at(self) -> float:
        """When that was, in seconds since the start."""
        self._book.look()
        return self._book.timeline.peak_at

    @property
    def totals(self) -> Totals:
        """Sums over all saves."""
        self._book.look()
        return self._book.totals

    def __repr__(self) -> str:
        return f"<{self.title}: {self.totals.saves} saves, peak {self.peak} bytes, now {self.now}>"

    def document(self) -> dict[str, Any]:
        """Everything as plain data, as JSON can hold it."""
        from .what_if import estimates

        rows, book = self.rows, self._book
        end = perf_counter() if self._open or self._end is None else self._end
        seconds = max(end - book.start, book.seconds)
        return document(self.title, seconds, rows, book.timeline, book.spans, book.totals, estimates(), book.forgotten)

    def table(self, top: int | None = 20) -> Any:
        """Tables to print with rich: the `top` largest of what is held at the peak, and what other ways would give.

        Raises:
            ImportError: without rich, which the extra `cli` brings.
        """
        from .tables import tables

        return tables(self.document(), top)

    def json(self) -> str:
        """The document as JSON."""
        from .traces import as_json

        return as_json(self.document())

    def trace(self) -> str:
        """A trace for Perfetto (ui.perfetto.dev) and chrome://tracing: counters, phases and the life of each tensor."""
        from .traces import as_trace

        return as_trace(self.document())

    def html(self, flame: Sequence[dict[str, Any]] | None = None) -> str:
        """One page that needs nothing else: bytes over time, a map of what is held, a table.

        Args:
            flame: calls to draw below, as nested dicts of `name`, `start`, `duration` and `children`.
        """
        from .page import page

        return page(self.document(), flame)

    def write(self, file: str | PathLike[str]) -> None:
        """Write to a file what its name asks for: `.html`, `.trace.json` or `.json`.

        Raises:
            ValueError: for any other name.
        """
        endings = {".html": self.html, ".trace.json": self.trace, ".json": self.json}
        for ending, make in endings.items():
            if str(file).endswith(ending):
                text = make()
                with open(file, "w", encoding="utf-8") as out:
                    out.write(text)
                return
        raise ValueError(f"write(): the name must end in one of {', '.join(endings)}, and {str(file)!r} does not")


def record(title: str = "saved tensors", limit: int = 20_000) -> Record:
    """A context manager that lists every tensor that operations save for backward while it is open.

    Args:
        title: names what is recorded, in reports.
        limit: how many saved tensors to list. Of later ones those are listed that were held at the
            peak or are held still; all others are counted only.

    Returns:
        A `Record`: `rows`, `peak`, `curve`, `totals`, `now`; as reports `table()`, `json()`,
        `trace()`, `html()` and `write(file)`.

    A piece of memory counts from the moment at which the first operation saves something in it
    until the last has let go, whole and once; parameters and buffers do not count. Under hooks, what
    counts is what they keep. Recording slows operations down, so take times without it.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.saved import record
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with record() as r:
        ...     y = x.exp().sin().sum()
        ...     y.backward()
        >>> r.peak, r.now
        (4000, 0)
        >>> [(row.op, row.slot, row.kind, row.bytes) for row in r.rows]
        [('exp', 'out', 'output', 4000), ('sin', 'input', 'input', 4000)]
    """
    return Record(title, limit)
