"""Time what `DistributedDataParallel` adds to a training step, next to torch's over gloo.

    python -m benchmarks.ddp [--turns 15] [--backend gloo|mpi] [--json FILE]

Two ranks of each library are started, four processes that stay. They take turns: while two of them train, the others
wait for a line. In a turn both ranks take some steps of a model by itself, and some of the same model under
DDP. Of each turn the median counts, of all turns the least, since other programs only add to it; what DDP adds is the
difference. The bar is 1.2 of what it adds in torch.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.harness import THREAD_VARIABLES, machine

SIZES = {"12 MB": (784, 1024, 1024, 1024, 10), "1 MB": (784, 256, 256, 10)}
LIBRARIES = ("gradpack", "torch")
BATCH = 32  # rows on each rank
STEPS = 20  # of each kind in a turn


# -- a rank --


def step_of(torch: Any, sizes: tuple[int, ...], ddp: bool, rank: int) -> Callable[[], Any]:
    """Return a training step of a multilayer perceptron, under DDP or not."""
    nn, layers = torch.nn, []
    for n, m in pairwise(sizes):
        layers += [nn.Linear(n, m), nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    if ddp:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    rng = np.random.default_rng(rank)
    x = torch.from_numpy(rng.standard_normal((BATCH, sizes[0])).astype(np.float32))
    y = torch.from_numpy(rng.integers(0, sizes[-1], BATCH))

    def step() -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def seconds(torch: Any, step: Callable[[], Any]) -> float:
    """Median of the seconds of a step; all ranks begin together."""
    taken = []
    torch.distributed.barrier()
    for _ in range(STEPS):
        begun = perf_counter()
        step()
        taken.append(perf_counter() - begun)
    return median(taken)


def work(library: str, backend: str) -> None:
    """Be a rank: for each line that rank 0 reads, take a turn and write the seconds of a step."""
    if library == "torch":
        import torch

        torch.set_num_threads(1)
    else:
        import gradpack as torch  # type: ignore[no-redef]
    dist = torch.distributed
    dist.init_process_group(backend)
    rank = dist.get_rank()
    steps = {name: [step_of(torch, sizes, ddp, rank) for ddp in (False, True)] for name, sizes in SIZES.items()}
    while True:
        order = [sys.stdin.readline().strip() if rank == 0 else None]
        dist.broadcast_object_list(order, src=0)
        if not order[0]:
            break
        found: list[Any] = [None, None]
        dist.all_gather_object(found, [seconds(torch, step) for step in steps[order[0]]])
        if rank == 0:
            print(json.dumps([max(both) for both in zip(*found, strict=True)]), flush=True)
    dist.destroy_process_group()


# -- the program that starts them --


class Pair:
    """Two ranks of a library."""

    def __init__(self, library: str, backend: str) -> None:
        command = [sys.executable, "-m", "benchmarks.ddp", "--rank-of", library, "--backend", backend]
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        env = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1"), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        if backend == "mpi":
            command = ["mpiexec", "-n", "2", *command]
        self.processes = [
            subprocess.Popen(
                command,
                env=env | ({} if backend == "mpi" else {"RANK": str(rank), "WORLD_SIZE": "2"}),
                stdin=subprocess.PIPE if rank == 0 else subprocess.DEVNULL,
                stdout=subprocess.PIPE if rank == 0 else None,
                text=True,
            )
            for rank in range(1 if backend == "mpi" else 2)
        ]

    def turn(self, name: str) -> list[float]:
        """Return the seconds of a step alone and of one under DDP: those of the slower rank."""
        first = self.processes[0]
        print(name, file=first.stdin, flush=True)
        return json.loads(first.stdout.readline())

    def close(self) -> None:
        """End the ranks."""
        self.processes[0].stdin.close()
        for process in self.processes:
            process.wait(30)


@contextmanager
def pairs(backend: str) -> Iterator[dict[str, Pair]]:
    """Gives the ranks of each library; they end with it."""
    started: dict[str, Pair] = {}
    try:
        for library in LIBRARIES:
            started[library] = Pair(library, backend if library == "gradpack" else "gloo")
        yield started
    finally:
        for pair in started.values():
            pair.close()


def measure(turns: int, backend: str) -> dict[str, dict[str, Any]]:
    """Return milliseconds of a step, alone and under DDP, and what DDP adds, by size and library."""
    found: dict[str, dict[str, Any]] = {}
    with pairs(backend) as ranks:
        for name in SIZES:
            taken: dict[str, list[list[float]]] = {library: [] for library in LIBRARIES}
            for turn in range(-2, turns):  # the first two warm up
                for library in LIBRARIES if turn % 2 else LIBRARIES[::-1]:
                    milliseconds = [1e3 * s for s in ranks[library].turn(name)]
                    if turn >= 0:
                        taken[library].append(milliseconds)
            alone, ddp = ({library: min(t[i] for t in taken[library]) for library in LIBRARIES} for i in range(2))
            adds = {library: ddp[library] - alone[library] for library in LIBRARIES}
            found[name] = {
                "alone": alone,
                "ddp": ddp,
                "turns": taken,
                "adds": adds,
                "ratio": adds["gradpack"] / adds["torch"],
            }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--backend", choices=("gloo", "mpi"), default="gloo", help="of gradpack")
    parser.add_argument("--json", type=Path, help="where the figures are written")
    parser.add_argument("--rank-of", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.rank_of:
        work(args.rank_of, args.backend)
        return
    found = measure(args.turns, args.backend)
    for name, row in found.items():
        print(f"{name:6} DDP adds {row['adds']['gradpack']:.2f} ms, torch {row['adds']['torch']:.2f} ms: ", end="")
        print(f"{row['ratio']:.2f}  (a step alone {row['alone']['gradpack']:.2f} and {row['alone']['torch']:.2f} ms)")
    if args.json:
        args.json.write_text(json.dumps({"machine": machine(LIBRARIES), "ddp": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
