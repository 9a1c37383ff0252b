"""Time the same step in several libraries, side by side in one process.

A machine that other people use speeds up and slows down from one second to the next, so two
absolute times taken a minute apart say little. Here the libraries take turns: one round is a short
block of every library, and what counts is the ratio inside a round. The median of those ratios is
the result, and the quartiles show how far to trust it.
"""

import ast
import gc
import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from itertools import repeat
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, thread_time
from types import ModuleType
from typing import NamedTuple

Step = Callable[[], object]
Clock = Callable[[], float]
CPU_TIME: Clock = thread_time  # of work on one thread: what other processes take does not count

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class Timing(NamedTuple):
    """What the rounds of one library took: seconds for one step, one entry per round."""

    seconds: tuple[float, ...]
    repetitions: int

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def minimum(self) -> float:
        return min(self.seconds)


class Spread(NamedTuple):
    """A median with its lower and upper quartile."""

    median: float
    low: float
    high: float


def pin_threads() -> None:
    """Keep BLAS on one thread. Only holds if called before NumPy is imported, so it insists."""
    if "numpy" in sys.modules:
        raise RuntimeError("pin_threads: numpy is already imported, and its BLAS has read its settings")
    for variable in THREAD_VARIABLES:
        os.environ[variable] = "1"


def seconds_of(step: Step, repetitions: int, clock: Clock | None = None) -> float:
    """Seconds of so many calls of `step`, on the wall clock or another."""
    clock = clock or perf_counter
    start = clock()
    for _ in repeat(None, repetitions):
        step()
    return clock() - start


def warm_up(step: Step, seconds: float, calls: int = 16) -> None:
    """Run `step` so long, and so often that CPython has specialised its bytecode."""
    end = perf_counter() + seconds
    while calls > 0 or perf_counter() < end:
        step()
        calls -= 1


def repetitions_for(step: Step, seconds: float, clock: Clock | None = None) -> int:
    """How many calls of `step` fill a block of at least so many seconds."""
    repetitions = 1
    while (taken := seconds_of(step, repetitions, clock)) < seconds:
        repetitions = max(repetitions + 1, int(repetitions * min(10.0, 1.2 * seconds / max(taken, 1e-9))))
    return repetitions


def compare(
    steps: Mapping[str, Step],
    rounds: int = 15,
    block: float = 0.02,
    warm: float = 0.1,
    calls: int = 16,
    clock: Clock | None = None,
) -> dict[str, Timing]:
    """Time every step in turn, `rounds` times over, each turn a block of at least `block` seconds.

    The garbage collector stays as the user has it. It is run before each block, outside the
    timing, so that no library pays for the cycles that another has left behind. `warm` and `calls`
    say how long each step runs before, and how often at least.

    >>> from benchmarks.harness import compare, spread
    >>> timings = compare(
    ...     {"sum": lambda: sum(range(100)), "max": lambda: max(range(100))}, rounds=3, block=0.001, warm=0
    ... )
    >>> len(timings["sum"].seconds)
    3
    >>> spread(timings["sum"], timings["sum"])
    Spread(median=1.0, low=1.0, high=1.0)
    """
    if rounds < 2:
        raise ValueError(f"compare: rounds is {rounds}, and quartiles need at least 2")
    for step in steps.values():
        warm_up(step, warm, calls)
    repetitions = {name: repetitions_for(step, block, clock) for name, step in steps.items()}
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            gc.collect()
            seconds[name].append(seconds_of(step, repetitions[name], clock) / repetitions[name])
    return {name: Timing(tuple(taken), repetitions[name]) for name, taken in seconds.items()}


def spread(timing: Timing, reference: Timing) -> Spread:
    """The ratios of two libraries, taken round by round: their median and quartiles."""
    ratios = [a / b for a, b in zip(timing.seconds, reference.seconds, strict=True)]
    low, middle, high = quantiles(ratios, n=4, method="inclusive")
    return Spread(middle, low, high)


def load(path: Path, name: str, replace: Mapping[str, str] | None = None) -> ModuleType:
    """A module of its own from a file, although the file may have been loaded before.

    CPython specialises bytecode per code object: two libraries that run through one function
    would spoil each other's inline caches. Each gets its own copy of the code instead.
    `replace` renames imported top-level packages, `{"gradpack": "torch"}`, so that a file written
    for one library runs on the other (`import gradpack.nn` without `as` binds the old name still).
    """
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                alias.asname = alias.asname or (alias.name if "." not in alias.name else None)
                alias.name = _renamed(alias.name, replace or {})
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            node.module = _renamed(node.module, replace or {})
    spec = importlib.util.spec_from_loader(name, None, origin=str(path))
    if spec is None:
        raise ImportError(f"load: no module can be made from {path}")
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        exec(compile(tree, str(path), "exec", dont_inherit=True), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _renamed(dotted: str, replace: Mapping[str, str]) -> str:
    first, dot, rest = dotted.partition(".")
    return replace.get(first, first) + dot + rest


def machine(packages: tuple[str, ...]) -> dict[str, object]:
    """What a number depends on: processor, system, Python, and the versions of `packages`."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: version for name in packages if (version := _version(name)) is not None},
    }


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "Model"):
                return value.strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    """The version of an installed package; of a source tree on the path, what the module says."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return getattr(sys.modules.get(package), "__version__", None)
