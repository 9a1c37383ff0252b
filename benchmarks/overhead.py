"""Time gradpack against torch and print one table.

    python -m benchmarks.overhead [--only NAME]... [--rounds N] [--json FILE]

A ratio below 1 means that gradpack takes less time than torch. Both compute on one thread and are
compared by their values before they are timed. A bar that is missed is reported in the table and
changes nothing else: the exit status is 0 unless something could not be measured.
"""

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import harness
from benchmarks.harness import Spread

Tensor = Any  # of torch, or of what is measured
Array = Any  # NumPy is imported only after its threads are pinned
TOLERANCE = 1e-4
WORKLOADS = Path(__file__).with_name("workloads.py")
PACKAGES = ("gradpack", "numpy", "ml_dtypes", "torch", "autograd", "mygrad")


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    harness.pin_threads()
    libraries = {}
    if (torch := imported("torch")) is not None:
        torch.set_num_threads(1)
        libraries["torch"] = torch
    subject = imported(options.library)
    if subject is None:
        print(f"overhead: {options.library} cannot be imported: install it with `pip install -e .`", file=sys.stderr)
        return 1
    label = options.library if options.library != "torch" else "torch again"
    libraries[label] = subject
    getattr(subject, "set_num_threads", lambda count: None)(1)

    facts = harness.machine(PACKAGES)
    print(describe(facts))
    if torch is None:
        print("torch is not installed: only absolute times, and nothing to check the values against.")
        print("For ratios: pip install torch==2.13.0")

    known = workload_names()
    if unknown := set(options.only or []) - set(known):
        print(f"overhead: no workload is called {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 1
    rows, records, failed = [], [], False
    for name in options.only or known:
        try:
            record = measure(name, libraries, options.rounds)
        except Exception as error:  # one workload that fails must not hide the others
            failed = True
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        records.append(record)
        rows.append(row(record, label))
        print(f"measured {name}", file=sys.stderr)
    if rows:
        show(header(label, torch is not None), rows)
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": facts, "workloads": records}, indent=1) + "\n")
    return 1 if failed else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="overhead", description="Time gradpack against torch, side by side.")
    parser.add_argument("--only", action="append", metavar="NAME", help="this workload (may be given several times)")
    parser.add_argument("--rounds", type=int, default=21, help="rounds per workload, 15 or more (default 21)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round's time there")
    parser.add_argument(
        "--library",
        default="gradpack",
        metavar="MODULE",
        help="measure this module instead; `torch` shows how far equal code differs on this machine",
    )
    options = parser.parse_args(arguments)
    if options.rounds < 15:
        parser.error(f"--rounds {options.rounds}: fewer than 15 rounds give no usable quartiles")
    if options.json is not None and not options.json.parent.is_dir():
        parser.error(f"--json {options.json}: there is no folder {options.json.parent}")
    return options


def imported(name: str) -> ModuleType | None:
    """The module, or None where it is not installed. What is installed and broken still raises."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None
    return module if module.__file__ else None  # an empty folder of that name also imports


def workload_names() -> list[str]:
    return [workload.name for workload in harness.load(WORKLOADS, "workloads_names").WORKLOADS]


def measure(name: str, libraries: dict[str, ModuleType], rounds: int) -> dict[str, Any]:
    """Check one workload's values over all libraries, then time them in turn."""
    jobs, workload = {}, None
    for label, library in libraries.items():
        own = harness.load(WORKLOADS, f"workloads_of_{label}")
        workload = next(w for w in own.WORKLOADS if w.name == name)
        jobs[label] = workload.build(library)
    assert workload is not None
    if workload.peer is not None:
        for peer, (package, build) in own.PEERS.items():
            if imported(package) is not None:
                jobs[peer] = build(workload.peer)

    values = {label: [array(job.step()), *map(array, job.results())] for label, job in jobs.items()}
    reference = next(iter(values))
    errors = {label: difference(values[reference], found) for label, found in values.items()}
    for label, error in errors.items():
        if not error <= TOLERANCE:
            raise ArithmeticError(f"{label} and {reference} differ by {error:.2g} of the largest value: not timed")

    timings = harness.compare({label: job.step for label, job in jobs.items()}, rounds)
    ratios = {}
    if "torch" in timings:
        ratios = {label: harness.spread(t, timings["torch"]) for label, t in timings.items() if label != "torch"}
    return {
        "name": workload.name,
        "what": workload.what,
        "per": workload.per,
        "bar": workload.bar,
        "differences": errors,
        "timings": {label: timing._asdict() for label, timing in timings.items()},
        "microseconds": {
            label: {"median": 1e6 * t.median / workload.per, "min": 1e6 * t.minimum / workload.per}
            for label, t in timings.items()
        },
        "ratios": {label: ratio._asdict() for label, ratio in ratios.items()},
    }


