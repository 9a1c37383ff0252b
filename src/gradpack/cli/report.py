"""The demo's progress and results: one table, one picture, the weights."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from .problem import write
from .ways import Way

MIB = 1 << 20


def table(ways: Sequence[Way]) -> Any:
    """A rich table with one row for each way of keeping saved tensors."""
    from rich.table import Table

    keep = ways[0]
    result = Table(title="What the tape keeps between forward and backward", title_justify="left")
    result.add_column("saved tensors", no_wrap=True)
    for heading in ("peak bytes", "of keep", "on disk", "step time", "gradient\ndifference"):
        result.add_column(heading, justify="right", no_wrap=True)
    for way in ways:
        result.add_row(*row(way, keep))
    return result


def row(way: Way, keep: Way) -> tuple[str, ...]:
    return (
        way.name,
        f"{way.peak / MIB:.1f} MiB",
        f"{way.peak / keep.peak:.0%}",
        f"{way.on_disk / MIB:.1f} MiB" if way.on_disk else "",
        "1.00" if way is keep else f"{way.slower_than(keep):.2f}",
        "" if way is keep else f"{way.error:.1e}" if way.error else "none",
    )


LEGEND = """\
peak bytes: distinct storages that backward keeps alive, without parameters, in one step
step time: forward, backward and update, relative to keep; median over {rounds} interleaved rounds
gradient difference: of the parameter where it is largest, relative to its gradient's length"""


def save_picture(file: str, losses: Sequence[float], ways: Sequence[Way]) -> None:
    """Writes a PNG: the loss of each step, and the bytes kept over the time of one step."""
    from matplotlib.figure import Figure  # without pyplot: no display is looked for

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(losses, color="C0", alpha=0.25, linewidth=1)
    left.plot(smooth(losses), color="C0")
    left.set(title="Training", xlabel="step", ylabel="loss, nats per character")
    for way in ways:
        times, sizes = [1000 * time for time, _ in way.curve], [size / MIB for _, size in way.curve]
        right.step(times, sizes, where="post", label=way.name)
    right.set(title="Kept for backward, in one step", xlabel="ms, slowed down by measuring", ylabel="MiB in memory")
    right.set_ylim(bottom=0)
    right.legend()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    write(file, buffer.getvalue(), "--out")


def smooth(values: Sequence[float], keep: float = 0.95) -> list[float]:
    """A running mean that forgets, corrected for how little it knows at the beginning."""
    mean, weight, result = 0.0, 0.0, []
    for value in values:
        mean = keep * mean + (1 - keep) * value
        weight = keep * weight + (1 - keep)
        result.append(mean / weight)
    return result


def save_weights(file: str, model: Any) -> None:
    """Writes the state of a module as .npz, one array under each name of its `state_dict`."""
    import numpy as np

    buffer = io.BytesIO()
    np.savez(buffer, **{name: tensor.numpy() for name, tensor in model.state_dict().items()})
    write(file, buffer.getvalue(), "--save")


Report = Callable[[int, str], None]  # is called at every step, with the number of steps done and a note to display


@contextmanager
def progress(console: Any, title: str, total: int) -> Iterator[Report]:
    """Shows the progress of `total` steps on a rich console."""
    if console.is_terminal:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        columns = "{task.description}", BarColumn(), MofNCompleteColumn(), "{task.fields[note]}", TimeRemainingColumn()
        with Progress(*columns, console=console) as bar:
            task = bar.add_task(title, total=total, note="")
            yield lambda done, note: bar.update(task, completed=done, note=note)
        return
    every = max(total // 10, 1)

    def line(done: int, note: str) -> None:
        if done % every == 0 or done == total:
            console.print(f"{title} {done}/{total}  {note}".rstrip(), highlight=False, markup=False)

    yield line


class Speed:
    """Things per second over the last few steps."""

    def __init__(self, per_step: int, window: int = 20) -> None:
        self._per_step, self._window = per_step, window
        self._times = [perf_counter()]

    def step(self) -> float:
        self._times = [*self._times[-self._window :], perf_counter()]
        return self._per_step * (len(self._times) - 1) / (self._times[-1] - self._times[0])
