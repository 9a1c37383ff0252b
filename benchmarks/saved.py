"""How small can the tape get, and at what price? Ways of keeping saved tensors on eleven networks, here and in torch.

    python -m benchmarks.saved [--rounds 15] [--workloads W2,W4] [--ways bf16,int8] [--json FILE] [--plot FILE]
    python -m benchmarks.saved --read FILE --plot FILE

Columns of the table:
    held      bytes that the tape keeps when forward is done: distinct storages, without parameters
    peak      the most there were at any time of the step, tensors that the program itself held included
    of torch  the same as `held`, as a part of what torch keeps without hooks
    time      of a step, divided by that of the library's own step without a policy: median of the ratios, quartiles
    best      the same of the shortest steps: what a machine that is busy in between has to say of a quiet one
    cpu       the same as `time` of processor time of all threads: steadier where others use the machine
    to torch  time divided by that of torch's step without hooks
    error     length of the difference of all gradients, relative to that of the gradients

All ways in both libraries take turns in one process, two steps each, of which the second counts, and ratios are taken
within a round. Before, without dropout,
losses and gradients of the libraries must agree. BLAS and torch use one thread: the other core is for what policies
do beside the program. What `checkpoint` keeps in torch while backward runs no hook sees, so that it has no peak.
"""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.harness import machine, pin_threads

LIBRARIES = ("gradpack", "torch")


def step(library: Any, block: Callable[[], Any], between: Callable[[], None] | None = None) -> None:
    """One step: backward of the oldest graph when there are as many as the job wants at a time."""
    job = library.job
    job.model.zero_grad()
    library.torch.manual_seed(1)
    library.inputs.clear()
    waiting: deque[Any] = deque()
    for loss in job.losses:
        with block():
            waiting.append(loss())
        if len(waiting) == job.live:
            if between is not None:
                between()
            waiting.popleft().backward()
    while waiting:
        waiting.popleft().backward()


def gradients(library: Any) -> Any:
    """All gradients, one after the other."""
    import numpy as np

    found = (p.grad for p in library.job.model.parameters() if p.grad is not None)
    return np.concatenate([grad.numpy().ravel().astype(np.float64) for grad in found])


def distance(a: Any, b: Any) -> float:
    import numpy as np

    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def check(workload: str) -> None:
    """Raise unless both libraries get the same losses and gradients from the same parameters."""
    from benchmarks.saved_ways import Library

    ours, theirs = (Library(name, workload, 0.0) for name in LIBRARIES)
    theirs.copy_from(ours)
    for mine, other in zip(ours.job.losses, theirs.job.losses, strict=True):
        a, b = mine().item(), other().item()
        if abs(a - b) > 1e-5 * (1 + abs(b)):
            raise AssertionError(f"{workload}: the loss is {a} in gradpack and {b} in torch")
    for library in (ours, theirs):
        step(library, library.block("none", 0)[0])
    off = distance(gradients(ours), gradients(theirs))
    if off > 1e-4:
        raise AssertionError(f"{workload}: gradients of gradpack and torch are {off} apart")


class Run:
    """One way in one library: its bytes, gradients and times."""

    def __init__(self, library: Any, way: str, full: int) -> None:
        self.library, self.way = library, way
        self.block, self.wait = library.block(way, full)
        for _ in range(3):  # hooks in torch learn in the first step, budgets plan in the second
            step(library, self.block)
        self.gradients = gradients(library)
        self.held, self.peak = self._bytes()
        self.seconds: list[float] = []
        self.cpu: list[float] = []

    def _bytes(self) -> tuple[int, int | None]:
        hidden = self.library.name == "torch" and self.way == "checkpoint"
        found: list[int] = []

        def between() -> None:
            self.wait()
            more = {t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in self.library.inputs if hidden}
            found.append(meter.now + sum(more.values()))

        meter = self.library.meter()
        if self.library.name == "torch":  # hooks of torch's own hide what is inside from a meter around them

            @contextmanager
            def metered() -> Iterator[None]:
                with self.block(), meter:
                    yield

            step(self.library, metered, between)
        else:
            with meter:
                step(self.library, self.block, between)
        return found[0], None if hidden else meter.peak

    def time(self) -> None:
        step(self.library, self.block)  # one way leaves the heap large and the next small: what that costs is no one's
        start, used = perf_counter(), process_time()
        step(self.library, self.block)
        self.seconds.append(perf_counter() - start)
        self.cpu.append(process_time() - used)