def array(value: Tensor) -> Array:
    """A torch-like tensor, or what a peer returned, as a NumPy array of its own."""
    import numpy as np

    if value is None:
        raise ArithmeticError("a gradient is None: not timed")
    return np.array(value.detach().numpy() if hasattr(value, "detach") else value)


def difference(expected: list[Array], found: list[Array]) -> float:
    """The largest deviation, relative to the largest value of each array; NaN where either has one."""
    import numpy as np

    if [a.shape for a in expected] != [b.shape for b in found]:
        raise ArithmeticError(f"shapes {[b.shape for b in found]} instead of {[a.shape for a in expected]}: not timed")
    errors = [np.abs(a - b).max() / max(np.abs(a).max(), 1e-30) for a, b in zip(expected, found, strict=True)]
    return float(np.max(errors))


# --- the table ---


def header(label: str, torch: bool) -> list[str]:
    left = ["workload", "unit"]
    if not torch:
        return [*left, f"{label} µs", "min", "peers µs"]
    return [*left, "torch µs", f"{label} µs", "ratio", "quartiles", "bar", "peers, ratio"]


def row(record: dict[str, Any], label: str) -> list[str]:
    """One line: times are medians, the ratio is the median of the rounds' ratios."""
    times, ratios = record["microseconds"], record["ratios"]
    peers = [name for name in times if name not in ("torch", label)]
    left = [record["name"], "op" if record["per"] > 1 else "step"]
    if not ratios:
        listed = ", ".join(f"{name} {number(times[name]['median'])}" for name in peers)
        return [*left, number(times[label]["median"]), number(times[label]["min"]), listed]
    ratio, bar = Spread(**ratios[label]), record["bar"]
    return [
        *left,
        number(times["torch"]["median"]),
        number(times[label]["median"]),
        f"{ratio.median:.2f}",
        f"{ratio.low:.2f}-{ratio.high:.2f}",
        "" if bar is None else f"{bar:.2f} {'yes' if ratio.median <= bar else 'NO'}",
        ", ".join(f"{name} {ratios[name]['median']:.1f}" for name in peers),
    ]


def number(microseconds: float) -> str:
    """Three significant digits, without an exponent."""
    digits = 2 if microseconds < 10 else 1 if microseconds < 100 else 0
    return f"{microseconds:,.{digits}f}"


def describe(facts: dict[str, Any], threads: int | None = 1) -> str:
    """Two lines on where the numbers below them come from."""
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    pinned = "" if threads is None else f"; {threads} thread"
    return f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}\n{facts['python']}, {packages}{pinned}"


def show(titles: list[str], rows: list[list[str]]) -> None:
    """The table by rich where it is installed, else in plain columns."""
    numeric = ["µs" in title or title in ("min", "ratio", "quartiles") for title in titles]
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table
    except ModuleNotFoundError:
        widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
        for line in [titles, ["-" * width for width in widths], *rows]:
            cells = zip(line, widths, numeric, strict=True)
            print("  ".join(text.rjust(w) if right else text.ljust(w) for text, w, right in cells).rstrip())
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title, right in zip(titles, numeric, strict=True):
        # Only the last column may be folded: a number cut short is a wrong number.
        table.add_column(title, justify="right" if right else "left", no_wrap=title != titles[-1])
    for line in rows:
        table.add_row(*line)
    console = Console()
    console = console if console.is_terminal else Console(width=120)
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
