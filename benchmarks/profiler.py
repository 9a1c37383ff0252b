"""What the profiler costs for each operation and each node, over the time that they take themselves.

    python -m benchmarks.profiler [--rounds N] [--ops N] [--torch]

A chain of `x * b + a` with ten elements, forward alone and with backward. One round times it without a
profiler and then within one, so that both see the same moment of the machine; the figure is the median of
the differences of the rounds, with quartiles, per event. Two readings of the clock are a part of it that no
profiler can do without: they are timed beside it.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable
from statistics import quantiles
from time import perf_counter, perf_counter_ns
from types import ModuleType

from benchmarks.harness import pin_threads

if "numpy" not in sys.modules:
    pin_threads()


def chain(torch: ModuleType, ops: int) -> dict[str, tuple[Callable[[], object], int]]:
    """What is timed, and how many operations and nodes each of them has."""
    x = torch.ones(10, requires_grad=True)
    a, b = torch.ones(10), torch.ones(10)

    def forward() -> object:
        y = x
        for _ in range(ops // 2):
            y = y * b + a
        return y

    def step() -> object:
        forward().sum().backward()  # type: ignore[attr-defined]
        x.grad = None
        return None

    return {"forward": (forward, ops), "forward and backward": (step, 2 * ops + 3)}


def seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def clock(readings: int = 2000) -> float:
    """Seconds of two readings of the clock."""
    start = perf_counter()
    for _ in range(readings):
        perf_counter_ns()
        perf_counter_ns()
    return (perf_counter() - start) / readings


def compare(torch: ModuleType, rounds: int, ops: int) -> dict[str, tuple[list[float], list[float]]]:
    """For each chain the seconds per event without a profiler, and what a profiler adds."""
    profile = torch.autograd.profiler.profile
    found = {}
    for name, (call, events) in chain(torch, ops).items():
        with profile():
            for _ in range(20):
                call()
        off, added = [], []
        for _ in range(rounds):
            gc.collect()
            without = min(seconds(call) for _ in range(3))
            with profile():
                within = min(seconds(call) for _ in range(3))
            off.append(without / events)
            added.append((within - without) / events)
        found[name] = (off, added)
    return found


def line(values: list[float]) -> str:
    low, middle, high = (1e6 * q for q in quantiles(values, n=4, method="inclusive"))
    return f"{middle:6.3f} ({low:.3f}-{high:.3f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--ops", type=int, default=500)
    parser.add_argument("--torch", action="store_true", help="torch's own profiler as well")
    options = parser.parse_args()
    import gradpack

    modules: dict[str, ModuleType] = {"gradpack": gradpack}
    if options.torch:
        import torch

        torch.set_num_threads(1)
        modules["torch"] = torch
    print("microseconds per operation or node: median (quartiles)")
    for library, module in modules.items():
        for name, (off, added) in compare(module, options.rounds, options.ops).items():
            print(f"{library:9} {name:21} without {line(off)}   the profiler adds {line(added)}")
    print(f"{'':9} {'two readings of the clock':21}     {line([clock() for _ in range(options.rounds)])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