def measure(workload: str, ways: tuple[str, ...], rounds: int, libraries: tuple[str, ...]) -> dict[str, Any]:
    """All numbers of one workload, as they go into the file."""
    from benchmarks.saved_ways import Library

    if len(libraries) > 1:
        check(workload)
    prepared = [Library(name, workload, 0.1) for name in libraries]
    runs: list[Run] = []
    exact: dict[str, Any] = {}
    rows = []
    for library in prepared:
        full = 0
        for way in ("none", *(way for way in ways if way != "none" and library.has(way))):
            run = Run(library, way, full)
            full = full or run.held
            runs.append(run)
            reference = exact.setdefault(library.name, run.gradients)
            error = distance(run.gradients, reference)
            rows.append(
                {"library": library.name, "way": way, "held": run.held, "peak": run.peak, "error": error}
                | {"seconds": run.seconds, "cpu": run.cpu}
            )
            del run.gradients
    for round_ in range(rounds):
        turn = round_ * 7 % len(runs)  # so that none always comes after the same
        for run in runs[turn:] + runs[:turn]:
            run.time()
    return {"what": prepared[0].what, "rows": rows}


def main() -> None:
    parser = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--workloads", help="some of W1 to W11")
    parser.add_argument("--ways", help="some of the names in the table")
    parser.add_argument("--libraries", default=",".join(LIBRARIES))
    parser.add_argument("--json", type=Path, help="write all numbers to this file, beside those of other workloads")
    parser.add_argument("--plot", type=Path, help="draw bytes against time into this file")
    parser.add_argument("--read", type=Path, help="show what --json wrote instead of measuring")
    parser.add_argument("--threads", type=int, default=1, help="of BLAS and torch; 0: as many as they like")
    args = parser.parse_args()
    from benchmarks.saved_report import draw, show

    if args.read is not None:
        report = json.loads(args.read.read_text())
        for name, found in report["workloads"].items():
            show(name, found)
    else:
        report = run_all(args, show)
    if args.json is not None:
        if args.json.exists():
            before = json.loads(args.json.read_text())["workloads"]
            names = sorted({**before, **report["workloads"]}, key=lambda name: int(name[1:]))
            report["workloads"] = {name: report["workloads"].get(name) or before[name] for name in names}
        args.json.write_text(json.dumps(report) + "\n")
    if args.plot is not None:
        draw(report, args.plot)


def run_all(args: Any, show: Callable[[str, Any], None]) -> dict[str, Any]:
    if args.threads == 1:
        pin_threads()
    libraries = tuple(args.libraries.split(","))
    if args.threads and "torch" in libraries:
        import torch

        torch.set_num_threads(args.threads)
    from benchmarks.saved_ways import NAMES
    from benchmarks.saved_workloads import WORKLOADS

    ways = tuple(args.ways.split(",")) if args.ways else NAMES
    chosen = args.workloads.split(",") if args.workloads else list(WORKLOADS)
    if unknown := [name for name in (*ways, *chosen) if name not in (*NAMES, *WORKLOADS)]:
        raise SystemExit(f"there is no {unknown[0]!r}: workloads are {', '.join(WORKLOADS)}, ways {', '.join(NAMES)}")
    report: dict[str, Any] = {
        "machine": machine(("gradpack", "numpy", "torch", "blosc2")),
        "threads": args.threads,
        "workloads": {},
    }
    for name in chosen:
        found = measure(name, ways, args.rounds, libraries)
        found["load"] = os.getloadavg()[0]
        report["workloads"][name] = found
        show(name, found)
    return report


if __name__ == "__main__":
    main()
