"""Progress display of the demo: a bar on a terminal, occasional lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Protocol


class Report(Protocol):
    """Callback of every step, with the number of steps done and a note to display."""

    def __call__(self, done: int, note: str) -> None: ...


@contextmanager
def progress(console: Any, title: str, total: int) -> Iterator[Report]:
    """Shows the progress of `total` steps on a rich console."""
    if console.is_terminal:
        with _bar(console) as bar:
            task = bar.add_task(title, total=total, note="")
            yield lambda done, note: bar.update(task, completed=done, note=note)
        return
    every = max(total // 10, 1)

    def line(done: int, note: str) -> None:
        if done % every == 0 or done == total:
            console.print(f"{title} {done}/{total}  {note}".rstrip(), highlight=False, markup=False)

    yield line


def _bar(console: Any) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=console,
    )


class Speed:
    """Things per second over the last few steps."""

    def __init__(self, per_step: int, window: int = 20) -> None:
        self._per_step = per_step
        self._window = window
        self._times = [perf_counter()]

    def step(self) -> float:
        self._times = [*self._times[-self._window :], perf_counter()]
        return self._per_step * (len(self._times) - 1) / (self._times[-1] - self._times[0])
