"""How small can the tape get, and at what price? Policies of saved tensors on five networks.

    python benchmarks/saved.py [--rounds 7] [--workloads W3,W8] [--policies bf16,int8] [--json FILE]

Columns, each beside the step without a policy:
    held    bytes that the tape keeps when forward is done: distinct storages, no parameters
    peak    the most there were at any time of the step, tensors that the program itself held included
    time    median over rounds of the ratio of a step's time to that of the step without, taken in turns
    cpu     the same of processor time, of all threads: steadier where others use the machine
    error   length of the difference of all gradients, relative to that of the gradients
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import gradpack as torch
from gradpack import nn, saved
from gradpack.examples.gpt import GPT, loss_of

F = nn.functional


class Naive(nn.Module):
    """Attention spelled out, with dropout on the probabilities."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        b, t, c = x.shape
        q, k, v = (p.view(b, t, self.heads, c // self.heads).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        a = F.dropout((q @ k.transpose(-1, -2) * (c // self.heads) ** -0.5).softmax(-1), 0.1)
        return self.out((a @ v).transpose(1, 2).reshape(b, t, c))


class LoRA(nn.Module):
    """A frozen layer beside two small ones that learn."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.frozen = nn.Linear(width, width).requires_grad_(False)
        self.down, self.up = nn.Linear(width, 8, bias=False), nn.Linear(8, width, bias=False)

    def forward(self, x: Any) -> Any:
        return self.frozen(x) + self.up(self.down(x))


def classify(net: Any, x: Any, classes: int) -> Callable[[], Any]:
    target = torch.randint(classes, (len(x),))
    return lambda: F.cross_entropy(net(x), target)


def w1() -> tuple[Any, Callable[[], Any]]:
    """MLP 8 x 1024, ReLU, batch 1024"""
    layers = [m for _ in range(8) for m in (nn.Linear(1024, 1024), nn.ReLU())]
    net = nn.Sequential(*layers, nn.Linear(1024, 10))
    return net, classify(net, torch.randn(1024, 1024), 10)


def w2() -> tuple[Any, Callable[[], Any]]:
    """conv-norm-relu-pool, batch 32"""
    layers: list[Any] = []
    for a, b in ((3, 16), (16, 32), (32, 64)):
        layers += [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
    net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 16, 10))
    return net, classify(net, torch.randn(32, 3, 32, 32), 10)


def w3() -> tuple[Any, Callable[[], Any]]:
    """GPT, 4 layers of 192, fused attention, 16 x 128 tokens"""
    net = GPT(96, context=128, width=192, layers=4, heads=4, dropout=0.1)
    tokens, target = torch.randint(96, (16, 128)), torch.randint(96, (16, 128))
    return net, lambda: loss_of(net(tokens), target)


def w4() -> tuple[Any, Callable[[], Any]]:
    """the same with attention spelled out"""
    net = GPT(96, context=128, width=192, layers=4, heads=4, dropout=0.1)
    for block in net.blocks:
        block.attention = Naive(192, 4)
    tokens, target = torch.randint(96, (16, 128)), torch.randint(96, (16, 128))
    return net, lambda: loss_of(net(tokens), target)


def w8() -> tuple[Any, Callable[[], Any]]:
    """frozen layers with LoRA, 6 x 512, batch 2048"""
    net = nn.Sequential(*(m for _ in range(6) for m in (LoRA(512), nn.GELU())), nn.Linear(512, 10))
    return net, classify(net, torch.randn(2048, 512), 10)


WORKLOADS = {"W1": w1, "W2": w2, "W3": w3, "W4": w4, "W8": w8}
POLICIES: dict[str, Callable[[], Any]] = {
    "none": lambda: saved.bypass(),
    "identity": lambda: saved.Policy(),
    "keep": lambda: saved.keep(),
    "mask": lambda: saved.mask(),
    "bf16": lambda: saved.bf16(),
    "fp8": lambda: saved.fp8(),
    "int8": lambda: saved.quantize(8),
    "int4": lambda: saved.quantize(4),
    "lossless": lambda: saved.lossless("blosc2"),
    "disk": lambda: saved.disk(),
    "int8 >> disk": lambda: saved.quantize(8) >> saved.disk(),
}


class Case:
    """One network, and its steps under several policies."""

    def __init__(self, make: Callable[[], tuple[Any, Callable[[], Any]]]) -> None:
        torch.manual_seed(0)
        self.net, self.loss = make()

    def forward(self, policy: Any) -> Any:
        self.net.zero_grad()
        torch.manual_seed(1)
        with policy:
            return self.loss()

    def seconds(self, policy: Any) -> tuple[float, float]:
        start, used = perf_counter(), process_time()
        self.forward(policy).backward()
        return perf_counter() - start, process_time() - used

    def bytes_and_gradients(self, policy: Any) -> tuple[int, int, list[Any]]:
        with saved.meter(self.net.parameters()) as meter:
            loss = self.forward(policy)
            if isinstance(policy, saved.Policy) and hasattr(policy, "wait"):
                policy.wait()
            held = meter.now
            loss.backward()
        return held, meter.peak, [p.grad.clone() for p in self.net.parameters() if p.grad is not None]


def squares(tensors: list[Any]) -> float:
    return sum(float((t.double() ** 2).sum()) for t in tensors)


def measure(case: Case, names: list[str], rounds: int) -> list[dict[str, Any]]:
    policies = {name: POLICIES[name]() for name in dict.fromkeys(["none", *names])}
    rows: dict[str, dict[str, Any]] = {}
    for name, policy in policies.items():
        held, peak, gradients = case.bytes_and_gradients(policy)
        rows[name] = {"policy": name, "held": held, "peak": peak, "gradients": gradients, "seconds": [], "cpu": []}
    for round_ in range(rounds + 1):
        turn = round_ % len(policies)
        order = list(policies)[turn:] + list(policies)[:turn]
        for name in order:
            seconds, cpu = case.seconds(policies[name])
            if round_:  # the first warms up
                rows[name]["seconds"].append(seconds)
                rows[name]["cpu"].append(cpu)
    base = rows["none"]
    exact = base["gradients"]
    for row in rows.values():
        off = [a - b for a, b in zip(row["gradients"], exact, strict=True)]
        row["error"] = (squares(off) / squares(exact)) ** 0.5
        row["time"] = median(a / b for a, b in zip(row["seconds"], base["seconds"], strict=True))
        row["cpu_time"] = median(a / b for a, b in zip(row["cpu"], base["cpu"], strict=True))
        row["held_ratio"], row["peak_ratio"] = row["held"] / base["held"], row["peak"] / base["peak"]
    for row in rows.values():
        del row["gradients"]
    return list(rows.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    report: dict[str, Any] = {
        "load": os.getloadavg(),
        "threads": os.environ.get("OPENBLAS_NUM_THREADS", "all"),
        "workloads": {},
    }
    for key in args.workloads.split(","):
        case = Case(WORKLOADS[key])
        rows = measure(case, args.policies.split(","), args.rounds)
        report["workloads"][key] = rows
        print(f"\n{key}: {WORKLOADS[key].__doc__}; {rows[0]['held'] / 1e6:.1f} MB, {median(rows[0]['seconds']):.3f} s")
        print(f"  {'policy':14} {'held':>6} {'peak':>6} {'time':>6} {'cpu':>6} {'error':>9}")
        for row in rows:
            print(
                f"  {row['policy']:14} {row['held_ratio']:6.3f} {row['peak_ratio']:6.3f} {row['time']:6.3f} "
                f"{row['cpu_time']:6.3f} {row['error']:9.2e}",
                flush=True,
            )
    print(f"\nload {', '.join(f'{x:.1f}' for x in os.getloadavg())}")
    if args.json is not None:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
