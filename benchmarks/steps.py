"""Time eighteen training steps against torch, each library in a process of its own, taking turns.

    python -m benchmarks.steps [--only NAME]... [--rounds N] [--threads N] [--without-numba]

In one process torch's threads and OpenBLAS's disturb each other, and torch looks twice as slow as it is. So each
library has a process, one runs while the others wait, and what counts is the ratio inside a round. As many threads as
there are cores, if not said otherwise. Values are compared before anything is timed.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import harness

LIBRARIES = ("torch", "gradpack")
BLOCK = 0.1  # seconds, at least, of one turn


class Child:
    """A process that holds one step of one library, and runs it when asked."""

    def __init__(self, library: str, step: str, threads: int, numba: bool) -> None:
        environment = os.environ | dict.fromkeys(harness.THREAD_VARIABLES, str(threads))
        environment["GRADPACK_COMPILED"] = str(int(numba))
        command = [sys.executable, "-m", "benchmarks.steps", "--serve", library, step]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def ask(self, question: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process ended: {self.process.args}")
        return json.loads(answer)

    def end(self) -> None:
        self.process.communicate()


def serve(library: str, name: str) -> None:
    """Answer questions on standard input: the values after one step, the seconds of a turn."""
    from benchmarks import step_programs

    torch = import_module(library)
    if hasattr(torch, "set_num_threads"):
        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    step = step_programs.STEPS[name](torch)
    repetitions = 0
    for question in sys.stdin:
        if question.strip() == "values":
            found = step()
            found = found if isinstance(found, tuple) else (found,)
            print(json.dumps([v.detach().reshape(-1)[:1000].tolist() for v in found]), flush=True)
            continue
        if not repetitions:
            harness.warm_up(step, 0.5, 3)
            repetitions = harness.repetitions_for(step, BLOCK)
        print(harness.seconds_of(step, repetitions) / repetitions, flush=True)


def measure(name: str, rounds: int, threads: int, numba: bool) -> dict[str, list[float]]:
    """Return the seconds of a step, for each library one number per round."""
    children = {library: Child(library, name, threads, numba) for library in LIBRARIES}
    try:
        values = {library: child.ask("values") for library, child in children.items()}
        check(name, values)
        for child in children.values():
            child.ask("time")
        seconds: dict[str, list[float]] = {library: [] for library in children}
        for _ in range(rounds):
            for library, child in children.items():
                seconds[library].append(child.ask("time"))
        return seconds
    finally:
        for child in children.values():
            child.end()


def check(name: str, values: dict[str, list[list[float]]]) -> None:
    """Raise ArithmeticError if libraries give different values."""
    reference, *others = values.values()
    for other in others:
        for a, b in zip(reference, other, strict=True):
            scale = max(map(abs, _flat(a)), default=0) or 1
            if not all(abs(x - y) <= 1e-3 * scale for x, y in zip(_flat(a), _flat(b), strict=True)):
                raise ArithmeticError(f"{name}: libraries give different values; not timed")


def _flat(value: Any) -> list[float]:
    return value if isinstance(value, list) else [value]


def main() -> int:
    parser = argparse.ArgumentParser(prog="steps", description="Time training steps against torch.")
    parser.add_argument("--only", action="append", metavar="NAME", help="this step (may be given several times)")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each library (default 15)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of each library (default: cores)")
    parser.add_argument("--without-numba", action="store_true", help="switch compiled loops off")
    parser.add_argument("--serve", nargs=2, metavar=("LIBRARY", "STEP"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return 0
    from benchmarks import step_programs

    unknown = set(options.only or ()) - step_programs.STEPS.keys()
    if unknown:
        parser.error(f"no step is called {', '.join(sorted(unknown))}; there are {', '.join(step_programs.STEPS)}")
    print(json.dumps(harness.machine(("gradpack", "numpy", "numba", "torch"))), f"{options.threads} threads")
    ratios = []
    for name in options.only or step_programs.STEPS:
        seconds = measure(name, options.rounds, options.threads, not options.without_numba)
        found = [ours / theirs for theirs, ours in zip(seconds["torch"], seconds["gradpack"], strict=True)]
        low, middle, high = statistics.quantiles(found, n=4, method="inclusive")
        ratios.append(middle)
        times = "  ".join(f"{library} {statistics.median(s) * 1e3:9.3f} ms" for library, s in seconds.items())
        print(f"{name:16} {times}  ratio {middle:.2f} ({low:.2f}-{high:.2f})", flush=True)
    print(f"geometric mean {math.exp(statistics.fmean(map(math.log, ratios))):.3f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
