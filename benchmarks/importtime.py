"""What `import gradpack` costs on top of `import numpy`, and which threads it starts.

    python -m benchmarks.importtime [--rounds N] [--json FILE]

Each import happens in a fresh interpreter, the variants in turn. The clock runs inside, so that the
interpreter's own start is not counted. Threads are those of the operating system, which also shows
the ones that Python does not know of; NumPy's BLAS starts some, so what counts is the difference.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import harness
from benchmarks.overhead import describe

Columns = dict[str, list[float]]
BAR = 60.0  # milliseconds on top of NumPy
# ml_dtypes is listed because it comes when bfloat16 is first asked for. The last one shows what is put off by
# importing `nn` and `optim` when they are first asked for.
VARIANTS = {
    "numpy": ("numpy", ""),
    "numpy, ml_dtypes": ("numpy, ml_dtypes", ""),
    "gradpack": ("gradpack", "gradpack.core"),
    "gradpack, its nn and optim": ("gradpack", "gradpack.nn.Module, gradpack.optim.SGD"),
}

CHILD = """
import os, sys, time
start = time.perf_counter()
import {modules}
{touch}
taken = time.perf_counter() - start
for module in ({modules},):
    if module.__file__ is None:
        sys.exit(module.__name__ + " is an empty folder on the path")
try:
    threads = len(os.listdir("/proc/self/task"))
except OSError:
    import threading
    threads = threading.active_count()
print(taken, threads, len(sys.modules))
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="importtime", description="Time `import gradpack` in fresh interpreters.")
    parser.add_argument("--rounds", type=int, default=15, help="interpreters per variant (default 15)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round's time there")
    options = parser.parse_args(arguments)
    if options.rounds < 5:
        parser.error(f"--rounds {options.rounds}: at least 5 are needed for a median that means something")
    if options.json is not None and not options.json.parent.is_dir():
        parser.error(f"--json {options.json}: there is no folder {options.json.parent}")
    try:
        found = measure(options.rounds)
    except ImportError as error:
        print(f"importtime: {error}", file=sys.stderr)
        return 1
    facts = harness.machine(("gradpack", "numpy", "ml_dtypes"))
    print(describe(facts, threads=None))
    print(report(found))
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": facts, "imports": found}, indent=1) + "\n")
    return 0


def measure(rounds: int) -> dict[str, Columns]:
    """For every variant and round: milliseconds, threads and modules. One more round comes first,
    uncounted, which writes bytecode files and fills the cache of the file system.
    """
    found: dict[str, Columns] = {name: {"milliseconds": [], "threads": [], "modules": []} for name in VARIANTS}
    with TemporaryDirectory() as folder:
        # Whoever imports an installed package finds its bytecode there; so do we, whatever the settings.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for turn in range(rounds + 1):
            for name, (modules, touch) in VARIANTS.items():
                seconds, threads, loaded = once(modules, touch, environment)
                if turn > 0:
                    for key, value in zip(found[name], (1e3 * seconds, threads, loaded), strict=True):
                        found[name][key].append(value)
    return found


def once(modules: str, touch: str, environment: dict[str, str]) -> tuple[float, float, float]:
    """Seconds, threads and loaded modules after importing `modules` in a fresh interpreter.

    `touch` is evaluated inside the timing, for what a lazy import would put off.
    """
    child = subprocess.run(
        [sys.executable, "-c", CHILD.format(modules=modules, touch=touch)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode != 0:
        reason = child.stderr.strip().rpartition("\n")[2]
        raise ImportError(f"`import {modules}` fails in a fresh interpreter: {reason}")
    seconds, threads, loaded = map(float, child.stdout.split())
    return seconds, threads, loaded


def report(found: dict[str, Columns]) -> str:
    """The table, and a line that sets gradpack against the bar."""
    titles = ["import", "ms", "quartiles", "above numpy", "threads", "modules"]
    lines = [titles]
    base = found["numpy"]
    for name, columns in found.items():
        low, _, high = quantiles(columns["milliseconds"], n=4, method="inclusive")
        lines.append(
            [
                name,
                f"{median(columns['milliseconds']):.1f}",
                f"{low:.1f}-{high:.1f}",
                f"{above(columns, base):.1f}",
                f"{max(columns['threads']):.0f}",
                f"{median(columns['modules']):.0f}",
            ]
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    cost, started = above(found["gradpack"], base), max(found["gradpack"]["threads"]) - max(base["threads"])
    verdict = "holds" if cost <= BAR else "is MISSED"
    return "\n".join(
        [
            *rows,
            f"gradpack: {cost:.1f} ms above numpy, the bar of {BAR:.0f} ms {verdict}; {started:.0f} threads started",
        ]
    )


def above(columns: Columns, base: Columns) -> float:
    """Median over the rounds of the difference within a round, in milliseconds."""
    pairs = zip(columns["milliseconds"], base["milliseconds"], strict=True)
    return median(a - b for a, b in pairs)


if __name__ == "__main__":
    sys.exit(main())
