"""Time eighteen training steps in torch, gradpack, its programs, NumPy and JAX by hand, by processes that take turns.

    python -m benchmarks.steps [--only NAME]... [--library NAME]... [--rounds N] [--threads N] [--without-numba]
                               [--json FILE]

In one process torch's threads and OpenBLAS's disturb each other, and torch looks twice as slow as it is. So each
library has a process, one runs while the others wait, and what counts is the ratio inside a round. As many threads as
there are cores, if not said otherwise: where another program keeps a core busy, threads that spin for each other, as
torch's do, take many times as long, and `--threads 1` says more. Values are compared before anything is timed: what
the first step returns, and how much the third returns differs from it, which shows a wrong gradient or update.
"""

import argparse
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import harness

LIBRARIES = {
    "torch": "torch",
    "gradpack": "gradpack",
    "compiled": "compiled",
    "numpy": "by hand",
    "jax": "JAX",
    "xla": "in XLA",
}
BLOCK = 0.1  # seconds, at least, of one turn


class Child:
    """A process that holds one step of one library, and runs it when asked."""

    def __init__(self, library: str, step: str, threads: int, numba: bool) -> None:
        environment = os.environ | dict.fromkeys(harness.THREAD_VARIABLES, str(threads))
        environment["GRADPACK_COMPILED"] = str(int(numba))
        command = [sys.executable, "-m", "benchmarks.steps", "--serve", library, step]
        self.name = f"{step} in {library}"
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - a pipe that nobody reads may fill
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment
        )

    def ask(self, question: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(question + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if answer:
            return json.loads(answer)
        status = self.process.wait()
        self.errors.seek(0)
        raise RuntimeError(f"{self.name} ended with status {status}; its standard error:\n{self.errors.read()}")

    def end(self) -> None:
        self.process.communicate()
        self.errors.close()


def _step(library: str, name: str, threads: int) -> Callable[[], Any]:
    """Return the step of one library."""
    if library == "numpy":
        return import_module("benchmarks.steps_by_hand").STEPS[name]()
    if library in ("jax", "xla"):
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        if threads < len(cores):  # XLA makes as many threads as there are cores, and has no variable for it
            os.sched_setaffinity(0, cores[:threads])
    if library == "jax":
        return import_module("benchmarks.steps_in_jax").STEPS[name]()
    torch = import_module("gradpack" if library in ("compiled", "xla") else library)
    if hasattr(torch, "set_num_threads"):
        torch.set_num_threads(threads)
    step: Callable[[], Any] = import_module("benchmarks.step_programs").STEPS[name](torch)
    if library == "xla":
        return _waiting(torch.compile(step, backend="jax"))
    return torch.compile(step) if library == "compiled" else step


def _waiting(step: Callable[[], Any]) -> Callable[[], Any]:
    """Return a step that waits for its results."""

    def run() -> Any:
        found = step()
        for each in found if isinstance(found, tuple) else (found,):
            each.data  # noqa: B018 - brings the numbers
        return found

    return run


def serve(library: str, name: str) -> None:
    """Answer questions on standard input: the values after one step and three, the seconds of a turn."""
    import numpy as np

    step = _step(library, name, int(os.environ["OMP_NUM_THREADS"]))

    def values() -> list[list[float]]:
        found = step()
        arrays = (v.detach() if hasattr(v, "detach") else v for v in (found if isinstance(found, tuple) else (found,)))
        return [np.asarray(v, np.float64).reshape(-1)[:1000].tolist() for v in arrays]

    repetitions = 0
    for question in sys.stdin:
        if question.strip() == "values":
            print(json.dumps([values() for _ in range(3)][::2]), flush=True)
            continue
        if not repetitions:
            harness.warm_up(step, 0.5, 3)
            repetitions = harness.repetitions_for(step, BLOCK)
        processor = time.process_time()
        wall = harness.seconds_of(step, repetitions)
        processor = time.process_time() - processor
        print(json.dumps([wall / repetitions, processor / repetitions]), flush=True)


class Result(NamedTuple):
    """The seconds of a step on the wall clock and of all processors, for each library one number per round."""

    wall: dict[str, list[float]]
    processor: dict[str, list[float]]

    def ratios(self, library: str) -> tuple[float, float, float] | None:
        """Return the quartiles of the ratios to torch inside a round; None where one of the two was not run."""
        if library not in self.wall or "torch" not in self.wall:
            return None
        found = [a / b for a, b in zip(self.wall[library], self.wall["torch"], strict=True)]
        low, middle, high = statistics.quantiles(found, n=4, method="inclusive")
        return low, middle, high

    def ratio(self, library: str) -> float | None:
        """Return the median of gradpack's ratios to torch, the ratio of medians of other libraries."""
        if library == "gradpack":
            found = self.ratios(library)
            return found and found[1]
        if library not in self.wall or "torch" not in self.wall:
            return None
        return statistics.median(self.wall[library]) / statistics.median(self.wall["torch"])


def measure(name: str, libraries: Iterable[str], rounds: int, threads: int, numba: bool) -> Result:
    """Return what a step takes, in turns, after its values were compared."""
    children = {library: Child(library, name, threads, numba) for library in libraries}
    try:
        check(name, {library: child.ask("values") for library, child in children.items()})
        for child in children.values():
            child.ask("time")
        result = Result({library: [] for library in children}, {library: [] for library in children})
        for _ in range(rounds):
            for library, child in children.items():
                wall, processor = child.ask("time")
                result.wall[library].append(wall)
                result.processor[library].append(processor)
        return result
    finally:
        for child in children.values():
            child.end()


def check(name: str, values: dict[str, Any]) -> None:
    """Raise ArithmeticError if libraries give different values: `[of the first step, of the third]` of each."""
    (reference, expected), *others = values.items()
    for library, found in others:
        for first, third, a, b in zip(*expected, *found, strict=True):
            scale = max(map(abs, first), default=0) or 1
            change = [y - x for x, y in zip(first, third, strict=True)]
            other = [y - x for x, y in zip(a, b, strict=True)]
            allowed = 2e-2 * max(map(abs, change), default=0) + 5e-6 * scale
            if not (_close(first, a, 1e-3 * scale) and _close(change, other, allowed)):
                raise ArithmeticError(f"{name}: {library} and {reference} give different values; not timed")


def _close(found: list[float], expected: list[float], allowed: float) -> bool:
    return all(abs(x - y) <= allowed for x, y in zip(found, expected, strict=True))


# -- the table --


def header() -> str:
    names = "".join(f"{x:>11}" for x in LIBRARIES.values())
    return (
        f"{'':15}{'milliseconds':>15}{'':29}{'to torch':>16}{'':27}processor\n"
        f"{'':15}{names}{'gradpack (quartiles)':>23}{names[22:]}{'/ wall':>10}"
    )


def row(name: str, result: Result) -> str:
    """Return the line of a step: milliseconds, ratios to torch, how many processors gradpack kept busy."""
    times = [_cell(statistics.median(result.wall[x]) * 1e3 if x in result.wall else None) for x in LIBRARIES]
    quartiles, others = result.ratios("gradpack"), [_cell(result.ratio(x)) for x in ("compiled", "numpy", "jax", "xla")]
    ours = "{1:.2f} ({0:.2f}-{2:.2f})".format(*quartiles) if quartiles else "-"
    busy = sum(result.processor["gradpack"]) / sum(result.wall["gradpack"]) if "gradpack" in result.wall else None
    return f"{name:15}{''.join(times)}{ours:>23}{''.join(others)}{_cell(busy, 2)[1:]}"


def _cell(number: float | None, digits: int = 3) -> str:
    return f"{'-' if number is None else format(number, f'.{digits}f'):>11}"


def means(results: dict[str, Result]) -> dict[str, float]:
    """Return the geometric mean of the ratios to torch, for each library that has one."""
    found = {}
    for library in LIBRARIES:
        ratios = [ratio for result in results.values() if (ratio := result.ratio(library)) is not None]
        if ratios and library != "torch":
            found[library] = math.exp(statistics.fmean(map(math.log, ratios)))
    return found


def _options() -> argparse.Namespace:
    from benchmarks.step_programs import STEPS

    parser = argparse.ArgumentParser(prog="steps", description="Time training steps against torch.")
    parser.add_argument("--only", action="append", metavar="NAME", help="this step (may be given several times)")
    parser.add_argument("--library", action="append", choices=LIBRARIES, help="(default: all that are installed)")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each library (default 15)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of each library (default: cores)")
    parser.add_argument("--without-numba", action="store_true", help="switch compiled loops off")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every turn's seconds there")
    parser.add_argument("--serve", nargs=2, metavar=("LIBRARY", "STEP"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("quartiles need at least 2 rounds")
    if unknown := set(options.only or ()) - STEPS.keys():
        parser.error(f"no step is called {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}")
    options.only = options.only or list(STEPS)
    return options


def main() -> int:
    options = _options()
    if options.serve:
        serve(*options.serve)
        return 0
    chosen = options.library or [x for x in LIBRARIES if importlib.util.find_spec(x)]
    libraries = [x for x in LIBRARIES if x in chosen]
    machine = harness.machine(("gradpack", "numpy", "numba", "torch", "jax"))
    print(json.dumps(machine), f"{options.threads} threads", flush=True)
    load = machine["load"]
    if options.threads > 1 and isinstance(load, float) and load > 0.5:
        print("other programs are running: times with more than one thread may be far too long, torch's above all")
    print(header(), flush=True)
    results, failures = {}, 0
    for name in options.only:
        try:
            results[name] = measure(name, libraries, options.rounds, options.threads, not options.without_numba)
        except (RuntimeError, ArithmeticError) as error:
            failures += 1
            print(error, file=sys.stderr, flush=True)
            continue
        print(row(name, results[name]), flush=True)
    if found := means(results):
        print("geometric means to torch:", ", ".join(f"{LIBRARIES[x]} {mean:.3f}" for x, mean in found.items()))
    if options.json:
        settings = {"threads": options.threads, "rounds": options.rounds, "numba": not options.without_numba}
        steps = {name: result._asdict() | {"ratio": result.ratios("gradpack")} for name, result in results.items()}
        record = {"machine": machine, **settings, "geometric means": found, "steps": steps}
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
