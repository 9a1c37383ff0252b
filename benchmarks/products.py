"""Time matrix products of the shapes of training steps in torch and gradpack, by processes that take turns.

    python -m benchmarks.products [--rounds N] [--threads N] [--without-numba] [--json FILE]

A factor whose name ends in T lies in memory as its transpose does, as weights and gradients of them do. Each round runs
a shape in both libraries, one after the other; what counts is the ratio inside a round.
"""

import argparse
import json
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

SHAPES = (  # rows, whether the left factor is transposed, inner dimension, columns, whether the right factor is
    (1024, False, 128, 512, True), (1024, False, 512, 128, True), (1024, False, 512, 128, False),
    (1024, False, 128, 512, False), (512, True, 1024, 128, False), (128, True, 1024, 512, False),
    (1024, False, 256, 1024, True), (64, False, 256, 256, True), (256, True, 64, 256, False),
    (32, False, 64, 256, True), (512, False, 512, 512, False), (2048, False, 2048, 2048, False),
)  # fmt: skip


def name_of(shape: tuple[int, bool, int, int, bool]) -> str:
    m, a_flipped, k, n, b_flipped = shape
    return f"{m} x {k}{' T' * a_flipped} by {k} x {n}{' T' * b_flipped}"


def serve(library: str) -> None:
    """Answer numbers of shapes on standard input: the seconds of a product."""
    import numpy as np

    torch = import_module(library)
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    r = np.random.default_rng(0)
    runs: dict[int, Any] = {}
    for question in sys.stdin:
        nr = int(question)
        if nr not in runs:
            m, a_flipped, k, n, b_flipped = SHAPES[nr]
            a, b = (
                torch.tensor(r.standard_normal(shape[::-1] if flipped else shape).astype(np.float32))
                for shape, flipped in (((m, k), a_flipped), ((k, n), b_flipped))
            )
            a, b = a.mT if a_flipped else a, b.mT if b_flipped else b
            step = lambda a=a, b=b: a @ b  # noqa: E731
            harness.warm_up(step, 0.3, 3)
            runs[nr] = step, harness.repetitions_for(step, 0.05)
        step, repetitions = runs[nr]
        print(harness.seconds_of(step, repetitions) / repetitions, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--without-numba", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        serve(chosen.serve)
        return
    environment = os.environ | dict.fromkeys(harness.THREAD_VARIABLES, str(chosen.threads))
    environment["GRADPACK_COMPILED"] = str(int(not chosen.without_numba))
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.products", "--serve", library],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )
        for library in ("torch", "gradpack")
    ]  # fmt: skip
    times: dict[str, list[tuple[float, float]]] = {name_of(shape): [] for shape in SHAPES}
    for _ in range(chosen.rounds):
        for nr, name in enumerate(times):
            found = []
            for child in children:
                print(nr, file=child.stdin, flush=True)
                found.append(float(child.stdout.readline()))  # type: ignore[union-attr]
            times[name].append((found[0], found[1]))
    for child in children:
        child.communicate()
    print(f"{chosen.threads} threads{'':22}torch  gradpack  (GFLOP/s)   time to torch's (quartiles)")
    for (m, _, k, n, _), (name, pairs) in zip(SHAPES, times.items(), strict=True):
        rates = [2e-9 * m * k * n / statistics.median(x) for x in zip(*pairs, strict=True)]
        low, middle, high = statistics.quantiles([b / a for a, b in pairs], n=4)
        print(f"{name:32}{rates[0]:7.0f}{rates[1]:10.0f}{'':15}{middle:.2f} ({low:.2f}-{high:.2f})")
    if chosen.json:
        chosen.json.write_text(json.dumps({"threads": chosen.threads, "seconds of torch and gradpack": times}) + "\n")


if __name__ == "__main__":
    main()
