"""Measure training on data that does not fit into memory: tensors on the device `dask`.

    python -m benchmarks.out_of_core [--gigabytes 6] [--model logistic|mlp] [--source zarr|memmap|random]
        [--workers 2] [--steps 1] [--json FILE]

Writes the data, then trains in a process of its own: by two threads, or by local workers of dask.distributed, whose
memory is limited to a tenth of the data together. What counts is the memory that each process has had at most. Of a
memory-mapped file, pages that the system may drop at any time are not counted.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.harness import machine

COLUMNS, ROWS = 50, 50_000  # of a chunk: 10 MB
_LEAST = 250 << 20  # bytes that a worker is allowed: it has 140 MB before it does anything


def write(source: str, path: Path, gigabytes: float) -> None:
    """Write the data of a run, chunk by chunk: the first column says to which class a row belongs."""
    import zarr

    chunks = max(round(gigabytes * 2**30 / 4 / COLUMNS / ROWS), 2)
    shape, rng = (chunks * ROWS, COLUMNS), np.random.default_rng(0)
    if source == "zarr":
        into: Any = zarr.create_array(path, shape=shape, chunks=(ROWS, COLUMNS), dtype="f4", compressors=None)
    else:
        into = np.lib.format.open_memmap(path, mode="w+", dtype="f4", shape=shape)
    for i in range(chunks):
        into[i * ROWS : (i + 1) * ROWS] = rng.standard_normal((ROWS, COLUMNS), dtype="f4")


def data_of(source: str, path: Path) -> Any:
    """Return the data as a tensor."""
    import dask.array as da

    from gradpack.utils.dask import from_dask, from_memmap

    if source == "zarr":
        return from_dask(da.from_zarr(path))
    return from_memmap(np.load(path, mmap_mode="r"), chunks=(ROWS, COLUMNS))


@contextmanager
def watched(processes: list[int]) -> Iterator[list[int]]:
    """Gives a list of the most bytes that each process has had, of memory that is not of a file."""
    most, stop = [0] * len(processes), Event()

    def look() -> None:
        while not stop.wait(0.02):
            for i, pid in enumerate(processes):
                found = Path(f"/proc/{pid}/status").read_text().partition("RssAnon:")[2].split()[0]
                most[i] = max(most[i], 1024 * int(found))

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield most
    finally:
        stop.set()
        thread.join()


def train(args: argparse.Namespace) -> dict[str, Any]:
    """Train for some steps on the data that `write` has written."""
    import os

    import dask

    import gradpack as torch
    from gradpack.utils.dask import evaluate

    nn, F = torch.nn, torch.nn.functional
    x, client = data_of(args.source, Path(args.data)), None
    processes = [os.getpid()]
    if args.workers:
        from dask.distributed import Client

        limit = max(int(x.nbytes / 10 / args.workers), _LEAST)
        client = Client(n_workers=args.workers, threads_per_worker=1, memory_limit=limit, dashboard_address=None)
        processes += [info["pid"] for info in client.run(lambda: {"pid": os.getpid()}).values()]
    else:
        dask.config.set(scheduler="threads", num_workers=2)
    torch.manual_seed(0)
    layers = (
        [nn.Linear(COLUMNS, 1)] if args.model == "logistic" else [nn.Linear(COLUMNS, 64), nn.Tanh(), nn.Linear(64, 1)]
    )
    model = nn.Sequential(*layers).to("dask")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    y = (x[:, 0] > 0).float()
    losses, taken = [], []
    with watched(processes) as most:
        for _ in range(args.steps):
            begun = perf_counter()
            optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
            loss.backward()
            evaluate(model, optimizer)
            optimizer.step()
            taken.append(perf_counter() - begun)
        losses.append(loss.item())
    if client is not None:
        client.close()
    return {
        "gigabytes": x.nbytes / 2**30,
        "seconds of a step": taken,
        "loss": losses,
        "megabytes of each process": [round(n / 1e6) for n in most],
        "resident megabytes": int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) // 1000,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=6)
    parser.add_argument("--model", choices=("logistic", "mlp"), default="logistic")
    parser.add_argument("--source", choices=("zarr", "memmap"), default="zarr")
    parser.add_argument("--workers", type=int, default=0, help="processes of dask.distributed; 0 for two threads")
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--data", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.data:
        print(json.dumps(train(args)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.npy" if args.source == "memmap" else "data.zarr")
        write(args.source, path, args.gigabytes)
        command = [sys.executable, "-m", "benchmarks.out_of_core", *sys.argv[1:], "--data", str(path)]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    for name, value in found.items():
        print(f"{name}: {value}")
    if args.json:
        args.json.write_text(json.dumps({"machine": machine(("gradpack", "dask")), "run": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
