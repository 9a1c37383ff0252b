"""What it costs to keep saved tensors of a device in host memory: bytes on the device, time, and how much is hidden.

    python -m benchmarks.offload [--device cuda] [--rounds 7] [--width 192] [--layers 4] [--json FILE]
    python -m benchmarks.offload --device sim:0 --width 32 --layers 1    # its mechanics, without a GPU

A transformer (4 layers of 192, 16 times 128 tokens, dropout) takes each step from the same weights. The ways of keeping
saved tensors take turns, and a ratio of times is taken inside a round. Columns:

    peak     the most bytes in use on the device during a step, beyond what was there before it
    time     median over rounds of the ratio of a step's time to that of `keep`
    copied   bytes to the host and back, by how much the policy says, or the simulated device counts
    alone    milliseconds that copies of so many bytes take when nothing else runs
    hidden   the part of these that the step does not get longer by: 1 if copies cost no time, 0 if nothing overlaps
    error    length of the difference of all gradients from those of `keep`, relative to these

On `sim:0` times mean nothing: the simulated device computes on the host. What they show is that the benchmark runs.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

MIB = 1 << 20


class Place:
    """What is asked of a device, real or simulated."""

    def __init__(self, name: str, simulated: Any) -> None:
        self.name, self.simulated = name, simulated

    def wait(self) -> None:
        import gradpack as torch

        if self.simulated is None:
            torch.cuda.synchronize(self.name)
        else:
            self.simulated.synchronize()

    def reset(self) -> int:
        """Count the peak anew; the bytes in use now."""
        import gradpack as torch

        if self.simulated is not None:
            self.simulated.reset_counts()
            return int(self.simulated.arena.used)
        torch.cuda.reset_peak_memory_stats(self.name)
        return torch.cuda.memory_allocated(self.name)

    def peak(self) -> int:
        import gradpack as torch

        return int(self.simulated.arena.peak) if self.simulated else torch.cuda.max_memory_allocated(self.name)

    def copied(self, policy: Any) -> int:
        """The bytes that were copied, both ways."""
        if self.simulated is not None:
            return int(self.simulated.counts["d2h_bytes"] + self.simulated.counts["h2d_bytes"])
        told = getattr(policy, "transfers", None)
        return 0 if told is None else int(told.bytes_out + told.bytes_back)

    def described(self) -> str:
        import gradpack as torch

        return self.name if self.simulated is not None else torch.cuda.get_device_name(self.name)


@contextmanager
def place(name: str) -> Iterator[Place]:
    """The device of a name, if there is one."""
    with ExitStack() as stack:
        simulated = None
        if name.startswith("sim"):
            from gradpack.testing import sim

            (simulated,) = stack.enter_context(sim.devices(capacity="1 GiB"))
        else:
            import gradpack as torch

            if not torch.cuda.is_available():
                sys.exit("benchmarks.offload: there is no CUDA device here; --device sim:0 shows that it runs")
        yield Place(name, simulated)


def ways() -> dict[str, Callable[[], Any]]:
    """Ways of keeping saved tensors: each a policy, or None for the tape as it is."""
    from gradpack import saved

    return {
        "keep": lambda: None,
        "cpu()": lambda: saved.cpu(),
        "quantize(8) >> cpu()": lambda: saved.quantize(8) >> saved.cpu(),
        "recompute()": lambda: saved.recompute(),
    }


def problem(args: argparse.Namespace) -> tuple[Any, Callable[[Any], Any]]:
    """The network, and a step of it that returns the gradients."""
    import gradpack as torch
    from gradpack.examples.gpt import GPT, loss_of

    torch.manual_seed(0)
    net = GPT(96, context=args.tokens, width=args.width, layers=args.layers, heads=4, dropout=0.1).to(args.device)
    shape = (args.batch, args.tokens)
    tokens, target = (torch.randint(96, shape).to(args.device) for _ in range(2))

    def step(policy: Any) -> None:
        torch.manual_seed(1)
        for p in net.parameters():
            p.grad = None
        with nullcontext() if policy is None else policy:
            loss = loss_of(net(tokens), target)
        loss.backward()

    return net, step


def copying_alone(where: Place, nbytes: int) -> float:
    """Seconds that it takes to copy so many bytes, half of them each way, through pinned memory."""
    import gradpack as torch
    from gradpack.backends import backend_on

    if not nbytes:
        return 0.0
    device = torch.device(where.name)
    streams: Any = backend_on(device.type).streams(device)  # type: ignore[union-attr]
    half = max(nbytes // 2, 1)
    host, there, stream = streams.pinned(half), streams.empty(half, streams.current()), streams.new()
    streams.wait(stream, streams.record(streams.current()))
    times = []
    for _ in range(5):
        where.wait()
        start = perf_counter()
        streams.to_host(there, host, stream)
        streams.to_device(host, there, stream)
        streams.synchronize(streams.record(stream))
        times.append(perf_counter() - start)
    return min(times)


def measured(where: Place, net: Any, step: Callable[[Any], Any], rounds: int) -> dict[str, dict[str, Any]]:
    """The columns of each way."""
    policies = {name: make() for name, make in ways().items()}
    rows: dict[str, dict[str, Any]] = {name: {"seconds": []} for name in policies}
    exact: list[Any] = []
    for name, policy in policies.items():
        for _ in range(2):  # the first fills pools, of pinned memory too
            told = where.copied(policy) if where.simulated is None else 0
            before = where.reset()
            step(policy)
            where.wait()
        gradients = [p.grad.cpu() for p in net.parameters()]
        exact = exact or gradients
        off = sum(float(((a - b) ** 2).sum()) for a, b in zip(gradients, exact, strict=True))
        rows[name] |= {
            "peak": where.peak() - before,
            "copied": where.copied(policy) - told,
            "error": (off / sum(float((b**2).sum()) for b in exact)) ** 0.5,
        }
    for _ in range(rounds):
        for name, policy in policies.items():
            where.wait()
            start = perf_counter()
            step(policy)
            where.wait()
            rows[name]["seconds"].append(perf_counter() - start)
    keep = rows["keep"]["seconds"]
    for row in rows.values():
        row["time"] = median(a / b for a, b in zip(row["seconds"], keep, strict=True))
        row["alone"] = copying_alone(where, row["copied"])
        longer = median(a - b for a, b in zip(row["seconds"], keep, strict=True))
        row["hidden"] = min(1.0, max(0.0, 1 - longer / row["alone"])) if row["alone"] else None
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, or sim:0")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--json", type=Path, help="write all figures there")
    args = parser.parse_args()
    with place(args.device) as where:
        net, step = problem(args)
        rows = measured(where, net, step, args.rounds)
        described = where.described()
    print(f"{described}, {args.layers} layers of {args.width}, {args.batch} x {args.tokens} tokens")
    print(f"{'':22}{'peak MiB':>10}{'time':>8}{'copied MiB':>12}{'alone ms':>10}{'hidden':>8}{'error':>10}")
    for name, row in rows.items():
        hidden = "-" if row["hidden"] is None else f"{row['hidden']:.2f}"
        print(
            f"{name:22}{row['peak'] / MIB:10.2f}{row['time']:8.2f}{row['copied'] / MIB:12.2f}"
            f"{row['alone'] * 1e3:10.2f}{hidden:>8}{row['error']:10.1e}"
        )
    if args.json:
        about = {"device": described, "python": platform.python_version(), "arguments": vars(args) | {"json": None}}
        args.json.write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
